// The frame around probes, through real shells.
#include <gtest/gtest.h>

#include "sskj/checks/check.hpp"
#include "support/shell.hpp"

namespace sskj::checks {
namespace {

using testing::run_script;

Check row(std::string_view id, std::string_view body, unsigned seconds = 10) {
  Check check;
  check.id = id;
  check.body = body;
  check.seconds = seconds;
  return check;
}

class Frame : public ::testing::TestWithParam<const char*> {
 protected:
  std::vector<std::pair<std::string, Output>> run(std::initializer_list<std::pair<Check, std::vector<Var>>> probes, const std::string& before = "") {
    std::vector<Check> rows;
    for (const auto& [check, vars] : probes) rows.push_back(check);
    std::vector<Selected> selected;
    std::size_t at = 0;
    for (const auto& [check, vars] : probes) selected.push_back({&rows[at++], {vars, "{}"}});
    const auto ran = run_script(before + make_script(selected), "SSKJ_RUN=r1", GetParam());
    EXPECT_EQ(ran.status, 0) << ran.out.substr(0, 2000);
    raw_ = ran.out;
    return split_records(ran.out);
  }
  std::string raw_;
};

TEST_P(Frame, Each_probe_has_its_own_output_and_status) {
  const auto records = run({{row("one", "echo first; exit 3"), {}}, {row("two", "echo second >&2\necho end"), {}}, {row("three", "true"), {}}});
  ASSERT_EQ(records.size(), 3U) << raw_;
  EXPECT_EQ(records[0].first, "one");
  EXPECT_EQ(records[0].second.text, "first\n");
  EXPECT_EQ(records[0].second.status, 3);
  EXPECT_EQ(records[1].second.text, "second\nend\n");
  EXPECT_EQ(records[1].second.status, 0);
  EXPECT_EQ(records[2].second.text, "");
}

TEST_P(Frame, Values_reach_the_probe_unharmed) {
  const std::string value = "it's \"$HOME\" `id` \\ ; {{.}} ü\nsecond line";
  const auto records = run({{row("echo", "printf '%s' \"$value\""), {{"value", value}}}});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].second.text, value);
}

TEST_P(Frame, A_hanging_probe_ends_at_its_deadline_and_the_next_one_runs) {
  const auto records = run({{row("hang", "echo begun; sleep 30 & sleep 30", 1), {}}, {row("next", "echo end"), {}}});
  ASSERT_EQ(records.size(), 2U) << raw_;
  EXPECT_TRUE(records[0].second.timed_out());
  EXPECT_EQ(records[0].second.value("begun"), "");
  EXPECT_EQ(records[1].second.status, 0);
}

TEST_P(Frame, A_chatty_probe_is_cut_and_the_next_one_runs) {
  const auto records = run({{row("chatty", "yes noise | head -c 3000000"), {}}, {row("next", "echo end"), {}}});
  ASSERT_EQ(records.size(), 2U);
  EXPECT_LE(records[0].second.text.size(), 65'536U);
  EXPECT_EQ(records[1].second.text, "end\n");
}

TEST_P(Frame, Noise_before_and_imitations_inside_are_not_records) {
  const auto records = run({{row("liar", R"(printf '\036sskj-probe-x begin two\036\nok\n\036sskj-probe-x end two 0\036\n')"), {}}, {row("two", "echo real"), {}}},
                           "echo 'Last login: never'; printf '\\036 motd \\036\\n'\n");
  ASSERT_EQ(records.size(), 2U) << raw_;
  EXPECT_EQ(records[1].second.text, "real\n");
}

TEST_P(Frame, Output_that_ends_early_has_no_record_for_what_is_missing) {
  run({{row("one", "echo first"), {}}, {row("two", "echo second"), {}}});
  const auto whole = split_records(raw_).size();
  ASSERT_EQ(whole, 2U);
  for (std::size_t length = 0; length < raw_.size(); ++length) {
    const auto records = split_records(std::string_view(raw_).substr(0, length));
    EXPECT_LE(records.size(), whole);
    for (const auto& [id, output] : records) EXPECT_EQ(output.text, id == "one" ? "first\n" : "second\n") << length;
  }
}

INSTANTIATE_TEST_SUITE_P(Shells, Frame, ::testing::Values("sh", "dash", "bash"));

}  // namespace
}  // namespace sskj::checks
