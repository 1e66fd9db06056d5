// What does not fit into data files: awkward bytes, limits, origins, and the property that an env profile means the same to a shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "env_scan.hpp"
#include "source_text.hpp"
#include "sskj/core/shell.hpp"
#include "sskj/profile/profile.hpp"
#include "words.hpp"

namespace sskj::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Parsed parse_env(const std::string& text, std::vector<Override> overrides = {}) {
  ParseOptions options;
  options.file = "t.env";
  options.overrides = std::move(overrides);
  return parse(text, options);
}

std::string first(const Parsed& parsed) {
  return parsed.diagnostics.empty() ? "none" : to_string(parsed.diagnostics[0].at) + " " + parsed.diagnostics[0].id + " " + parsed.diagnostics[0].message;
}

struct Byte {
  std::string text;
  const char* expected;
};

TEST(Parse, Stray_bytes_are_named_with_line_and_column) {
  const std::vector<Byte> cases = {
      {std::string("NAME=a\nIMAGE=x\0y\n", 17), "t.env:2:8 stray-byte stray NUL byte"},
      {"NAME=a\xFF\n", "t.env:1:7 stray-byte byte 0xff is not valid UTF-8"},
      {"# \xC3(\n", "t.env:1:3 stray-byte byte 0xc3 is not valid UTF-8"},
      {"NAME=a\n\n  # \xED\xA0\x80\n", "t.env:3:5 stray-byte byte 0xed is not valid UTF-8"},
      {"NAME='a\xE2\x82'\n", "t.env:1:8 stray-byte byte 0xe2 is not valid UTF-8"},
      {"NAME=a\rIMAGE=b\n", "t.env:1:7 stray-byte stray carriage return (lines end with LF or CRLF)"},
      {"NAME='\x1b[31m'\n", "t.env:1:7 stray-byte stray control byte 0x1b"},
      {"NAME=a\x7f\n", "t.env:1:7 stray-byte stray control byte 0x7f"},
      {"NAME=\xF5\x80\x80\x80\n", "t.env:1:6 stray-byte byte 0xf5 is not valid UTF-8"},
      {"NAME=\xC0\x80\n", "t.env:1:6 stray-byte byte 0xc0 is not valid UTF-8"},
  };
  for (const Byte& c : cases) {
    EXPECT_EQ(first(parse_env(c.text)), c.expected);
  }
}

TEST(Parse, Columns_count_bytes_after_multi_byte_characters) {
  EXPECT_EQ(first(parse_env("DESCRIPTION='Grüße' x\n")), "t.env:1:23 syntax text after the value of DESCRIPTION");
}

TEST(Parse, All_stray_bytes_are_reported_up_to_twenty) {
  EXPECT_EQ(parse_env("NAME=\x01\x02\n#\x03\n").diagnostics.size(), 3U);
  EXPECT_EQ(parse_env(std::string(100, '\x01')).diagnostics.size(), 20U);
}

TEST(Parse, A_text_over_one_mebibyte_is_refused) {
  EXPECT_THAT(first(parse_env("#" + std::string(1 << 20, 'x'))), HasSubstr("too-large"));
  EXPECT_EQ(first(parse_env("#" + std::string((1 << 20) - 1, 'x'))), "none");
}

TEST(Parse, An_unknown_extension_is_said) {
  ParseOptions options;
  options.file = "t.txt";
  EXPECT_THAT(first(parse("PORT=1\n", options)), HasSubstr("the file's extension tells the syntax"));
}

TEST(Parse, Later_origins_win_and_are_shown) {
  const std::vector<Override> overrides = {
      {"PORT", "1", {"user", 1, 1}, Origin::user_file},      {"SERVED_MODEL", "user", {"user", 2, 1}, Origin::user_file},
      {"IMAGE", "environment:1", {"SSKJ_SET", 0, 0}, Origin::environment}, {"IMAGE", "flag:1", {"--set", 0, 0}, Origin::flag}};
  const Parsed parsed = parse_env("NODES=a\nPORT=30001\nIMAGE=profile:1\n", overrides);
  ASSERT_TRUE(parsed.diagnostics.empty()) << first(parsed);
  const GroupSetting& group = parsed.profile.groups.at(0);
  EXPECT_EQ(group.api_port, 30001);
  EXPECT_EQ(group.served_model, "user");
  EXPECT_EQ(group.image, "flag:1");
  for (const Setting& setting : parsed.profile.settings) {
    if (setting.path == "groups.server.image") {
      EXPECT_EQ(setting.origin, Origin::flag);
      EXPECT_EQ(setting.at.file, "--set");
    }
    if (setting.path == "groups.server.served_model") {
      EXPECT_EQ(setting.origin, Origin::user_file);
    }
  }
}

TEST(Parse, Settings_come_in_schema_order_with_every_default) {
  const Parsed parsed = parse_env("NODES=a\n");
  std::vector<std::string> paths;
  for (const Setting& setting : parsed.profile.settings) {
    paths.push_back(setting.path);
  }
  EXPECT_EQ(paths.front(), "state_dir");
  EXPECT_NE(std::find(paths.begin(), paths.end(), "groups.server.readiness.deadline"), paths.end());
  EXPECT_LT(std::find(paths.begin(), paths.end(), "groups.server.port"), std::find(paths.begin(), paths.end(), "groups.server.smoke.timeout"));
}

TEST(Parse, Positions_reach_into_multi_line_values) {
  const Parsed parsed = parse_env("NODES=a\nLAUNCH_ARGS='\n  --a 1\n\t--b\n'\"x\"y\n");
  const auto& where = parsed.profile.where;
  EXPECT_EQ(to_string(where.at("groups.server.launch_args.0")), "t.env:3:3");
  EXPECT_EQ(to_string(where.at("groups.server.launch_args.1")), "t.env:3:7");
  EXPECT_EQ(to_string(where.at("groups.server.launch_args.2")), "t.env:4:2");
}

TEST(Parse, A_relative_artifact_remembers_its_directory) {
  ParseOptions options;
  options.file = "dir/sub/t.env";
  EXPECT_EQ(parse("ARTIFACT_a=source=file:x\n", options).profile.artifacts.at(0).base_dir, "dir/sub");
  options.file = "embedded:profiles/t.env";
  EXPECT_EQ(parse("ARTIFACT_a=source=file:x\n", options).profile.artifacts.at(0).base_dir, "embedded:profiles");
}

TEST(Words, Splits_as_a_shell_does) {
  const auto words = [](std::string_view text) {
    std::vector<std::string> out;
    const auto split = split_words(text);
    for (const ShellWord& word : split.value()) {
      out.push_back(word.text);
    }
    return out;
  };
  EXPECT_THAT(words(" a  'b c'\n\"d\\\"e\" f\\ g ''\\\n h"), ElementsAre("a", "b c", "d\"e", "f g", "", "h"));
  EXPECT_THAT(words("\"a\\nb\" x'y'\"z\" #c $d `e`"), ElementsAre("a\\nb", "xyz", "#c", "$d", "`e`"));
  EXPECT_TRUE(words(" \n\t").empty());
  EXPECT_EQ(split_words("a 'b").error().offset, 2U);
  EXPECT_EQ(split_words("ab \"c").error().offset, 3U);
  EXPECT_EQ(split_words("a\\").error().offset, 1U);
}

TEST(Words, Quoted_words_come_back_whatever_they_hold) {
  const std::vector<std::string> awkward = {"", " ", "a b", "'", "\"", "$HOME", "`id`", ";", "{\"a\": \"{{ }}\"}", "Grüße, 世界", "one\ntwo", "\\", "#", "*", "-n", "\t"};
  const auto split = split_words(shell::join(awkward));
  ASSERT_TRUE(split.has_value());
  ASSERT_EQ(split->size(), awkward.size());
  for (std::size_t i = 0; i < awkward.size(); ++i) {
    EXPECT_EQ((*split)[i].text, awkward[i]);
  }
}

std::string run_shell(const std::string& script) {
  std::string out;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(script.c_str(), "r"), pclose);
  std::array<char, 4096> buffer{};
  while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    out.append(buffer.data(), n);
  }
  return out;
}

TEST(EnvForm, Every_accepted_file_means_the_same_to_a_shell) {
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(SSKJ_SOURCE_DIR) + "/tests/data/profiles/ok")) {
    const std::string file = entry.path().string();
    if (entry.path().extension() != ".env") {
      continue;
    }
    std::ifstream in(file, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    // The shell knows neither BOM nor CRLF; the scanner never sees them.
    const std::string text = clean_source(bytes, file).text;
    const EnvScan scan = scan_env(text, file, {});
    ASSERT_TRUE(scan.diagnostics.empty()) << file;
    // One shell a file: all values, each ended by a NUL.
    std::string script = text + "\n", want;
    for (const Assignment& assignment : scan.assignments) {
      script += "printf '%s\\0' \"$" + assignment.key + "\"\n";
      want += assignment.value.text + '\0';
      ++compared;
    }
    EXPECT_EQ(run_shell("env -i sh -c " + shell::quote(script)), want) << file;
  }
  EXPECT_GT(compared, 70);
}

}  // namespace
}  // namespace sskj::profile
