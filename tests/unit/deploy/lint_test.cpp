#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "load.hpp"

namespace sskj::deploy {
namespace {

using namespace sskj::deploy::testing;  // NOLINT(google-build-using-namespace)

const std::string k_data = std::string(SSKJ_SOURCE_DIR) + "/tests/data/lints/";

std::string directory(const LintRow& row) { return k_data + std::string(row.id.substr(5)); }

Diagnostics findings(const std::string& file, std::string_view id) {
  const Built built = build_file(file);
  EXPECT_FALSE(has_errors(built.diagnostics)) << file << "\n" << report(built.diagnostics);
  Diagnostics found = lint(built.deployment);
  std::erase_if(found, [&](const Diagnostic& d) { return d.id != id; });
  return found;
}

TEST(Lint, Every_row_has_a_failing_and_a_passing_profile) {
  for (const LintRow& row : lints()) {
    ASSERT_TRUE(row.id.starts_with("lint.")) << row.id;
    for (const char* name : {"/fail.env", "/pass.env"}) {
      ASSERT_TRUE(std::filesystem::exists(directory(row) + name)) << directory(row) << name << " is missing";
    }
    const Diagnostics bad = findings(directory(row) + "/fail.env", row.id);
    ASSERT_FALSE(bad.empty()) << row.id << " does not fire on its failing profile";
    for (const Diagnostic& d : bad) {
      EXPECT_EQ(d.severity, row.severity) << row.id;
      EXPECT_GT(d.at.line, 0U) << row.id << ": no position";
      EXPECT_FALSE(d.hint.empty()) << row.id << ": no hint";
    }
    const Diagnostics good = findings(directory(row) + "/pass.env", row.id);
    EXPECT_TRUE(good.empty()) << row.id << " fires on its passing profile\n" << report(good);
  }
}

TEST(Lint, Document_is_current) {
  const std::string path = std::string(SSKJ_SOURCE_DIR) + "/docs/lints.md";
  if (const char* accept = std::getenv("SSKJ_ACCEPT"); accept != nullptr && std::string(accept) == "1") {
    std::ofstream(path, std::ios::binary) << lints_markdown();
    GTEST_SKIP() << "rewrote " << path;
  }
  EXPECT_TRUE(read_file(path).value_or("") == lints_markdown()) << "docs/lints.md is stale: run the deploy tests with SSKJ_ACCEPT=1 and commit the file";
}

TEST(Lint, Every_data_directory_belongs_to_a_row) {
  std::set<std::string> ids;
  for (const LintRow& row : lints()) {
    EXPECT_TRUE(ids.insert(std::string(row.id.substr(5))).second) << row.id << " stands twice in the table";
  }
  for (const auto& entry : std::filesystem::directory_iterator(k_data)) {
    EXPECT_EQ(ids.count(entry.path().filename().string()), 1U) << entry.path();
  }
}

TEST(Lint, Shipped_profiles_have_only_the_warning_of_the_moving_tag) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(SSKJ_SOURCE_DIR) + "/profiles")) {
    if (!entry.is_regular_file()) {
      continue;
    }
    const Built built = build_file(entry.path().string());
    EXPECT_FALSE(has_errors(built.diagnostics)) << report(built.diagnostics);
    for (const Diagnostic& d : lint(built.deployment)) {
      EXPECT_EQ(d.id, "lint.image-tag-mutable") << entry.path() << "\n" << report({d});
    }
  }
}

TEST(Lint, Names_the_line_of_an_argument_inside_a_multi_line_value) {
  const Built built = build_text(minimal("LAUNCH_ARGS='\n  --tp-size 2\n  --linear-attn-prefill-backend flashkda\n'\n"));
  const Diagnostics found = lint(built.deployment);
  const auto it = std::find_if(found.begin(), found.end(), [](const Diagnostic& d) { return d.id == "lint.flashkda"; });
  ASSERT_NE(it, found.end());
  EXPECT_EQ(to_string(it->at), "test.env:7:33");
}

TEST(Lint, Says_a_group_wide_variable_once_and_a_node_variable_at_its_node) {
  const Built built = build_text(minimal("ENV_NCCL_ALGO=RING\nNODE_1_ENV_NCCL_ALGO=TREE\n"));
  Diagnostics found = lint(built.deployment);
  std::erase_if(found, [](const Diagnostic& d) { return d.id != "lint.nccl-algo-set"; });
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].at.line, 5U);
  EXPECT_EQ(found[1].at.line, 6U);
}

TEST(Lint, Never_shows_the_value_of_what_looks_like_a_secret) {
  const Built built = build_text(minimal("ENV_MY_API_KEY=sk-verysecret\n"));
  const Diagnostics found = lint(built.deployment);
  EXPECT_EQ(report(found).find("verysecret"), std::string::npos);
}

}  // namespace
}  // namespace sskj::deploy
