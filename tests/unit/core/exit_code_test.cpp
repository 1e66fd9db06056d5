#include "sskj/core/exit_code.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "sskj/core/diagnostic.hpp"

namespace sskj {
namespace {

TEST(ExitCode, Every_category_has_a_code_and_a_word) {
  std::set<std::string_view> words;
  for (int i = 0; i <= static_cast<int>(Errc::internal); ++i) {
    words.insert(to_string(static_cast<Errc>(i)));
    EXPECT_NE(exit_code_of(static_cast<Errc>(i)), ExitCode::done) << "a failure never ends as 0";
  }
  EXPECT_EQ(words.size(), static_cast<std::size_t>(Errc::internal) + 1);
}

TEST(ExitCode, Lost_is_never_success) { EXPECT_EQ(exit_code_of(Errc::lost), ExitCode::unreachable); }

TEST(ExitCode, Most_severe_follows_the_documented_order) {
  EXPECT_EQ(most_severe({}), ExitCode::done);
  EXPECT_EQ(most_severe(std::vector{ExitCode::done, ExitCode::step_failed, ExitCode::unreachable}), ExitCode::unreachable);
  EXPECT_EQ(most_severe(std::vector{ExitCode::integrity, ExitCode::unreachable}), ExitCode::integrity);
  EXPECT_EQ(most_severe(std::vector{ExitCode::not_ready, ExitCode::interrupted}), ExitCode::interrupted);
  EXPECT_EQ(most_severe(std::vector{ExitCode::wrong_answer, ExitCode::internal}), ExitCode::internal);
}

TEST(ExitCode, Each_is_described_and_most_severe_knows_each) {
  std::set<std::string_view> texts;
  for (const ExitCode code : all_exit_codes()) {
    texts.insert(describe(code));
    EXPECT_EQ(most_severe(std::vector{code}), code);
  }
  EXPECT_EQ(texts.size(), all_exit_codes().size());
}

TEST(Diagnostic, Position_leaves_out_what_is_unknown) {
  EXPECT_EQ(to_string(SourceRef{"a.env", 3, 7}), "a.env:3:7");
  EXPECT_EQ(to_string(SourceRef{"a.env", 3, 0}), "a.env:3");
  EXPECT_EQ(to_string(SourceRef{"--set", 0, 0}), "--set");
}

}  // namespace
}  // namespace sskj
