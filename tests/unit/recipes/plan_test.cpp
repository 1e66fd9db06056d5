// What plans promise.
#include <gtest/gtest.h>

#include <set>

#include "fixture.hpp"
#include "sskj/recipes/drivers.hpp"
#include "support/plan_bytes.hpp"
#include "support/shell.hpp"

namespace sskj::recipes {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

const std::set<std::string> k_may_precede = {"lock", "preflight", "artifacts", "ensure", "keep"};

bool mutates(const plan::Step& step) {
  const auto* script = std::get_if<plan::RunScript>(&step.action);
  return (script != nullptr && script->mutates) || std::holds_alternative<plan::PutFile>(step.action);
}

TEST(Start, Nothing_but_lock_and_artifacts_is_changed_before_the_removal) {
  for (const bool ensure : {false, true}) {
    Request request;
    request.ensure = ensure;
    const auto plan = plan_of("start", shipped(), request);
    const auto removal = stage_at(plan, "drain");
    ASSERT_LT(removal, plan.stages.size());
    for (std::size_t i = 0; i < removal; ++i) {
      const auto& stage = plan.stages[i];
      EXPECT_TRUE(k_may_precede.contains(stage.id)) << stage.id;
      for (const auto& step : stage.steps) {
        const bool expected = stage.id == "lock" || std::holds_alternative<plan::PutFile>(step.action);
        EXPECT_EQ(mutates(step), expected) << step.id;
      }
    }
  }
}

TEST(Start, Stages_come_in_the_promised_order) {
  const auto plan = plan_of("start", shipped());
  std::vector<std::string> ids;
  for (const auto& stage : plan.stages) ids.push_back(stage.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"lock", "preflight", "artifacts", "drain", "remove", "run", "ready", "running", "warm", "smoke"}));
  ASSERT_EQ(plan.always.size(), 1U);
  EXPECT_EQ(plan.always[0].id, "unlock");
}

TEST(Start, Every_stage_runs_only_while_all_is_well) {
  for (const auto& stage : plan_of("start", shipped()).stages) EXPECT_EQ(stage.only_if, plan::OnlyIf::previous_ok) << stage.id;
}

TEST(Start, Ensure_starts_nothing_unless_something_differs) {
  Request request;
  request.ensure = true;
  const auto plan = plan_of("start", shipped(), request);
  ASSERT_EQ(plan.stages[0].id, "ensure");
  EXPECT_EQ(plan.stages[0].on_failure, plan::OnFailure::tolerate);
  ASSERT_EQ(plan.stages[1].id, "keep");
  EXPECT_EQ(plan.stages[1].only_if, plan::OnlyIf::previous_failed);
  EXPECT_EQ(plan.stages[1].on_failure, plan::OnFailure::fail);
  for (std::size_t i = 2; i < plan.stages.size(); ++i) {
    EXPECT_EQ(plan.stages[i].only_if, plan::OnlyIf::previous_ok) << plan.stages[i].id;
    EXPECT_EQ(plan.stages[i].only_if_stage, "ensure") << plan.stages[i].id;
  }
}

TEST(Start, Ranks_are_started_in_parallel_and_undone_by_run_and_group) {
  const auto plan = plan_of("start", shipped());
  const auto& run = stage_of(plan, "run");
  EXPECT_EQ(run.order, plan::Order::parallel);
  EXPECT_EQ(run.steps.size(), 4U);
  ASSERT_EQ(run.undo.size(), 4U);
  for (const auto& step : run.undo) {
    const auto& script = std::get<plan::RunScript>(step.action).script;
    for (const char* guard : {"label=sskj.run=${SSKJ_RUN:-none}", "label=sskj.deployment=$deployment", "label=sskj.group=$group"}) {
      EXPECT_NE(script.find(guard), std::string::npos) << guard;
    }
  }
  EXPECT_EQ(stage_of(plan, "running").settles, std::vector<std::string>{"run"});
}

TEST(Start, Every_rank_is_watched_and_asked_while_it_gets_ready) {
  const auto deployment = shipped();
  const auto plan = plan_of("start", deployment);
  const auto& ready = stage_of(plan, "ready");
  EXPECT_EQ(ready.watch.size(), 4U);
  EXPECT_EQ(ready.steps.size(), 4U);
  EXPECT_EQ(ready.deadline, deployment.groups[0].readiness.deadline);
  for (const auto& step : ready.steps) {
    const auto& probe = std::get<plan::HttpProbe>(step.action);
    EXPECT_EQ(probe.port, 30000);
    EXPECT_EQ(probe.target, "/health");
    EXPECT_GT(probe.request_timeout, plan::Millis{20'000});
    EXPECT_GT(probe.poll_every, plan::Millis{0});
    EXPECT_EQ(step.failure, Errc::not_ready);
  }
}

TEST(Start, Locks_are_taken_one_by_one_in_an_order_that_the_profile_does_not_choose) {
  const auto forwards = plan_of("start", small());
  auto reversed = small();
  std::reverse(reversed.nodes.begin(), reversed.nodes.end());
  const auto backwards = plan_of("start", reversed);
  for (const auto* plan : {&forwards, &backwards}) {
    const auto& lock = stage_of(*plan, "lock");
    EXPECT_EQ(lock.order, plan::Order::one_by_one);
    ASSERT_EQ(lock.steps.size(), 2U);
    EXPECT_EQ(lock.steps[0].node, "10.0.0.1");
    EXPECT_EQ(lock.steps[1].node, "10.0.0.2");
  }
}

TEST(Start, A_part_of_a_group_is_refused) {
  Request request;
  request.verb = "start";
  request.nodes = {"10.0.0.2"};
  const auto made = make_plan(request, small());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Errc::usage);
}

TEST(Plans, Unknown_verbs_and_nodes_are_usage_errors) {
  Request request;
  request.verb = "dance";
  EXPECT_EQ(make_plan(request, small()).error().code, Errc::usage);
  request.verb = "status";
  request.nodes = {"10.9.9.9"};
  EXPECT_EQ(make_plan(request, small()).error().code, Errc::usage);
}

TEST(Plans, Every_judge_that_a_plan_names_exists) {
  const auto known = drivers();
  for (const auto& recipe : recipes()) {
    Request request;
    request.ensure = recipe.verb == "start";
    const auto plan = plan_of(std::string(recipe.verb), shipped(), request);
    for (const auto& stage : plan.stages) {
      if (stage.verdict) {
        EXPECT_TRUE(known.stage_judges.contains(stage.verdict->judge)) << stage.verdict->judge;
      }
      for (const auto& step : stage.steps) {
        if (const auto* probe = std::get_if<plan::HttpProbe>(&step.action)) {
          EXPECT_TRUE(known.step_judges.contains(probe->verdict.judge)) << probe->verdict.judge;
        }
        if (const auto* check = std::get_if<plan::CheckNode>(&step.action)) {
          EXPECT_TRUE(known.step_judges.contains(check->verdict.judge)) << check->verdict.judge;
        }
      }
    }
  }
}

TEST(Plans, Every_verb_of_every_shipped_profile_sends_exactly_its_json) {
  for (const char* profile : {"profiles/kimi3_tp32ep32.env", "profiles/lab.yaml"}) {
    const auto deployment = shipped(profile);
    for (const auto& recipe : recipes()) {
      const auto plan = plan_of(std::string(recipe.verb), deployment);
      EXPECT_TRUE(plan::validate(plan)) << recipe.verb;
      EXPECT_TRUE(test::sends_exactly_its_json(plan)) << profile << " " << recipe.verb;
    }
  }
}

TEST(Plans, A_plan_depends_on_the_profile_and_the_request_alone) {
  for (const auto& recipe : recipes()) {
    EXPECT_EQ(plan::digest(plan_of(std::string(recipe.verb), shipped())), plan::digest(plan_of(std::string(recipe.verb), shipped()))) << recipe.verb;
  }
}

TEST(Plans, With_an_api_key_all_requests_carry_it_and_no_script_names_it) {
  const auto deployment = small("API_KEY=from_env:SSKJ_TEST_KEY\n");
  for (const auto* verb : {"start", "status", "smoke", "warmup"}) {
    const auto plan = plan_of(verb, deployment);
    for (const auto& stage : plan.stages) {
      for (const auto& step : stage.steps) {
        if (const auto* probe = std::get_if<plan::HttpProbe>(&step.action)) {
          EXPECT_TRUE(probe->bearer) << step.id;
        }
        if (const auto* put = std::get_if<plan::PutFile>(&step.action)) {
          EXPECT_EQ(put->mode, 0600U);
        }
        EXPECT_EQ(plan::script_of(step).find("SSKJ_TEST_KEY"), std::string::npos) << step.id;
      }
    }
  }
}

TEST(Stop, Goes_on_without_nodes_that_cannot_be_reached) {
  const auto plan = plan_of("stop", shipped());
  const auto& lock = stage_of(plan, "lock");
  ASSERT_TRUE(lock.verdict);
  EXPECT_EQ(lock.verdict->judge, "locks");
  for (const auto& step : lock.steps) EXPECT_EQ(step.on_failure, plan::OnFailure::tolerate);
  for (const auto& step : stage_of(plan, "drain").steps) EXPECT_EQ(step.on_failure, plan::OnFailure::tolerate);
  for (const auto& step : stage_of(plan, "remove").steps) EXPECT_EQ(step.on_failure, plan::OnFailure::fail);
}

TEST(Status, Ends_within_its_bound_whatever_a_node_does) {
  const auto plan = plan_of("status", shipped());
  for (const auto* node : {"174.1.60.5", "174.1.60.8"}) {
    plan::Millis all{0};
    for (const auto& step : plan.stages[0].steps) {
      EXPECT_EQ(step.on_failure, plan::OnFailure::tolerate);
      if (step.node == node) all += step.deadline;
    }
    EXPECT_LE(all, plan::Millis{28'000});
  }
  EXPECT_TRUE(plan.always.empty());
}

TEST(Status, Changes_nothing) {
  for (const auto* verb : {"status", "logs", "smoke", "warmup", "preflight"}) {
    for (const auto& stage : plan_of(verb, shipped()).stages) {
      for (const auto& step : stage.steps) EXPECT_FALSE(mutates(step)) << step.id;
    }
  }
}

TEST(Logs, A_rank_can_be_chosen) {
  Request request;
  request.rank = 2;
  const auto plan = plan_of("logs", shipped(), request);
  ASSERT_EQ(plan.stages[0].steps.size(), 1U);
  EXPECT_EQ(plan.stages[0].steps[0].node, "174.1.60.7");
  request.verb = "logs";
  request.rank = 9;
  EXPECT_FALSE(make_plan(request, shipped()));
}

TEST(Logs, An_engines_log_is_masked_and_the_keys_of_all_groups_are_named_once) {
  auto deployment = shipped();
  EXPECT_TRUE(plan_of("logs", deployment).redact.empty());
  for (auto& group : deployment.groups) group.api_key = plan::SecretRef{"from_env:KIMI_API_KEY"};
  deployment.groups.push_back(deployment.groups.front());
  const auto plan = plan_of("logs", deployment);
  EXPECT_EQ(plan.redact, (std::vector<plan::SecretRef>{{"from_env:KIMI_API_KEY"}}));
  for (const auto& step : plan.stages[0].steps) EXPECT_TRUE(std::get<plan::RunScript>(step.action).engine_log) << step.id;
  const auto start = plan_of("start", shipped());
  for (const auto& step : stage_of(start, "ready").watch) EXPECT_TRUE(std::get<plan::RunScript>(step.action).engine_log) << step.id;
  for (const auto& step : stage_of(start, "run").steps) EXPECT_TRUE(std::get<plan::RunScript>(step.action).engine_log) << "it shows the last lines of a container that ended";
}

TEST(Exec, Words_reach_the_command_unharmed) {
  Request request;
  request.verb = "exec";
  request.command = {"printf", "%s|", "a b", "it's", "$HOME", "`id`", "a\nb", ""};
  const auto made = make_exec_plan({{"h1", {"h1", "", 0, "", "", false}, ""}}, request);
  ASSERT_TRUE(made);
  EXPECT_TRUE(plan::validate(*made));
  const auto& script = std::get<plan::RunScript>(made->stages[0].steps[0].action).script;
  EXPECT_EQ(::sskj::testing::run_script(script).out, "a b|it's|$HOME|`id`|a\nb||");
}

TEST(Exec, Needs_a_command_and_a_host) {
  Request request;
  request.verb = "exec";
  EXPECT_FALSE(make_exec_plan({{"h1", {}, ""}}, request));
  request.command = {"true"};
  EXPECT_FALSE(make_exec_plan({}, request));
}

TEST(ForceStop, Needs_a_pattern) {
  Request request;
  request.verb = "stop";
  EXPECT_FALSE(make_force_stop_plan({{"h1", {}, ""}}, request));
  request.pattern = "kimi3_*_node*";
  const auto made = make_force_stop_plan({{"h1", {}, ""}}, request);
  ASSERT_TRUE(made);
  EXPECT_TRUE(plan::validate(*made));
}

}  // namespace
}  // namespace sskj::recipes
