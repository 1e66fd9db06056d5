// Interrupts in each state of a run.
#include "unit/run/fixture.hpp"

namespace sskj::test {
namespace {

using run::HostClass;

class Cancel : public RunTest {
 protected:
  Cancel() {
    nodes({"n1", "n2"});
    stage("s", {script("a", "n1"), script("b", "n1"), script("c", "n2")}).undo = {script("undo", "n1")};
    stage("t", {script("d", "n1")});
    always("unlock", {script("unlock", "n1")});
  }
  /// Interrupts at `when`, then runs to the end.
  void interrupt_at(Millis when, ExitCode code = ExitCode::interrupted) {
    begin();
    fake_.advance(when);
    executor_->request_cancel(code);
    fake_.run_until_idle();
    EXPECT_EQ(finishes_, 1);
    EXPECT_EQ(code_, code);
    EXPECT_EQ(fake_.running(), 0U);
    EXPECT_TRUE(log_.finished()->interrupted);
    check_summary();
  }
};

TEST_F(Cancel, While_a_step_runs_it_is_cancelled_nothing_new_starts_undo_and_unlock_run) {
  fake_.on_script("n1", "a", {reply().out("half").forever()});
  fake_.on_script("n2", "c", {reply().after(1s)});
  fake_.accept_everything();
  interrupt_at(3s);
  EXPECT_EQ(status("a"), StepStatus::cancelled);
  EXPECT_EQ(error("a").code, Errc::cancelled);
  EXPECT_EQ(log_.result("a")->out, "half");
  EXPECT_EQ(status("b"), StepStatus::skipped);
  EXPECT_EQ(status("c"), StepStatus::ok);
  EXPECT_TRUE(log_.stage("t")->skipped);
  EXPECT_THAT(scripts_of("n1"), ElementsAre("a", "undo", "unlock"));
  EXPECT_EQ(host("n1"), HostClass::skipped);
  EXPECT_EQ(host("n2"), HostClass::ok);
  EXPECT_THAT(log_.finished()->all_codes, ElementsAre(ExitCode::interrupted));
}

TEST_F(Cancel, Terminated_has_its_own_code) {
  fake_.on_script("", "a", {reply().forever()});
  fake_.accept_everything();
  interrupt_at(3s, ExitCode::terminated);
  EXPECT_THAT(log_.finished()->all_codes, ElementsAre(ExitCode::terminated));
}

TEST_F(Cancel, Before_anything_began_nothing_is_sent_but_what_always_runs) {
  fake_.accept_everything();
  begin();
  executor_->request_cancel(ExitCode::interrupted);
  fake_.run_until_idle();
  EXPECT_EQ(code_, ExitCode::interrupted);
  EXPECT_THAT(scripts_of("n1"), ElementsAre("unlock"));
  EXPECT_TRUE(log_.stage("s")->skipped);
}

TEST_F(Cancel, While_waiting_to_send_again_after_lost) {
  fake_.on_script("n1", "a", {lost()});
  fake_.accept_everything();
  interrupt_at(100ms);
  EXPECT_EQ(status("a"), StepStatus::cancelled);
  EXPECT_THAT(scripts_of("n1"), ElementsAre("a", "undo", "unlock"));
}

TEST_F(Cancel, Between_two_polls_and_during_one) {
  for (const Millis when : {Millis{1s}, Millis{2500ms}}) {
    SCOPED_TRACE(when.count());
    fake_ = {};
    log_ = {};
    finishes_ = 0;
    plan_.stages[0].steps = {poll("a", "n1", 60s)};
    fake_.on_http("n1", 30000, "/health", {answer(503, "", 0s), silent()});
    fake_.accept_everything();
    interrupt_at(when);
    EXPECT_EQ(status("a"), StepStatus::cancelled);
    EXPECT_EQ(log_.finished()->elapsed, when);
  }
}

TEST_F(Cancel, A_script_that_ended_well_in_the_same_moment_is_told_as_it_was) {
  auto slow = reply().after(5s).out("sskj: changed\n");
  slow.ignores_cancel = true;
  fake_.on_script("n1", "a", {slow});
  fake_.accept_everything();
  interrupt_at(3s);
  EXPECT_EQ(status("a"), StepStatus::changed);
  EXPECT_EQ(status("b"), StepStatus::skipped);
}

TEST_F(Cancel, A_transport_that_does_not_answer_the_cancel_is_not_waited_for) {
  auto deaf = reply().forever();
  deaf.ignores_cancel = deaf.ignores_deadline = true;
  fake_.on_script("n1", "a", {deaf});
  fake_.accept_everything();
  begin();
  fake_.advance(3s);
  executor_->request_cancel(ExitCode::interrupted);
  fake_.run_until_idle();
  EXPECT_EQ(code_, ExitCode::interrupted);
  EXPECT_EQ(log_.finished()->elapsed, 13s);
}

TEST_F(Cancel, While_watches_run_they_end_too) {
  plan_.stages[0].watch = {follow("log", "n2")};
  fake_.on_script("n2", "log", {reply().forever()});
  fake_.on_script("n1", "a", {reply().forever()});
  fake_.accept_everything();
  interrupt_at(3s);
  EXPECT_EQ(status("log"), StepStatus::cancelled);
}

TEST_F(Cancel, During_undo_the_undo_goes_on) {
  fake_.on_script("n1", "a", {reply().status(1)});
  fake_.on_script("n1", "undo", {reply().after(10s)});
  fake_.accept_everything();
  interrupt_at(5s);
  EXPECT_EQ(status("undo"), StepStatus::ok);
  EXPECT_EQ(status("unlock"), StepStatus::ok);
  EXPECT_THAT(log_.finished()->all_codes, ElementsAre(ExitCode::step_failed, ExitCode::interrupted));
}

TEST_F(Cancel, During_the_last_stages_they_go_on) {
  fake_.on_script("n1", "unlock", {reply().after(10s)});
  fake_.accept_everything();
  interrupt_at(5s);
  EXPECT_EQ(status("unlock"), StepStatus::ok);
}

TEST_F(Cancel, A_second_request_changes_nothing) {
  fake_.on_script("n1", "a", {reply().forever()});
  fake_.accept_everything();
  begin();
  fake_.advance(1s);
  executor_->request_cancel(ExitCode::interrupted);
  executor_->request_cancel(ExitCode::terminated);
  fake_.run_until_idle();
  EXPECT_EQ(code_, ExitCode::interrupted);
}

TEST_F(Cancel, After_the_end_it_is_ignored) {
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::done);
  executor_->request_cancel(ExitCode::interrupted);
  fake_.run_until_idle();
  EXPECT_EQ(finishes_, 1);
}

TEST_F(Cancel, With_many_nodes_waiting_for_their_turn_these_are_skipped) {
  limits_.fanout = 1;
  fake_.on_script("n1", "a", {reply().forever()});
  fake_.accept_everything();
  interrupt_at(1s);
  EXPECT_EQ(status("c"), StepStatus::skipped);
  EXPECT_EQ(host("n2"), HostClass::skipped);
}

}  // namespace
}  // namespace sskj::test
