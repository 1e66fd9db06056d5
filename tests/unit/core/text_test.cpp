#include "sskj/core/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sskj {
namespace {

using namespace std::chrono_literals;

TEST(Text, Invalid_utf8_becomes_replacement_characters) {
  EXPECT_EQ(text::to_valid_utf8("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(text::to_valid_utf8("a\xFF" "b"), "a\xEF\xBF\xBD" "b");
  EXPECT_EQ(text::to_valid_utf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "overlong";
  EXPECT_EQ(text::to_valid_utf8("\xED\xA0\x80").find('\xED'), std::string::npos) << "surrogate";
  EXPECT_EQ(text::to_valid_utf8("\xE5\xA4"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "cut off";
}

TEST(Text, Cuts_on_a_character_border) {
  EXPECT_EQ(text::to_valid_utf8("\xE5\xA4\xA7\xE5\xB0\x8F", 4), "\xE5\xA4\xA7");
}

TEST(Text, Nothing_printable_steers_a_terminal) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::string bytes;
    for (int i = 0; i < 64; ++i) bytes += static_cast<char>(random() % 256);
    const std::string shown = text::printable(bytes);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const auto c = static_cast<unsigned char>(shown[i]);
      EXPECT_FALSE(c < 0x20 || c == 0x7F);
      if (c == 0xC2) {
        EXPECT_GE(static_cast<unsigned char>(shown[i + 1]), 0xA0);
      }
    }
  }
  EXPECT_EQ(text::printable("\x1b[2Jx\r\n"), "\\x1b[2Jx\\r\\n");
  EXPECT_EQ(text::printable("a\tb\n", true), "a\tb\n");
}

TEST(Text, Nothing_printable_reorders_or_hides_what_an_operator_reads) {
  EXPECT_EQ(text::printable("rm \u202Exyz\u202C"), "rm \\u202exyz\\u202c");
  for (const char* hidden : {"\u200B", "\u200C", "\u200D", "\u200E", "\u200F", "\u2028", "\u2029", "\u202A", "\u202B", "\u202C", "\u202D", "\u202E", "\u2060", "\u2066", "\u2067",
                             "\u2068", "\u2069", "\u206F", "\uFEFF", "\u061C", "\u00AD", "\u180E", "\uFFF9"}) {
    for (const bool lines : {false, true}) {
      const std::string shown = text::printable(std::string("a") + hidden + "b", lines);
      EXPECT_EQ(std::count_if(shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) > 0x7E; }), 0) << shown;
      EXPECT_TRUE(shown.starts_with("a\\") && shown.ends_with("b")) << shown;
    }
  }
  EXPECT_EQ(text::printable("\xC2\x9B" "2J\xC2\x85"), "\\x9b2J\\x85") << "C1 controls";
  EXPECT_EQ(text::printable("\U000E0041"), "\\U000e0041") << "tag characters";
  const std::string words = "\u5927\u5C0F caf\u00E9 \u05D0\u05D1 \u2013 \u2026 \U0001F600 \u00A0";
  EXPECT_EQ(text::printable(words), words) << "letters of any script stay";
}

TEST(Text, Nearest_name_is_offered_only_when_near) {
  const std::vector<std::string> keys{"LAUNCH_ARGS", "BOOTSTRAP", "IMAGE"};
  EXPECT_EQ(text::nearest("LAUNCH_ARG", keys), "LAUNCH_ARGS");
  EXPECT_EQ(text::nearest("lauhcn_args", keys), "LAUNCH_ARGS");
  EXPECT_EQ(text::nearest("NOTHING_ALIKE", keys), std::nullopt);
  EXPECT_EQ(text::nearest("", keys), std::nullopt);
  EXPECT_EQ(text::nearest(std::string(100'000, 'x'), keys), std::nullopt);
}

TEST(Duration, Reads_what_users_write) {
  EXPECT_EQ(text::parse_duration("90s").value(), 90'000ms);
  EXPECT_EQ(text::parse_duration("1h30m").value(), 90min);
  EXPECT_EQ(text::parse_duration("500ms").value(), 500ms);
  EXPECT_EQ(text::parse_duration("15", true).value(), 15s);
}

TEST(Duration, Refuses_zero_bare_numbers_and_nonsense) {
  for (const char* bad : {"0", "0s", "", "15", "-5s", "5x", "s", "1h2", "99999999999999999999s", "400d", "1.5h", " 5s"}) {
    const auto parsed = text::parse_duration(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_FALSE(parsed.error().hint.empty());
  }
  EXPECT_FALSE(text::parse_duration("0", true));
}

TEST(Duration, Formatting_parses_back) {
  for (const auto value : {1ms, 999ms, 1000ms, 61'000ms, 3'600'000ms, 90'061'001ms}) EXPECT_EQ(text::parse_duration(text::format_duration(value)).value(), value);
}

TEST(Bytes, Reads_dockers_units) {
  EXPECT_EQ(text::parse_bytes("32g").value(), 32ULL << 30U);
  EXPECT_EQ(text::parse_bytes("512m").value(), 512ULL << 20U);
  EXPECT_EQ(text::parse_bytes("10485760").value(), 10'485'760ULL);
  for (const char* bad : {"", "g", "-1", "1.5g", "5x", "99999999999g"}) EXPECT_FALSE(text::parse_bytes(bad)) << bad;
}

TEST(Lines, Split_on_every_line_end) {
  EXPECT_EQ(text::split_lines("a\nb\r\nc\rd"), (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(text::split_lines("a\n\nb\n"), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_TRUE(text::split_lines("").empty());
}

}  // namespace
}  // namespace sskj
