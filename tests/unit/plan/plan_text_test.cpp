#include <gmock/gmock.h>

#include "sample_plan.hpp"

namespace sskj::plan {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PlanText, Numbers_steps_and_folds_nodes_that_receive_the_same_bytes) {
  const std::string text = to_text(sample_plan());
  EXPECT_THAT(text, HasSubstr("start kimi: 2 nodes 10.0.0.[1-2]\nplan " + digest(sample_plan())));
  EXPECT_THAT(text, HasSubstr("\n2 wait until ready, only if stage put failed, within 20m, its failure is tolerated\n"));
  EXPECT_THAT(text, HasSubstr("  2.2 run http.1  10.0.0.2 (within 30s)\n"));
  EXPECT_THAT(text, HasSubstr("  3.1 run unlock.1  10.0.0.1"));
}

TEST(PlanText, Folds_titles_that_differ_in_the_node_only) {
  Plan plan = sample_plan();
  for (auto& step : plan.always[0].steps) step.title = "release " + step.node;
  EXPECT_THAT(to_text(plan), HasSubstr("  3.[1-2] release *  10.0.0.[1-2] (within 30s)\n"));
}

TEST(PlanText, Shows_the_exact_script_line_by_line) {
  const std::string text = to_text(script_step("a", "n", "set -eu\n\n  echo \\x '$HOME'"));
  EXPECT_THAT(text, HasSubstr("      | set -eu\n      | \n      |   echo \\x '$HOME'\n      \\ no newline at end\n"));
}

TEST(PlanText, A_line_of_a_script_cannot_pass_for_ours_nor_reach_the_terminal_raw) {
  const std::string text = to_text(script_step("a", "n", "a\x1b[2J\\\rb\xff\n3.2 fake\n"));
  EXPECT_THAT(text, HasSubstr("      ! a\\x1b[2J\\\\\\x0db\\xff\n      | 3.2 fake\n"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(PlanText, Shows_small_text_content_and_the_script_that_writes_it) {
  const Step step = put_step("a", "n", "/opt/p.py", "line 1\nline 2\n", 0755);
  const std::string text = to_text(step);
  EXPECT_THAT(text, HasSubstr("      file /opt/p.py mode 0755: 14 bytes, sha256 " + std::get<PutFile>(step.action).sha256));
  EXPECT_THAT(text, HasSubstr("      > line 1\n      > line 2\n"));
  EXPECT_THAT(text, HasSubstr("      | path=/opt/p.py\n      | mode=755\n"));
}

TEST(PlanText, Names_size_and_sha256_of_binary_or_large_content) {
  for (const std::string& content : {std::string("\xff\0", 2), std::string(1U << 20, 'x')}) {
    const Step step = put_step("a", "n", "/opt/p", content);
    const std::string text = to_text(step);
    EXPECT_THAT(text, HasSubstr("sha256 " + std::get<PutFile>(step.action).sha256));
    EXPECT_THAT(text, Not(HasSubstr("      > ")));
    EXPECT_LT(text.size(), 8192U);
  }
}

TEST(PlanText, Says_what_is_masked) {
  EXPECT_THAT(to_text(sample_plan()), HasSubstr("\nmasks the value of from_env:API_KEY in all output\n"));
  EXPECT_THAT(to_text(follow_step("a", "n")), HasSubstr("script, output followed, API keys in its output masked: "));
}

TEST(PlanText, Shows_secrets_as_references) {
  EXPECT_THAT(to_text(secret_step("a", "n", "/k")), HasSubstr("      file /k mode 0600, {secret} = from_env:API_KEY\n      > KEY={secret}\n"));
  EXPECT_THAT(to_text(http_step("a", "n")), HasSubstr("Authorization: Bearer {secret}, {secret} = from_file:/etc/key\n"));
}

TEST(PlanText, Shows_request_polling_and_judge) {
  const std::string text = to_text(http_step("a", "n"));
  EXPECT_THAT(text, HasSubstr("POST http://127.0.0.1:30000/v1/chat/completions as the node sees it, answer within 25s, again every 2s until it is ok\n"));
  EXPECT_THAT(text, HasSubstr("      > {\"q\": \"23*47\"}\n"));
  EXPECT_THAT(text, HasSubstr("judged by http-200 {\"a\":1}\n"));
}

TEST(PlanText, Shows_watch_undo_and_always) {
  const std::string text = to_text(sample_plan());
  EXPECT_THAT(text, HasSubstr("  2.w1 while the stage runs: run watch.1  10.0.0.1 (no deadline)\n"));
  EXPECT_THAT(text, HasSubstr("  1.u1 if the run fails: run undo.1  10.0.0.1"));
  EXPECT_THAT(text, HasSubstr("\n3 release the lock, whatever happened before, always at the end\n"));
}

}  // namespace
}  // namespace sskj::plan
