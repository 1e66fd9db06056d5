#include "columns.hpp"

#include <gtest/gtest.h>

namespace sskj::view {
namespace {

TEST(Columns, Count_what_a_terminal_shows) {
  EXPECT_EQ(columns(""), 0U);
  EXPECT_EQ(columns("abc"), 3U);
  EXPECT_EQ(columns("23×47"), 5U);
  EXPECT_EQ(columns("部署"), 4U);
  EXPECT_EQ(columns("e\xCC\x81"), 1U);  // a combining accent
  EXPECT_EQ(columns("🚀"), 2U);
}

TEST(Cut, Never_exceeds_its_limit_and_marks_what_is_missing) {
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdefg", 6), "abcde…");
  EXPECT_EQ(cut("部署部署", 5), "部署…");
  EXPECT_EQ(cut("部署部署", 4), "部…");  // a wide character that does not fit whole is left out
  EXPECT_EQ(cut("abc", 0), "");
  for (std::size_t limit = 0; limit < 12; ++limit) {
    EXPECT_LE(columns(cut("a部b署c×d🚀e", limit)), limit);
    EXPECT_EQ(columns(pad("a部b署c×d🚀e", limit)), limit);
  }
}

TEST(Table, Aligns_columns_and_makes_cells_printable) {
  EXPECT_EQ(table({{"NODE", "STATE"}, {"174.1.60.5", "ready"}, {"部", "\x1b[31mx"}}), "NODE        STATE\n174.1.60.5  ready\n部          \\x1b[31mx\n");
}

TEST(ClockText, Is_short_and_whole) {
  EXPECT_EQ(clock_text(-5), "0s");
  EXPECT_EQ(clock_text(59'999), "59s");
  EXPECT_EQ(clock_text(63'000), "1m03s");
  EXPECT_EQ(clock_text(3'725'000), "1h02m");
}

TEST(RemoteLine, Shows_the_last_state_of_a_progress_bar_and_no_control_bytes) {
  EXPECT_EQ(remote_line("10%\r50%\r100%\n"), "100%");
  EXPECT_EQ(remote_line("100%\r\r\n"), "100%");
  EXPECT_EQ(remote_line("a\tb"), "a\tb");
  EXPECT_EQ(remote_line("\x1b]0;owned\x07 \xff"), "\\x1b]0;owned\\x07 \xEF\xBF\xBD");
  EXPECT_EQ(remote_line(std::string(20, 'x'), 8), "xxxxxxxx… (12 bytes cut)");
}

TEST(LastLines, Are_bounded_and_skip_empty_ones) {
  EXPECT_EQ(last_lines("a\n\nb\n  \nc\n", 2), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(last_lines("", 2), std::vector<std::string>{});
  EXPECT_EQ(last_lines("only", 5), std::vector<std::string>{"only"});
}

}  // namespace
}  // namespace sskj::view
