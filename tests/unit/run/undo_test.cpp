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

// Each would wait out the connect time once more: a node that was down made a failed start three times as long.
TEST_F(Undo, Asks_a_node_again_that_was_reached_and_leaves_one_alone_that_never_was) {
  nodes({"n1", "n2"});
  stage("s0", {script("do", "n1"), script("do2", "n2")}).undo = {script("undo", "n1"), script("undo2", "n2")};
  always("end", {script("unlock", "n1"), script("unlock2", "n2")});
  fake_.on_script("n2", "", {not_run()});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::unreachable);
  EXPECT_THAT(scripts_of("n1"), ElementsAre("do", "undo", "unlock"));
  EXPECT_THAT(scripts_of("n2"), ElementsAre("do2"));
  EXPECT_EQ(log_.finished()->summary.hosts.at("n2"), run::HostClass::unreachable);
}

// A port that takes connections and stays silent, a host that drops packets: unreachable (exit 4), not a deadline of the run (124).
TEST_F(Undo, A_connection_that_did_not_come_about_in_time_is_an_unreachable_node) {
  nodes({"n1"});
  stage("s0", {script("do", "n1")});
  fake_.on_script("n1", "", {not_run(Errc::timeout, "no answer (phase tcp)")});
  EXPECT_EQ(run_all(), ExitCode::unreachable);
}

}  // namespace
}  // namespace sskj::test
