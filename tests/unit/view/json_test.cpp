// The JSON document of any run parses and its counts add up.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "scenarios.hpp"

namespace sskj::view::testing {
namespace {

using nlohmann::json;

std::string random_bytes(std::mt19937& random, std::size_t size) {
  std::string bytes(size, ' ');
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random() & 0xFFU); });
  return bytes;
}

run::StepResult random_result(std::mt19937& random, const plan::Step& step) {
  run::StepResult result;
  result.step = step.id;
  result.node = step.node;
  result.status = static_cast<run::StepStatus>(random() % 9);
  result.out = random_bytes(random, random() % 200);
  result.err = random_bytes(random, random() % 200);
  if (random() % 2 == 0) {
    result.error = Error{static_cast<Errc>(random() % 16), random_bytes(random, 40), random_bytes(random, 20)};
  }
  if (random() % 3 == 0) {
    result.findings.push_back({"check", static_cast<run::FindingStatus>(random() % 5), step.node, "e", random_bytes(random, 9), random_bytes(random, 9), "", Errc::preflight});
  }
  return result;
}

// Any order of events, sensible or not: the renderer must neither fail nor lie.
std::vector<run::Event> random_events(std::mt19937& random, const plan::Plan& plan) {
  std::vector<run::Event> events{run::RunStarted{&plan, {"run", "digest", "since"}, "/runs/x"}};
  for (std::size_t i = 0, count = random() % 60; i < count; ++i) {
    const plan::Stage& stage = plan.stages[random() % plan.stages.size()];
    const plan::Step& step = stage.steps[random() % stage.steps.size()];
    switch (random() % 10) {
      case 0: events.emplace_back(run::StageStarted{&stage, random() % 6, 6, random() % 5 == 0}); break;
      case 1: events.emplace_back(run::StepStarted{&step}); break;
      case 2: events.emplace_back(run::StepOutput{&step, random() % 2 == 0 ? run::Stream::out : run::Stream::err, random_bytes(random, random() % 99)}); break;
      case 3: events.emplace_back(run::StepRetried{&step, random_bytes(random, 9)}); break;
      case 4: events.emplace_back(run::StepProgress{&step, random_bytes(random, 9)}); break;
      case 5: events.emplace_back(run::PhaseReported{{step.node, step.id, random_bytes(random, 5), random() % 9, random() % 9, random() % 9 == 0, "l", "c", "h"}}); break;
      case 6: events.emplace_back(run::FindingReported{{"c", static_cast<run::FindingStatus>(random() % 5), step.node, "e", "g", random_bytes(random, 9), "", Errc::preflight}}); break;
      case 7: events.emplace_back(run::ReportReady{{random() % 2 == 0 ? "status" : "smoke", random() % 4 == 0 ? "{broken" : R"({"state":"ready","x":1})"}}); break;
      case 8: events.emplace_back(run::StageFinished{&stage, random() % 2 == 0, random() % 3 == 0, Millis{5}, {}}); break;
      default: events.emplace_back(run::StepFinished{&step, random_result(random, step)}); break;
    }
  }
  run::HostSummary summary;
  for (const auto& node : plan.nodes) {
    if (random() % 4 != 0) {  // an executor that forgets a node must not make it ok
      summary.hosts[node.id] = static_cast<run::HostClass>(random() % 6);
    }
  }
  const auto codes = all_exit_codes();
  const ExitCode code = codes[random() % codes.size()];
  events.emplace_back(run::RunFinished{code, {code}, summary, Millis{1234}, random() % 2 == 0});
  return events;
}

TEST(JsonDocument, Parses_and_adds_up_for_any_event_stream) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    Scenario scenario{"random", std::make_shared<plan::Plan>(small_plan("start", 1 + random() % 9)), {}, {}};
    scenario.options.answer = random() % 2 == 0 ? "status" : "";
    scenario.options.remote_output = static_cast<RemoteOutput>(random() % 3);
    scenario.options.verbosity = static_cast<int>(random() % 4) - 1;
    Millis at{0};
    for (run::Event& event : random_events(random, *scenario.plan)) {
      scenario.events.push_back({at += Millis{static_cast<int>(random() % 900)}, std::move(event)});
    }
    const auto& finished = std::get<run::RunFinished>(scenario.events.back().event);
    const Replayed replayed = replay(scenario, "json");
    const std::size_t start = replayed.out.find("{\n");  // streamed lines may come first
    ASSERT_NE(start, std::string::npos);
    const json document = json::parse(replayed.out.substr(replayed.out.rfind("{\n  \"schema_version\"")), nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << "seed " << seed << "\n" << replayed.out;
    const json& hosts = document["hosts"];
    std::size_t sum = 0;
    for (const auto& [key, value] : hosts.items()) {
      sum += key == "total" ? 0 : value.get<std::size_t>();
    }
    EXPECT_EQ(sum, hosts["total"].get<std::size_t>());
    EXPECT_EQ(hosts["total"], document["nodes"].size());
    EXPECT_EQ(document["exit_code"], static_cast<int>(finished.code));
    for (const auto& node : scenario.plan->nodes) {
      if (!finished.summary.hosts.contains(node.id)) {
        EXPECT_NE(document["nodes"][node.id]["class"], "ok") << "a node without a class is never ok";
      }
    }
    for (const char* name : {"human", "plain"}) {
      const Replayed text = replay(scenario, name);
      const std::string counts = std::to_string(hosts["total"].get<std::size_t>()) + (hosts["total"] == 1 ? " node: " : " nodes: ") + hosts["ok"].dump() + " ok";
      EXPECT_NE(text.err.find(counts), std::string::npos) << "seed " << seed << " " << name << "\n" << text.err;
    }
    const Replayed plain = replay(scenario, "plain");
    EXPECT_EQ((plain.out + plain.err).find_first_of("\x1b\r"), std::string::npos) << "seed " << seed;
  }
}

TEST(JsonDocument, Puts_the_report_of_a_question_on_top_and_others_under_report) {
  for (const Scenario& scenario : scenarios()) {
    const json document = json::parse(replay(scenario, "json").out);
    if (scenario.name == "status_degraded") {
      EXPECT_EQ(document["state"], "degraded");
      EXPECT_EQ(document["groups"][0]["ranks"].size(), 4U);
      EXPECT_EQ(document["exit_code"], 5);
      EXPECT_EQ(document["exit_codes"], json::array({4, 5}));
    } else if (scenario.name == "start_done") {
      EXPECT_EQ(document["report"]["smoke"]["correct"], true);
      EXPECT_FALSE(document.contains("correct"));
    }
  }
}

TEST(JsonDocument, Gives_output_and_status_per_node_for_exec) {
  const json document = json::parse(replay(exec_folded(), "json").out);
  EXPECT_EQ(document["nodes"]["174.1.60.5"]["stdout"], "same\nsec\tond");
  EXPECT_EQ(document["nodes"]["174.1.60.5"]["exit_status"], 0);
  EXPECT_EQ(document["nodes"]["174.1.60.8"]["stderr"], "warning: 100%\rwarning: odd\r\n");
  EXPECT_EQ(document["nodes"]["174.1.60.9"]["exit_status"], 7);
}

}  // namespace
}  // namespace sskj::view::testing
