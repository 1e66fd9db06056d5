// RunScript, PutFile, CheckNode: answers, exit statuses, lost connections, deadlines, secrets.
#include "sskj/core/sha256.hpp"
#include "unit/run/fixture.hpp"

namespace sskj::test {
namespace {

using run::HostClass;

class ScriptStep : public RunTest {
 protected:
  ScriptStep() { nodes({"n1"}); }
  void one(plan::Step step) { stage("s", {std::move(step)}); }
};

TEST_F(ScriptStep, Receives_the_exact_bytes_and_variables_within_its_deadline) {
  one(script("a", "n1", "echo '$HOME' \xc3\xa9\n"));
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::done);
  const auto& sent = fake_.sent().at(0);
  EXPECT_EQ(sent.script, "echo '$HOME' \xc3\xa9\n");
  EXPECT_EQ(sent.input, "");
  EXPECT_EQ(sent.deadline, 30s);
  EXPECT_EQ(sent.vars.run, "run-1");
  EXPECT_EQ(sent.vars.plan, "digest");
}

TEST_F(ScriptStep, The_last_line_says_changed_or_unchanged_and_is_not_part_of_the_output) {
  one(script("a", "n1"));
  stage("t", {script("b", "n1")});
  stage("u", {script("c", "n1")});
  fake_.on_script("n1", "a", {reply().out("removed x\nsskj: changed\n")});
  fake_.on_script("n1", "b", {reply().out("sskj: unchanged")});
  fake_.on_script("n1", "c", {reply().out("sskj: changed\nmore\n")});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(status("a"), StepStatus::changed);
  EXPECT_EQ(log_.result("a")->out, "removed x\n");
  EXPECT_EQ(status("b"), StepStatus::unchanged);
  EXPECT_EQ(log_.result("b")->out, "");
  EXPECT_EQ(status("c"), StepStatus::ok) << "only the last line counts";
}

struct ExitCase {
  int status;
  Errc failure;  // of the step
  Errc expected;
  ExitCode code;
};

class ScriptExit : public ScriptStep, public testing::WithParamInterface<ExitCase> {};

TEST_P(ScriptExit, Maps_to_a_category) {
  auto step = script("a", "n1");
  step.failure = GetParam().failure;
  one(step);
  fake_.on_script("n1", "", {reply().status(GetParam().status)});
  EXPECT_EQ(run_all(), GetParam().code);
  EXPECT_EQ(error("a").code, GetParam().expected);
  EXPECT_EQ(log_.result("a")->exit_status, GetParam().status);
}

INSTANTIATE_TEST_SUITE_P(Statuses, ScriptExit,
                         testing::Values(ExitCase{1, Errc::step_failed, Errc::step_failed, ExitCode::step_failed},
                                         ExitCase{1, Errc::not_ready, Errc::not_ready, ExitCode::not_ready},
                                         ExitCase{65, Errc::not_ready, Errc::integrity, ExitCode::integrity},
                                         ExitCase{66, Errc::step_failed, Errc::preflight, ExitCode::preflight},
                                         ExitCase{73, Errc::step_failed, Errc::locked, ExitCode::locked},
                                         ExitCase{124, Errc::step_failed, Errc::timeout, ExitCode::deadline},
                                         ExitCase{137, Errc::step_failed, Errc::step_failed, ExitCode::step_failed}));

TEST_F(ScriptStep, The_status_of_a_followed_command_is_the_users_own) {
  auto step = follow("a", "n1");
  step.failure = Errc::step_failed;
  one(step);
  fake_.on_script("n1", "", {reply().out("line\n").status(73)});
  EXPECT_EQ(run_all(), ExitCode::step_failed);
  EXPECT_EQ(log_.all<run::StepOutput>().size(), 1U);
}

TEST_F(ScriptStep, A_failure_names_node_step_expected_got_last_lines_and_next_command) {
  auto step = script("a", "n1");
  step.title = "start rank 0";
  step.hint = "sskj doctor";
  one(step);
  fake_.on_script("n1", "", {reply().out("starting\n").err("one\n\x1b[31mno such image\x1b[0m\n").status(125)});
  EXPECT_EQ(run_all(), ExitCode::step_failed);
  const auto& result = *log_.result("a");
  EXPECT_EQ(result.error->message, "n1: start rank 0: expected exit status 0, got exit status 125: \\x1b[31mno such image\\x1b[0m");
  EXPECT_EQ(result.error->hint, "sskj doctor");
  EXPECT_EQ(result.expected, "exit status 0");
  EXPECT_EQ(result.got, "exit status 125");
  EXPECT_THAT(result.last_lines, ElementsAre("one", "\\x1b[31mno such image\\x1b[0m"));
}

TEST_F(ScriptStep, Output_beyond_the_limit_keeps_head_and_tail_and_counts_the_rest) {
  limits_.max_output = 10;
  one(script("a", "n1"));
  fake_.on_script("n1", "", {reply().out("0123456").out("789abcdef").out("ghij")});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(log_.result("a")->out, "01234fghij");
  EXPECT_EQ(log_.result("a")->out_dropped, 10U);
}

TEST_F(ScriptStep, After_lost_the_same_bytes_are_sent_once_more) {
  one(script("a", "n1"));
  fake_.on_script("n1", "", {std::move(lost()).out("half of").after(2s), reply().out("whole\nsskj: unchanged\n")});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_THAT(scripts_of("n1"), ElementsAre("a", "a"));
  EXPECT_EQ(status("a"), StepStatus::unchanged);
  EXPECT_EQ(log_.result("a")->out, "whole\n");
  EXPECT_EQ(log_.result("a")->attempts, 2U);
  EXPECT_TRUE(before("a retried: connection lost", "a unchanged"));
  EXPECT_EQ(host("n1"), HostClass::ok);
  EXPECT_LT(fake_.sent()[1].deadline, 28s) << "the deadline is of the whole step";
}

TEST_F(ScriptStep, Lost_twice_is_final_and_never_success) {
  one(script("a", "n1"));
  fake_.on_script("n1", "", {lost()});
  EXPECT_EQ(run_all(), ExitCode::unreachable);
  EXPECT_EQ(fake_.sent().size(), 2U);
  EXPECT_EQ(status("a"), StepStatus::lost);
  EXPECT_EQ(error("a").code, Errc::lost);
  EXPECT_EQ(host("n1"), HostClass::lost);
}

TEST_F(ScriptStep, Lost_then_unreachable_for_a_while_is_resent_when_the_node_is_back) {
  one(script("a", "n1"));
  fake_.on_script("n1", "", {lost(), not_run(), not_run(), not_run(), reply().out("sskj: changed\n")});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(status("a"), StepStatus::changed);
  EXPECT_EQ(fake_.sent().size(), 5U);
}

TEST_F(ScriptStep, Lost_then_gone_ends_as_lost_after_a_bounded_time) {
  auto step = script("a", "n1");
  step.deadline = 10min;
  one(step);
  fake_.on_script("n1", "", {lost(), not_run()});
  EXPECT_EQ(run_all(), ExitCode::unreachable);
  EXPECT_EQ(status("a"), StepStatus::lost);
  EXPECT_THAT(error("a").message, HasSubstr("could not be reached again: no route"));
  EXPECT_LE(log_.finished()->elapsed, 31s);
}

TEST_F(ScriptStep, Lost_then_another_host_key_is_final_at_once) {
  one(script("a", "n1"));
  fake_.on_script("n1", "", {lost(), not_run(Errc::host_key, "changed")});
  EXPECT_EQ(run_all(), ExitCode::unreachable);
  EXPECT_EQ(fake_.sent().size(), 2U);
}

TEST_F(ScriptStep, A_followed_script_is_not_sent_again) {
  one(follow("a", "n1"));
  fake_.on_script("n1", "", {lost()});
  EXPECT_EQ(run_all(), ExitCode::unreachable);
  EXPECT_EQ(fake_.sent().size(), 1U);
  EXPECT_EQ(status("a"), StepStatus::lost);
}

TEST_F(ScriptStep, An_unreachable_node_fails_at_once_where_nothing_waits) {
  one(script("a", "n1"));
  fake_.on_script("n1", "", {not_run(Errc::unreachable, "n1: tcp connect timed out")});
  EXPECT_EQ(run_all(), ExitCode::unreachable);
  EXPECT_EQ(fake_.sent().size(), 1U);
  EXPECT_EQ(status("a"), StepStatus::not_run);
  EXPECT_EQ(host("n1"), HostClass::unreachable);
}

TEST_F(ScriptStep, The_deadline_of_the_step_is_the_transports) {
  one(script("a", "n1"));
  fake_.on_script("n1", "", {reply().out("working\n").forever()});
  EXPECT_EQ(run_all(), ExitCode::deadline);
  EXPECT_EQ(log_.finished()->elapsed, 30s);
  EXPECT_EQ(status("a"), StepStatus::timed_out);
  EXPECT_EQ(error("a").message, "n1: run a: expected an end within 30s, got still running: working");
  EXPECT_EQ(host("n1"), HostClass::timed_out);
}

TEST_F(ScriptStep, A_transport_that_forgets_the_deadline_is_cancelled_a_little_later) {
  one(script("a", "n1"));
  auto deaf = reply().forever();
  deaf.ignores_deadline = true;
  fake_.on_script("n1", "", {deaf});
  EXPECT_EQ(run_all(), ExitCode::deadline);
  EXPECT_EQ(log_.finished()->elapsed, 32s);
  EXPECT_EQ(status("a"), StepStatus::timed_out);
}

TEST_F(ScriptStep, A_transport_that_forgets_everything_cannot_hang_the_run) {
  one(script("a", "n1"));
  auto dead = reply().forever();
  dead.ignores_deadline = dead.ignores_cancel = true;
  fake_.on_script("n1", "", {dead});
  begin();
  fake_.run_until_idle();
  EXPECT_EQ(code_, ExitCode::deadline);
  EXPECT_EQ(log_.finished()->elapsed, 42s);
}

TEST_F(ScriptStep, Put_sends_its_script_and_content_and_takes_the_answer) {
  const auto step = plan::put_step("a", "n1", "/opt/x", "content\n");
  one(step);
  fake_.on_script("n1", "path=/opt/x", {reply().out("sskj: changed\n")});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(fake_.sent()[0].script, plan::script_of(step));
  EXPECT_EQ(fake_.sent()[0].input, "content\n");
  EXPECT_EQ(status("a"), StepStatus::changed);
}

TEST_F(ScriptStep, Put_is_sent_again_after_lost_with_its_content) {
  one(plan::put_step("a", "n1", "/opt/x", "content\n"));
  fake_.on_script("n1", "", {lost(), reply().out("sskj: unchanged\n")});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(fake_.sent()[1].input, "content\n");
  EXPECT_EQ(fake_.sent()[0].script, fake_.sent()[1].script);
}

TEST_F(ScriptStep, A_secret_travels_as_input_only_and_is_in_no_event) {
  one(plan::secret_step("a", "n1", "/k"));
  fake_.on_script("n1", "", {reply().out("api_key='hunter2!'\n").err("--api-key hunter2!\n").status(1)});
  EXPECT_EQ(run_all(), ExitCode::step_failed);
  const auto& sent = fake_.sent()[0];
  EXPECT_EQ(sent.input, sha256_hex("KEY=hunter2!\n") + "\nKEY=hunter2!\n");
  EXPECT_EQ(sent.script.find("hunter2!"), std::string::npos);
  const auto& result = *log_.result("a");
  EXPECT_EQ(result.out, "api_key='[secret]'\n");
  EXPECT_THAT(result.error->message, HasSubstr("--api-key [secret]"));
}

TEST_F(ScriptStep, A_secret_that_cannot_be_read_fails_before_anything_is_sent) {
  one(plan::secret_step("a", "n1", "/k"));
  drivers_.secret = [](const plan::SecretRef& ref) -> Result<std::string> { return fail(Errc::usage, ref.ref + " is not set"); };
  EXPECT_EQ(run_all(), ExitCode::usage);
  EXPECT_THAT(fake_.sent(), IsEmpty());
  EXPECT_THAT(error("a").message, HasSubstr("from_env:API_KEY is not set"));
}

TEST_F(ScriptStep, An_engine_log_is_masked_by_the_plans_secrets_and_by_the_look_of_a_key_also_across_pieces) {
  auto logs = script("a", "n1");
  std::get<plan::RunScript>(logs.action).follow = true;
  std::get<plan::RunScript>(logs.action).engine_log = true;
  logs.deadline = 0ms;
  one(logs);
  plan_.redact = {{"from_env:API_KEY"}};
  fake_.on_script("n1", "", {reply().out("server_args=ServerArgs(api_k").out("ey='sk-other') and hun").out("ter2!\nrest hunt").out("er2!")});
  EXPECT_EQ(run_all(), ExitCode::done);
  std::string streamed;
  for (const auto* event : log_.all<run::StepOutput>()) streamed += event->bytes;
  const std::string want = "server_args=ServerArgs(api_key='[secret]') and [secret]\nrest [secret]";
  EXPECT_EQ(streamed, want);
  EXPECT_EQ(log_.result("a")->out, want);
  EXPECT_THAT(log_.all<run::FindingReported>(), IsEmpty());
}

TEST_F(ScriptStep, A_secret_that_cannot_be_masked_by_value_is_told_once_and_does_not_stop_the_run) {
  auto logs = script("a", "n1");
  std::get<plan::RunScript>(logs.action).engine_log = true;
  one(logs);
  plan_.redact = {{"from_env:API_KEY"}};
  drivers_.secret = [](const plan::SecretRef& ref) -> Result<std::string> { return fail(Errc::usage, ref.ref + " is not set", "export it"); };
  fake_.on_script("n1", "", {reply().out("api_key='hunter2!'\n")});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(log_.result("a")->out, "api_key='[secret]'\n");
  const auto findings = log_.all<run::FindingReported>();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0]->finding.status, run::FindingStatus::warn);
  EXPECT_THAT(findings[0]->finding.message, HasSubstr("from_env:API_KEY"));
  EXPECT_EQ(findings[0]->finding.hint, "export it");
}

TEST_F(ScriptStep, A_check_is_judged_by_its_output_and_its_findings_get_the_node) {
  one(check("a", "n1"));
  fake_.on_script("n1", "", {reply().out("busy")});
  EXPECT_EQ(run_all(), ExitCode::preflight);
  EXPECT_EQ(status("a"), StepStatus::failed);
  EXPECT_THAT(error("a").message, "n1: run a: does not say ok");
  EXPECT_EQ(error("a").hint, "say ok");
  EXPECT_EQ(log_.result("a")->expected, "ok");
  EXPECT_EQ(log_.result("a")->got, "busy");
  EXPECT_TRUE(before("finding says-ok n1 fail", "a failed"));
}

TEST_F(ScriptStep, A_lost_check_is_asked_again_and_never_judged_without_an_outcome) {
  one(check("a", "n1"));
  fake_.on_script("n1", "", {std::move(lost()).out("ok")});
  EXPECT_EQ(run_all(), ExitCode::unreachable);
  EXPECT_EQ(fake_.sent().size(), 2U);
  EXPECT_EQ(status("a"), StepStatus::lost);
}

TEST_F(ScriptStep, A_judge_that_nobody_knows_is_a_fault_of_ours) {
  auto step = check("a", "n1");
  std::get<plan::CheckNode>(step.action).verdict.judge = "nobody";
  one(step);
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::internal);
  EXPECT_THAT(error("a").message, HasSubstr("no judge is called \"nobody\""));
}

TEST_F(ScriptStep, Output_is_streamed_for_all_scripts_only_on_request) {
  one(script("a", "n1"));
  fake_.on_script("n1", "", {reply().out("x\n")});
  limits_.stream_all = true;
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(log_.all<run::StepOutput>().size(), 1U);
}

}  // namespace
}  // namespace sskj::test
