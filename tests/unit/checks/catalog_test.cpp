// The table of checks against its transcripts: tests/data/checks/<id>/{ok,fail,unknown,garbage}*.txt.
#include "sskj/checks/check.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "sskj/core/text.hpp"

namespace sskj::checks {
namespace {

namespace fs = std::filesystem;

struct Transcript {
  int exit = 0;
  std::string verdict, says;
  Output output;
};

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

Transcript load(const fs::path& path) {
  const auto text = read(path);
  Transcript made;
  const auto split = text.find("---\n");
  EXPECT_NE(split, std::string::npos) << path;
  for (const auto& line : text::split_lines(text.substr(0, split))) {
    if (line.starts_with("exit: ")) made.exit = std::stoi(line.substr(6));
    if (line.starts_with("verdict: ")) made.verdict = line.substr(9);
    if (line.starts_with("says: ")) made.says = line.substr(6);
  }
  made.output.status = made.exit;
  made.output.text = text.substr(split + 4);
  return made;
}

/// The worst of the findings, and all that they say.
std::pair<std::string, std::string> summary(const std::vector<run::Finding>& findings) {
  static const std::vector<run::FindingStatus> k_order = {run::FindingStatus::ok, run::FindingStatus::not_applicable, run::FindingStatus::warn, run::FindingStatus::unknown,
                                                          run::FindingStatus::fail};
  std::size_t worst = 0;
  std::string said;
  for (const auto& one : findings) {
    const auto at = static_cast<std::size_t>(std::find(k_order.begin(), k_order.end(), one.status) - k_order.begin());
    worst = std::max(worst, at);
    said += one.message + " | " + one.expected + " | " + one.got + "\n";
  }
  return {std::string(run::to_string(k_order[worst])), said};
}

fs::path data(const Check& check) { return fs::path(SSKJ_SOURCE_DIR) / "tests/data/checks" / check.id; }

TEST(Catalog, Every_check_judges_its_transcripts) {
  for (const auto& check : catalog()) {
    const auto expectation = nlohmann::json::parse(read(data(check) / "expect.json"), nullptr, false);
    ASSERT_TRUE(expectation.is_object()) << check.id;
    std::set<std::string> kinds;
    for (const auto& entry : fs::directory_iterator(data(check))) {
      if (entry.path().extension() != ".txt") continue;
      kinds.insert(entry.path().stem().string());
      const auto transcript = load(entry.path());
      const auto findings = check.judge(expectation, transcript.output);
      ASSERT_FALSE(findings.empty()) << entry.path();
      const auto [worst, said] = summary(findings);
      EXPECT_EQ(worst, transcript.verdict) << entry.path() << "\n" << said;
      EXPECT_NE(said.find(transcript.says), std::string::npos) << entry.path() << "\n" << said;
    }
    for (const auto* needed : {"ok", "fail", "unknown", "garbage"}) EXPECT_TRUE(kinds.contains(needed)) << check.id << " has no transcript " << needed;
  }
}

TEST(Catalog, Nothing_and_noise_are_never_ok) {
  const std::string noises[] = {"", "\n", "end\n", std::string(70'000, 'x'), "ok\nok\nok\n", std::string("\0\xff\n", 3), "gpu\nimage\nheld\nspace\nmodel\naddr\nend\n"};
  for (const auto& check : catalog()) {
    const auto expectation = nlohmann::json::parse(read(data(check) / "expect.json"));
    for (const auto& noise : noises) {
      for (const auto status : {std::optional<int>(0), std::optional<int>(1), std::optional<int>(124), std::optional<int>()}) {
        Output output;
        output.text = noise;
        output.status = status;
        for (const auto& one : check.judge(expectation, output)) {
          EXPECT_NE(one.status, run::FindingStatus::ok) << check.id << " says ok to: " << noise.substr(0, 60) << ": " << one.message;
        }
      }
    }
  }
}

TEST(Catalog, Rows_are_complete_and_ids_are_unique) {
  std::set<std::string_view> ids;
  for (const auto& check : catalog()) {
    EXPECT_TRUE(ids.insert(check.id).second) << check.id;
    for (const auto text : {check.title, check.why, check.remedy, check.source, check.body}) EXPECT_FALSE(text.empty()) << check.id;
    EXPECT_NE(check.probe, nullptr);
    EXPECT_NE(check.judge, nullptr);
    EXPECT_GE(check.seconds, 5U);
    EXPECT_EQ(find(check.id), &check);
  }
  EXPECT_EQ(find("no-such-check"), nullptr);
}

TEST(Catalog, Agreements_name_facts_that_a_check_reads) {
  for (const auto& about : agreements()) {
    bool read_by_one = false;
    for (const auto& check : catalog()) {
      if (check.facts == nullptr) continue;
      Output output;
      output.text = load(data(check) / "ok.txt").output.text;
      for (const auto& fact : check.facts(output)) read_by_one = read_by_one || fact.name.starts_with(about.fact);
    }
    EXPECT_TRUE(read_by_one) << about.fact;
  }
}

}  // namespace
}  // namespace sskj::checks
