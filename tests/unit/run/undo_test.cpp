// Undo and the stages that always run.
#include "unit/run/fixture.hpp"

namespace sskj::test {
namespace {

class Undo : public RunTest {
 protected:
  /// Stages s0..s(n-1), each one script and one undo.
  void stages(int count) {
    nodes({"n1"});
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      stage("s" + number, {script("do" + number, "n1")}).undo = {script("undo" + number, "n1")};
    }
  }
};

TEST_F(Undo, Runs_in_reverse_for_the_stages_that_began_and_for_no_other) {
  stages(4);
  fake_.on_script("n1", "do2", {reply().status(1)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::step_failed);
  EXPECT_THAT(scripts_of("n1"), ElementsAre("do0", "do1", "do2", "undo2", "undo1", "undo0"));
  const auto started = log_.all<run::StageStarted>();
  ASSERT_EQ(started.size(), 6U);
  EXPECT_TRUE(started[3]->undo);
  EXPECT_EQ(started[3]->number, 3U);
}

TEST_F(Undo, Does_not_run_after_success) {
  stages(2);
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_THAT(scripts_of("n1"), ElementsAre("do0", "do1"));
}

TEST_F(Undo, Is_left_out_with_keep_failed) {
  stages(1);
  fake_.on_script("n1", "do0", {reply().status(1)});
  limits_.keep_failed = true;
  EXPECT_EQ(run_all(), ExitCode::step_failed);
  EXPECT_THAT(scripts_of("n1"), ElementsAre("do0"));
}

TEST_F(Undo, A_failing_undo_is_reported_and_the_others_still_run) {
  stages(2);
  fake_.on_script("n1", "undo1", {reply().status(65)});
  fake_.on_script("n1", "do1", {reply().status(1)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::integrity);
  EXPECT_THAT(scripts_of("n1"), ElementsAre("do0", "do1", "undo1", "undo0"));
  EXPECT_THAT(log_.finished()->all_codes, ElementsAre(ExitCode::step_failed, ExitCode::integrity));
}

TEST_F(Undo, A_group_that_got_ready_stays_when_a_later_one_fails) {
  stages(3);
  plan_.stages[1].settles = {"s0"};
  fake_.on_script("n1", "do2", {reply().status(1)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::step_failed);
  EXPECT_THAT(scripts_of("n1"), ElementsAre("do0", "do1", "do2", "undo2", "undo1"));
}

TEST_F(Undo, A_stage_that_failed_settles_nothing) {
  stages(2);
  plan_.stages[1].settles = {"s0"};
  fake_.on_script("n1", "do1", {reply().status(1)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::step_failed);
  EXPECT_THAT(scripts_of("n1"), ElementsAre("do0", "do1", "undo1", "undo0"));
}

TEST_F(Undo, What_it_does_well_does_not_make_a_node_ok) {
  nodes({"n1", "n2"});
  stage("s", {script("a", "n1")}).undo = {script("u1", "n1"), script("u2", "n2")};
  fake_.on_script("n1", "a", {reply().status(1)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::step_failed);
  EXPECT_EQ(host("n1"), run::HostClass::failed);
  EXPECT_EQ(host("n2"), run::HostClass::skipped);
}

TEST_F(Undo, Always_stages_run_last_after_success_and_after_failure) {
  for (const int exit_status : {0, 1}) {
    plan_ = {};
    fake_ = {};
    log_ = {};
    finishes_ = 0;
    stages(1);
    always("unlock", {script("unlock", "n1")});
    fake_.on_script("n1", "do0", {reply().status(exit_status)});
    fake_.accept_everything();
    run_all();
    EXPECT_EQ(scripts_of("n1").back(), "unlock");
    EXPECT_EQ(log_.all<run::StageStarted>().back()->number, 2U);
    EXPECT_TRUE(log_.all<run::StageStarted>().back()->always);
  }
}

TEST_F(Undo, A_failing_always_stage_is_reported_and_the_next_still_runs) {
  stages(1);
  always("unlock", {script("unlock", "n1")});
  always("audit", {script("audit", "n1")});
  fake_.on_script("n1", "unlock", {reply().status(1)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::step_failed);
  EXPECT_EQ(status("audit"), StepStatus::ok);
}

}  // namespace
}  // namespace sskj::test
