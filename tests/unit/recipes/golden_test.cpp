// Golden plans: the dry-run text of every verb for every shipped profile. SSKJ_ACCEPT=1 rewrites them and reports the test as skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fixture.hpp"
#include "support/shell.hpp"

namespace sskj::recipes {
namespace {

namespace fs = std::filesystem;

/// The long prompt is 32 KB of letters: it is left out, nothing else.
std::string stable(std::string text) {
  const std::string prompt = "Read these letters and answer with one word.";
  for (auto at = text.find(prompt); at != std::string::npos; at = text.find(prompt, at + 1)) {
    const auto from = at + prompt.size();
    text.replace(from, text.find('"', from) - from, " ...");
  }
  return text;
}

class Golden : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Golden, Dry_run_text_is_as_it_was) {
  const auto [profile, stem] = GetParam();
  const auto deployment = testing::shipped(profile);
  const fs::path directory = fs::path(SSKJ_SOURCE_DIR) / "tests/data/plans" / stem;
  const bool accept = std::getenv("SSKJ_ACCEPT") != nullptr;
  std::vector<decltype(Recipe::make)> seen;
  for (const auto& recipe : recipes()) {
    if (std::find(seen.begin(), seen.end(), recipe.make) != seen.end()) continue;  // restart is start by another name
    seen.push_back(recipe.make);
    auto name = std::string(recipe.verb);
    std::replace(name.begin(), name.end(), ' ', '-');
    const auto text = stable(plan::to_text(testing::plan_of(std::string(recipe.verb), deployment)));
    if (accept) {
      ::sskj::testing::write_file(directory / (name + ".txt"), text);
      continue;
    }
    const auto golden = deploy::testing::read_file((directory / (name + ".txt")).string());
    ASSERT_TRUE(golden) << golden.error().message << ": SSKJ_ACCEPT=1 makes it";
    EXPECT_TRUE(*golden == text) << "the plan of " << recipe.verb << " changed: look at the difference, then SSKJ_ACCEPT=1 (first difference at byte "
                                 << std::mismatch(golden->begin(), golden->end(), text.begin(), text.end()).first - golden->begin() << ")";
  }
  if (accept) GTEST_SKIP() << "goldens were rewritten";
}

INSTANTIATE_TEST_SUITE_P(Profiles, Golden, ::testing::Values(std::pair{"profiles/kimi3_tp32ep32.env", "kimi3_tp32ep32"}));

}  // namespace
}  // namespace sskj::recipes
