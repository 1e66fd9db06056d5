// Order, barriers, budgets, failure policies, conditions, exit codes.
#include "unit/run/fixture.hpp"

namespace sskj::test {
namespace {

using run::HostClass;

class Executor : public RunTest {};

TEST_F(Executor, Start_returns_at_once_and_calls_back_from_the_loop) {
  nodes({"n1"});
  stage("s", {script("a", "n1")});
  fake_.accept_everything();
  begin();
  EXPECT_THAT(log_.lines(), IsEmpty());
  fake_.run_until_idle();
  EXPECT_EQ(code_, ExitCode::done);
  EXPECT_THAT(log_.lines(), ElementsAre("run", "stage s", "step a", "a ok", "stage s ok", "run 0"));
}

TEST_F(Executor, Stages_are_barriers_and_steps_of_a_node_run_in_list_order) {
  nodes({"n1", "n2"});
  stage("s", {script("a", "n1"), script("b", "n2"), script("c", "n1")});
  stage("t", {script("d", "n2")});
  fake_.on_script("n1", "", {reply().after(5s)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_THAT(scripts_of("n1"), ElementsAre("a", "c"));
  EXPECT_THAT(scripts_of("n2"), ElementsAre("b", "d"));
  EXPECT_TRUE(before("c ok", "stage s ok"));
  EXPECT_TRUE(before("stage s ok", "step d"));
  EXPECT_EQ(fake_.sent_to("n2")[1].at, 10s);
}

TEST_F(Executor, Nodes_work_in_parallel) {
  nodes({"n1", "n2", "n3"});
  stage("s", {script("a", "n1"), script("b", "n2"), script("c", "n3")});
  fake_.on_script("", "", {reply().after(5s)});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(fake_.now(), 5s);
  EXPECT_EQ(fake_.most_nodes_at_once(), 3U);
}

TEST_F(Executor, Fanout_is_never_exceeded_and_a_node_has_one_call_at_a_time) {
  std::vector<plan::Step> steps;
  for (int i = 0; i < 40; ++i) {
    const std::string id = "n" + std::to_string(i);
    nodes({id.c_str()});
    for (int k = 0; k < 3; ++k) steps.push_back(script("s" + std::to_string(i) + "." + std::to_string(k), id));
  }
  stage("s", steps);
  int count = 0;  // uneven durations, so that lanes end out of order
  fake_.on_exec([&count](const SentExec&) { return ++count % 3 == 0; }, {reply().after(7s)});
  fake_.on_exec([](const SentExec&) { return true; }, {reply().after(2s)});
  limits_.fanout = 7;
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(fake_.sent().size(), 120U);
  EXPECT_EQ(fake_.most_nodes_at_once(), 7U);
  EXPECT_EQ(fake_.most_calls_on_one_node(), 1U);
}

TEST_F(Executor, A_fanout_of_zero_still_makes_progress) {
  nodes({"n1", "n2"});
  stage("s", {script("a", "n1"), script("b", "n2")});
  fake_.accept_everything();
  limits_.fanout = 0;
  EXPECT_EQ(run_all(), ExitCode::done);
}

TEST_F(Executor, One_by_one_takes_node_after_node_in_order_of_the_steps) {
  nodes({"n1", "n2", "n3"});
  stage("s", {script("c", "n3"), script("a", "n1"), script("c2", "n3"), script("b", "n2")}).order = plan::Order::one_by_one;
  fake_.on_script("", "", {reply().after(1s)});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(fake_.most_nodes_at_once(), 1U);
  std::vector<std::string> order;
  for (const auto& exec : fake_.sent()) order.push_back(exec.script);
  EXPECT_THAT(order, ElementsAre("c", "c2", "a", "b"));
}

TEST_F(Executor, One_by_one_stops_at_the_first_failure) {
  nodes({"n1", "n2", "n3"});
  stage("s", {script("a", "n1"), script("b", "n2"), script("c", "n3")}).order = plan::Order::one_by_one;
  fake_.on_script("n2", "", {reply().status(73)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::locked);
  EXPECT_EQ(status("c"), StepStatus::skipped);
  EXPECT_THAT(fake_.sent_to("n3"), IsEmpty());
}

TEST_F(Executor, A_failure_skips_the_rest_of_its_node_and_later_stages_but_other_nodes_finish_theirs) {
  nodes({"n1", "n2"});
  stage("s", {script("a1", "n1"), script("a2", "n1"), script("b1", "n2"), script("b2", "n2")});
  stage("t", {script("c", "n1"), script("d", "n2")});
  fake_.on_script("n1", "a1", {reply().status(1).err("boom\n")});
  fake_.on_script("n2", "", {reply().after(3s)});
  EXPECT_EQ(run_all(), ExitCode::step_failed);
  EXPECT_EQ(status("a1"), StepStatus::failed);
  EXPECT_EQ(status("a2"), StepStatus::skipped);
  EXPECT_EQ(status("b2"), StepStatus::ok);
  EXPECT_FALSE(log_.stage("s")->ok);
  EXPECT_TRUE(log_.stage("t")->skipped);
  EXPECT_EQ(status("c"), StepStatus::skipped);
  EXPECT_EQ(log_.position("step c"), log_.lines().size()) << "a skipped step never started";
  EXPECT_EQ(log_.position("stage t"), log_.lines().size());
  EXPECT_EQ(host("n1"), HostClass::failed);
  EXPECT_EQ(host("n2"), HostClass::ok);
}

TEST_F(Executor, A_tolerated_failure_is_data_and_the_run_goes_on) {
  nodes({"n1"});
  auto a = script("a", "n1");
  a.on_failure = plan::OnFailure::tolerate;
  stage("s", {a, script("b", "n1")});
  fake_.on_script("n1", "a", {reply().status(1)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(status("a"), StepStatus::failed);
  EXPECT_EQ(status("b"), StepStatus::ok);
  EXPECT_EQ(host("n1"), HostClass::ok);
}

TEST_F(Executor, A_node_that_was_not_reached_is_unreachable_even_where_that_is_tolerated_and_is_asked_once_a_stage) {
  nodes({"n1", "n2"});
  auto a = script("a", "n1"), b = script("b", "n1");
  a.on_failure = b.on_failure = plan::OnFailure::tolerate;
  stage("s", {a, b, script("c", "n2")});
  fake_.on_script("n1", "", {not_run()});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(status("a"), StepStatus::not_run);
  EXPECT_EQ(status("b"), StepStatus::skipped);
  EXPECT_EQ(fake_.sent_to("n1").size(), 1U);
  EXPECT_EQ(host("n1"), HostClass::unreachable);
}

TEST_F(Executor, The_most_severe_code_wins_and_all_are_listed) {
  nodes({"n1", "n2", "n3", "n4"});
  stage("s", {script("a", "n1"), script("b", "n2"), script("c", "n3"), script("d", "n4")});
  fake_.on_script("n1", "", {reply().status(1)});
  fake_.on_script("n2", "", {not_run(Errc::auth, "n2: the node refused our keys")});
  fake_.on_script("n3", "", {reply().status(65)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::integrity);
  EXPECT_THAT(log_.finished()->all_codes, testing::UnorderedElementsAre(ExitCode::step_failed, ExitCode::unreachable, ExitCode::integrity));
  EXPECT_EQ(host("n2"), HostClass::unreachable);
  EXPECT_EQ(error("b").message, "n2: the node refused our keys");
}

TEST_F(Executor, A_node_without_any_step_is_skipped_in_the_summary) {
  nodes({"n1", "idle"});
  stage("s", {script("a", "n1")});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(host("idle"), HostClass::skipped);
  EXPECT_EQ(host("n1"), HostClass::ok);
}

TEST_F(Executor, An_invalid_plan_runs_nothing_and_says_why) {
  nodes({"n1"});
  stage("s", {script("a", "n9")});
  EXPECT_EQ(run_all(), ExitCode::usage);
  ASSERT_EQ(log_.all<run::FindingReported>().size(), 1U);
  EXPECT_THAT(log_.all<run::FindingReported>()[0]->finding.message, HasSubstr("node \"n9\" is not in the plan"));
  EXPECT_THAT(fake_.sent(), IsEmpty());
}

TEST_F(Executor, An_empty_plan_is_done) { EXPECT_EQ(run_all(), ExitCode::done); }

TEST_F(Executor, The_total_deadline_ends_running_steps_and_later_stages_but_not_the_release_of_the_lock) {
  nodes({"n1"});
  plan_.deadline = 10s;
  auto a = script("a", "n1");
  a.deadline = 60s;
  stage("s", {a});
  stage("t", {script("b", "n1")});
  always("unlock", {script("u", "n1")});
  fake_.on_script("n1", "a", {reply().forever()});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::deadline);
  EXPECT_EQ(status("a"), StepStatus::timed_out);
  EXPECT_EQ(error("a").code, Errc::timeout);
  EXPECT_THAT(error("a").message, HasSubstr("total deadline of 10s"));
  EXPECT_TRUE(log_.stage("t")->skipped);
  EXPECT_EQ(status("u"), StepStatus::ok);
  EXPECT_EQ(host("n1"), HostClass::timed_out);
}

TEST_F(Executor, A_stage_deadline_ends_its_steps) {
  nodes({"n1", "n2"});
  auto a = script("a", "n1");
  a.deadline = 60s;
  stage("s", {a, script("b", "n2")}).deadline = 5s;
  fake_.on_script("n1", "", {reply().forever()});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::deadline);
  EXPECT_EQ(log_.finished()->elapsed, 5s);
  EXPECT_EQ(status("a"), StepStatus::timed_out);
  EXPECT_EQ(status("b"), StepStatus::ok);
  EXPECT_THAT(log_.stage("s")->error->message, HasSubstr("expected an end within 5s"));
}

struct Condition {
  const char* name;
  plan::OnlyIf only_if;
  const char* stage;       // only_if_stage
  plan::OnFailure policy;  // of the first stage
  int status;              // of the first stage's script
  bool runs;
};

class ExecutorOnlyIf : public RunTest, public testing::WithParamInterface<Condition> {};

TEST_P(ExecutorOnlyIf, Decides_by_the_stages_before) {
  const Condition& p = GetParam();
  nodes({"n1"});
  stage("first", {script("a", "n1")}).on_failure = p.policy;
  auto& second = stage("second", {script("b", "n1")});
  second.only_if = p.only_if;
  second.only_if_stage = p.stage;
  fake_.on_script("n1", "a", {reply().status(p.status)});
  fake_.accept_everything();
  const bool fatal = p.status != 0 && p.policy == plan::OnFailure::fail;
  EXPECT_EQ(run_all(), fatal ? ExitCode::step_failed : ExitCode::done);
  EXPECT_EQ(log_.stage("second")->skipped, !p.runs);
  EXPECT_EQ(status("b"), p.runs ? StepStatus::ok : StepStatus::skipped);
}

INSTANTIATE_TEST_SUITE_P(
    Conditions, ExecutorOnlyIf,
    testing::Values(Condition{"ok_after_ok", plan::OnlyIf::previous_ok, "", plan::OnFailure::fail, 0, true},
                    Condition{"ok_after_failure", plan::OnlyIf::previous_ok, "", plan::OnFailure::fail, 1, false},
                    Condition{"ok_after_tolerated", plan::OnlyIf::previous_ok, "", plan::OnFailure::tolerate, 1, true},
                    Condition{"named_ok_after_tolerated", plan::OnlyIf::previous_ok, "first", plan::OnFailure::tolerate, 1, false},
                    Condition{"named_ok_after_ok", plan::OnlyIf::previous_ok, "first", plan::OnFailure::tolerate, 0, true},
                    Condition{"failed_after_ok", plan::OnlyIf::previous_failed, "", plan::OnFailure::fail, 0, false},
                    Condition{"failed_after_failure", plan::OnlyIf::previous_failed, "", plan::OnFailure::fail, 1, true},
                    Condition{"named_failed_after_failure", plan::OnlyIf::previous_failed, "first", plan::OnFailure::fail, 1, true},
                    Condition{"named_failed_after_tolerated", plan::OnlyIf::previous_failed, "first", plan::OnFailure::tolerate, 1, true},
                    Condition{"always_after_failure", plan::OnlyIf::always, "", plan::OnFailure::fail, 1, true}),
    [](const auto& at) { return std::string(at.param.name); });

TEST_F(Executor, A_branch_on_a_tolerated_failure_ends_with_the_first_fatal_one) {
  nodes({"n1"});
  stage("compare", {script("a", "n1")}).on_failure = plan::OnFailure::tolerate;
  for (const char* id : {"remove", "run"}) {
    auto& next = stage(id, {script(id, "n1")});
    next.only_if = plan::OnlyIf::previous_failed;
    next.only_if_stage = "compare";
  }
  fake_.on_script("n1", "a", {reply().status(1)});
  fake_.on_script("n1", "remove", {reply().status(1)});
  EXPECT_EQ(run_all(), ExitCode::step_failed);
  EXPECT_EQ(status("remove"), StepStatus::failed);
  EXPECT_EQ(status("run"), StepStatus::skipped);
}

TEST_F(Executor, Destroying_it_in_mid_run_cancels_and_stays_silent) {
  nodes({"n1"});
  stage("s", {script("a", "n1")});
  fake_.on_script("n1", "", {reply().out("x", 1s).after(5s)});
  begin();
  fake_.advance(500ms);
  EXPECT_EQ(fake_.running(), 1U);
  const auto before_end = log_.lines().size();
  executor_.reset();
  fake_.run_until_idle();
  EXPECT_EQ(fake_.running(), 0U);
  EXPECT_EQ(log_.lines().size(), before_end);
  EXPECT_EQ(finishes_, 0);
}

}  // namespace
}  // namespace sskj::test
