#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "import_place.hpp"
#include "sskj/profile/import.hpp"
#include "sskj/profile/profile.hpp"

namespace sskj::profile {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string k_import_data = std::string(SSKJ_SOURCE_DIR) + "/tests/data/import/";

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Parsed parse_imported(const std::string& text) {
  ParseOptions options;
  options.file = "imported.env";
  return parse(text, options);
}

TEST(Import, Foreign_profile_becomes_the_recorded_text) {
  const Imported imported = import_env(file_text(k_import_data + "foreign.sh"), "foreign.sh");
  const std::string path = k_import_data + "foreign.env";
  if (const char* accept = std::getenv("SSKJ_ACCEPT"); accept != nullptr && std::string(accept) == "1") {
    std::ofstream(path, std::ios::binary) << imported.env_text;
    GTEST_SKIP() << "rewrote " << path;
  }
  EXPECT_EQ(imported.env_text, file_text(path));
  EXPECT_TRUE(parse_imported(imported.env_text).diagnostics.empty());
  EXPECT_THAT(imported.env_text, Not(HasSubstr("12345")));
}

TEST(Import, Own_profiles_pass_through_unchanged_in_meaning) {
  const std::string own = "NAME=x\nNODES=10.0.0.[1-2]\nLAUNCH_ARGS='--a \"b c\"'\nENV_X='it'\"'\"'s $HOME'\nPORT=31000\nNODE_1_NIC=ens3\nVAR_A=1\n";
  const Imported imported = import_env(own, "x.env");
  const Parsed a = parse_imported(own), b = parse_imported(imported.env_text);
  ASSERT_TRUE(b.diagnostics.empty()) << imported.env_text;
  EXPECT_EQ(b.profile.groups.at(0).launch_args, a.profile.groups.at(0).launch_args);
  EXPECT_EQ(b.profile.groups.at(0).env.at(0).value, a.profile.groups.at(0).env.at(0).value);
  EXPECT_EQ(b.profile.groups.at(0).nodes.at(1).nic, "ens3");
  EXPECT_EQ(b.profile.groups.at(0).api_port, 31000);
}

TEST(Import, Nothing_is_executed_or_taken_from_the_environment) {
  const Imported imported = import_env("A=$(touch /tmp/x)\nIMAGE=$HOME/x\nB=`id`\neval 'X=1'\nIMAGE2=${PATH}\n", "x");
  EXPECT_EQ(imported.unplaced.size(), 5U);
  EXPECT_THAT(imported.env_text, Not(HasSubstr("/root")));
}

TEST(Import, Values_survive_whatever_they_hold) {
  for (const char* value : {"", " ", "a b", "'", "\"", "$HOME", "`id`", ";", "{\"a\": \"{{ }}\"}", "Grüße, 世界", "one\ntwo", "\\", "#", "*", "~"}) {
    const Parsed parsed = parse_imported("ENV_X=" + env_quote(value) + "\n");
    ASSERT_TRUE(parsed.diagnostics.empty()) << value;
    EXPECT_EQ(parsed.profile.groups.at(0).env.at(0).value, value);
  }
}

TEST(Import, Broken_texts_end_in_a_list_not_in_a_crash) {
  for (const char* text : {"A='x", "A=\"x", "A=(x", "A=${", "A=${B:-", "A=$(", "A=`", "\\", "A=\\", "(", ")", "A=( ${B[@]} )", "\xff", "A=${B:-${C:-${D:-x}}}"}) {
    const Imported imported = import_env(text, "x");
    EXPECT_TRUE(parse_imported(imported.env_text).diagnostics.empty()) << text;
  }
}

TEST(Import, Expansion_is_bounded) {
  std::string text = "A0=" + std::string(1000, 'x') + "\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "$A" + std::to_string(i - 1);
    text += "A" + std::to_string(i) + "=" + before + before + "\n";
  }
  EXPECT_LT(import_env(text, "x").env_text.size(), 100'000U);
}

}  // namespace
}  // namespace sskj::profile
