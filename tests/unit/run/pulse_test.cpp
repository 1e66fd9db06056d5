// The heartbeat: from the step that takes hold to the stages at the end, on the nodes that are held, and what its answers do.
#include "unit/run/fixture.hpp"

namespace sskj::test {
namespace {

class Pulse : public RunTest {
 protected:
  Pulse() {
    nodes({"n1", "n2"});
    stage("lock", {script("lock1", "n1"), script("lock2", "n2")}).order = plan::Order::one_by_one;
    plan_.heartbeat = plan::Heartbeat{"lock", 5s, {script("beat1", "n1"), script("beat2", "n2")}};
    always("unlock", {script("unlock1", "n1"), script("unlock2", "n2")});
  }
  std::vector<Millis> beats(std::string_view node) const {
    std::vector<Millis> times;
    for (const auto& exec : fake_.sent_to(node)) {
      if (exec.script.starts_with("beat")) times.push_back(exec.at);
    }
    return times;
  }
};

TEST_F(Pulse, Beats_from_the_end_of_a_nodes_lock_until_the_last_stages_and_is_no_event) {
  stage("work", {script("work", "n1")});
  fake_.on_script("n1", "lock1", {reply().after(3s)});
  fake_.on_script("n2", "lock2", {reply().after(4s)});
  fake_.on_script("n1", "work", {reply().after(14s)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_THAT(beats("n1"), ElementsAre(4s, 9s, 14s, 19s));
  EXPECT_THAT(beats("n2"), ElementsAre(8s, 13s, 18s));
  EXPECT_EQ(log_.position("step beat1"), log_.lines().size());
}

TEST_F(Pulse, A_node_whose_lock_failed_is_not_beaten) {
  fake_.on_script("n1", "lock1", {reply().after(3s)});
  fake_.on_script("n2", "lock2", {reply().after(9s).status(73)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::locked);
  EXPECT_THAT(beats("n1"), ElementsAre(4s, 9s));
  EXPECT_THAT(beats("n2"), IsEmpty());
}

TEST_F(Pulse, A_lock_that_is_lost_ends_the_run_with_6_undo_and_unlock_still_run) {
  auto& work = stage("work", {script("work", "n1")});
  work.undo = {script("undo", "n1")};
  fake_.on_script("n2", "beat2", {reply(), reply().status(73).err("the lock of this node was taken over by run r9\n")});
  fake_.on_script("n1", "work", {reply().after(60s)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::locked);
  EXPECT_EQ(fake_.now(), 6s);
  EXPECT_EQ(status("work"), StepStatus::cancelled);
  EXPECT_EQ(status("undo"), StepStatus::ok);
  EXPECT_EQ(status("unlock2"), StepStatus::ok);
  const auto findings = log_.all<run::FindingReported>();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0]->finding.node, "n2");
  EXPECT_THAT(findings[0]->finding.message, HasSubstr("taken over by run r9"));
}

TEST_F(Pulse, A_lost_connection_or_a_fault_of_the_script_is_left_to_the_next_beat) {
  stage("work", {script("work", "n1")}).steps[0].deadline = 100s;
  fake_.on_script("n1", "beat1", {lost(), not_run(), reply().status(1), reply().forever(), reply()});
  fake_.on_script("n1", "work", {reply().after(72s)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_THAT(beats("n1"), ElementsAre(1s, 6s, 11s, 16s, 51s, 56s, 61s, 66s, 71s)) << "the silent one ends at its own deadline of 30 s";
}

TEST_F(Pulse, An_interrupt_keeps_the_heart_beating_until_undo_is_over) {
  auto& work = stage("work", {script("work", "n1")});
  work.undo = {script("undo", "n1")};
  fake_.on_script("n1", "work", {reply().after(60s)});
  fake_.on_script("n1", "undo", {reply().after(7s)});
  fake_.accept_everything();
  begin();
  fake_.advance(7s);
  executor_->request_cancel(ExitCode::interrupted);
  fake_.run_until_idle();
  EXPECT_EQ(code_, ExitCode::interrupted);
  EXPECT_THAT(beats("n1"), ElementsAre(1s, 6s, 11s));
}

TEST_F(Pulse, A_plan_with_a_heartbeat_of_no_stage_or_a_doubled_node_is_refused) {
  plan_.heartbeat->stage = "elsewhere";
  EXPECT_FALSE(plan::validate(plan_));
  plan_.heartbeat->stage = "lock";
  EXPECT_TRUE(plan::validate(plan_));
  plan_.heartbeat->steps.push_back(script("beat3", "n1"));
  EXPECT_FALSE(plan::validate(plan_));
  plan_.heartbeat->steps.back() = follow("beat4", "n1");
  EXPECT_FALSE(plan::validate(plan_));
}

}  // namespace
}  // namespace sskj::test
