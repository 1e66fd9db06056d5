// Status: from what nodes say to state, report and exit category. The container is a recorded `docker inspect`.
#include <gtest/gtest.h>

#include <functional>

#include "fixture.hpp"
#include "judges.hpp"
#include "spec_json.hpp"

namespace sskj::recipes {
namespace {

using deploy::testing::read_file;
const std::string k_data = std::string(SSKJ_SOURCE_DIR) + "/tests/data/inspect/";
constexpr const char* k_image_id = "sha256:3e78dd8e3b160ba4275c94aa5b2c30b5cd6e507cb224948452de79ec03031fda";

class StatusReport : public ::testing::Test {
 protected:
  StatusReport() {
    auto built = deploy::testing::build_file(k_data + "profile.env");
    deployment_ = std::move(built.deployment);
    auto& group = deployment_.groups.at(0);
    recorded_ = group.ranks.at(1).spec;
    const auto first = group.ranks.at(0).spec.name;
    group.ranks.at(0).spec = recorded_;
    group.ranks.at(0).spec.name = first;
    Request request;
    request.verb = "status";
    plan_ = *make_plan(request, deployment_);
    const auto inspect = Json::parse(read_file(k_data + "container.json").value()).at(0);
    for (const auto& step : plan_.stages[0].steps) {
      run::StepResult result;
      result.step = step.id;
      result.node = step.node;
      result.status = run::StepStatus::ok;
      if (std::holds_alternative<plan::HttpProbe>(step.action)) {
        result.http = run::HttpResponse{200, "", false, plan::Millis{900}};
        health_.push_back(results_.size());
      } else {
        result.exit_status = 0;
        nodes_.push_back(results_.size());
      }
      results_.push_back(std::move(result));
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) say(i, inspect);
  }

  /// Node i holds a container like the recorded one, under its own rank's name and specification.
  void say(std::size_t i, Json inspect) {
    inspect["Name"] = "/" + name(i);
    inspect["State"] = inspect.value("State", Json::object());
    if (!inspect["State"].contains("Status") || inspect["State"]["Status"] != "exited") inspect["State"]["Status"] = "running";
    inspects_.resize(nodes_.size());
    inspects_[i] = inspect;
    results_[nodes_[i]].out = "docker 28.2.2\ninspect " + name(i) + " " + inspect.dump() + "\nimage " + recorded_.image + " " + k_image_id + " " +
                              Json::parse(read_file(k_data + "image_env.json").value()).dump() + "\nend\n";
  }
  void change(std::size_t i, const std::function<void(Json&)>& edit) {
    auto inspect = inspects_[i];
    edit(inspect);
    say(i, inspect);
  }
  void absent(std::size_t i) { results_[nodes_[i]].out = "docker 28.2.2\nabsent " + name(i) + "\nend\n"; }
  void not_asked(std::size_t i) {
    auto& result = results_[nodes_[i]];
    result.out.clear();
    result.exit_status.reset();
    result.status = run::StepStatus::not_run;
    result.error = Error{Errc::unreachable, result.node + ": no route to host", ""};
    health(i, std::nullopt, Errc::unreachable);
  }
  void health(std::size_t i, std::optional<int> status, Errc code = Errc::not_ready, plan::Millis elapsed = plan::Millis{10}) {
    auto& result = results_[health_[i]];
    result.http.reset();
    result.error.reset();
    if (status) {
      result.http = run::HttpResponse{*status, "", false, elapsed};
    } else {
      result.error = Error{code, "x", ""};
    }
  }
  const std::string& name(std::size_t i) const { return deployment_.groups[0].ranks[i].spec.name; }

  NodeOutputs outputs() const {
    NodeOutputs all;
    for (const auto& result : results_) all.push_back({result.node, &result});
    return all;
  }
  run::Verdict judge() const { return report_status(plan_.stages[0], plan_.stages[0].verdict->expectation, outputs()); }
  Json report() const { return Json::parse(judge().reports.at(0).json); }
  std::string state() const { return report()["state"]; }
  run::Verdict ensure() const { return judge_must_start(plan_.stages[0], plan_.stages[0].verdict->expectation, outputs()); }

  deploy::Deployment deployment_;
  deploy::ContainerSpec recorded_;
  plan::Plan plan_;
  std::vector<run::StepResult> results_;
  std::vector<std::size_t> nodes_, health_;
  std::vector<Json> inspects_;
};

TEST_F(StatusReport, All_running_and_healthy_is_ready_and_the_only_ok) {
  EXPECT_EQ(state(), "ready") << report().dump(1);
  EXPECT_TRUE(judge().ok);
}

TEST_F(StatusReport, The_report_has_the_documented_fields) {
  const auto document = report();
  for (const auto* key : {"schema_version", "deployment", "state", "endpoint", "groups", "lock", "problems"}) EXPECT_TRUE(document.contains(key)) << key;
  EXPECT_EQ(document["schema_version"], 1);
  EXPECT_TRUE(document["lock"].is_null());
  const auto& rank = document["groups"][0]["ranks"][1];
  for (const auto* key : {"rank", "node", "container", "state", "id", "exit_code", "restarts", "started_at", "image_id", "run", "plan", "health", "http_status", "diff"}) {
    EXPECT_TRUE(rank.contains(key)) << key;
  }
  EXPECT_EQ(rank["state"], "running");
  EXPECT_EQ(rank["health"], "ok");
  EXPECT_EQ(rank["http_status"], 200);
  EXPECT_EQ(rank["diff"], Json::array()) << rank["diff"].dump(1);
}

TEST_F(StatusReport, Nothing_there_is_absent) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    absent(i);
    health(i, std::nullopt);
  }
  EXPECT_EQ(state(), "absent");
  EXPECT_EQ(judge().error->code, Errc::not_ready);
}

TEST_F(StatusReport, Refused_and_quick_503_are_starting) {
  health(0, 503);
  health(1, std::nullopt);
  EXPECT_EQ(state(), "starting");
  EXPECT_EQ(report()["groups"][0]["ranks"][0]["health"], "starting");
  EXPECT_EQ(report()["groups"][0]["ranks"][1]["health"], "refused");
}

TEST_F(StatusReport, A_slow_503_and_silence_are_degraded) {
  health(0, 503, {}, plan::Millis{20'100});
  EXPECT_EQ(state(), "degraded");
  EXPECT_EQ(report()["groups"][0]["ranks"][0]["health"], "failing");
  health(0, std::nullopt, Errc::timeout);
  EXPECT_EQ(state(), "degraded");
  EXPECT_EQ(report()["groups"][0]["ranks"][0]["health"], "unknown");
}

TEST_F(StatusReport, A_missing_exited_or_restarted_rank_is_failed) {
  absent(1);
  EXPECT_EQ(state(), "failed");
  say(1, inspects_[1]);
  EXPECT_EQ(state(), "ready");
  change(1, [](Json& inspect) { inspect["State"] = {{"Status", "exited"}, {"ExitCode", 137}}; });
  EXPECT_EQ(state(), "failed");
  EXPECT_EQ(report()["groups"][0]["ranks"][1]["exit_code"], 137);
  change(1, [](Json& inspect) {
    inspect["State"] = {{"Status", "running"}};
    inspect["RestartCount"] = 1;
  });
  EXPECT_EQ(state(), "failed");
}

TEST_F(StatusReport, A_node_that_could_not_be_asked_is_unknown_with_its_own_category) {
  not_asked(1);
  EXPECT_EQ(state(), "unknown");
  EXPECT_EQ(judge().error->code, Errc::unreachable);
  EXPECT_NE(report()["problems"].dump().find("no route to host"), std::string::npos);
}

TEST_F(StatusReport, A_docker_that_does_not_answer_is_unknown_but_the_node_was_asked) {
  results_[nodes_[1]].out = "nodocker Cannot connect to the Docker daemon\nunclear " + name(1) + " Cannot connect\nend\n";
  EXPECT_EQ(state(), "unknown");
  EXPECT_EQ(judge().error->code, Errc::not_ready);
}

TEST_F(StatusReport, Output_that_is_cut_off_is_never_ready) {
  const auto whole = results_[nodes_[1]].out;
  for (std::size_t length = 0; length < whole.size() - 4; length += 97) {
    results_[nodes_[1]].out = whole.substr(0, length);
    EXPECT_NE(state(), "ready") << length;
  }
}

TEST_F(StatusReport, A_health_answer_without_a_running_container_counts_for_nothing) {
  absent(0);
  EXPECT_EQ(report()["groups"][0]["ranks"][0]["health"], "unknown");
}

TEST_F(StatusReport, The_lock_holder_is_shown) {
  results_[nodes_[0]].out.insert(0, "lock run=r1\nlock verb=start\nlock owner=root\nlock age=3\n");
  EXPECT_EQ(report()["lock"]["run"], "r1");
  EXPECT_EQ(report()["lock"]["nodes"].size(), 1U);
}

TEST_F(StatusReport, Drift_is_listed_per_field) {
  change(1, [](Json& inspect) { inspect["Config"]["Cmd"].push_back("--another"); });
  EXPECT_EQ(state(), "ready");
  EXPECT_FALSE(report()["groups"][0]["ranks"][1]["diff"].empty());
}

TEST_F(StatusReport, Hostile_text_stays_inside_the_json) {
  change(1, [](Json& inspect) { inspect["Config"]["Labels"]["sskj.run"] = "\x1b[2J\"}"; });
  EXPECT_EQ(report()["groups"][0]["ranks"][1]["run"], "\x1b[2J\"}");
}

TEST_F(StatusReport, Ensure_keeps_what_is_as_wanted_even_when_it_is_not_healthy) {
  EXPECT_FALSE(ensure().ok);
  health(0, 503, {}, plan::Millis{20'100});
  EXPECT_FALSE(ensure().ok);
}

TEST_F(StatusReport, Ensure_starts_when_a_rank_is_missing_or_differs_and_never_on_doubt) {
  change(1, [](Json& inspect) { inspect["Config"]["Cmd"].push_back("--another"); });
  EXPECT_TRUE(ensure().ok);
  absent(1);
  EXPECT_TRUE(ensure().ok);
  not_asked(0);
  EXPECT_FALSE(ensure().ok);
  EXPECT_EQ(ensure().error->code, Errc::unreachable);
}

TEST(SpecJson, Round_trip_is_the_identity) {
  const auto deployment = testing::shipped();
  for (const auto& rank : deployment.groups[0].ranks) {
    const auto back = spec_from_json(Json::parse(spec_to_json(rank.spec).dump()));
    ASSERT_TRUE(back);
    EXPECT_TRUE(*back == rank.spec);
  }
  EXPECT_FALSE(spec_from_json(Json::object()));
  EXPECT_FALSE(spec_from_json(Json("x")));
}

}  // namespace
}  // namespace sskj::recipes
