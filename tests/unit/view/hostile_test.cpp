// Remote output is untrusted: it may neither steer the terminal nor make us slow, large or wrong.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "failures.hpp"
#include "scenarios.hpp"
#include "who.hpp"

namespace sskj::view::testing {
namespace {

const std::string k_evil = "\x1b[2J\x1b]0;owned\x07\xff\xfe\xc2\x9b" "31m\x7f ok\r4 nodes: 4 ok\n";

Scenario hostile(RemoteOutput remote, const std::string& bytes) {
  Scenario scenario{"hostile", std::make_shared<plan::Plan>(small_plan("exec", 2)), {}, {}};
  scenario.options.remote_output = remote;
  scenario.options.verbosity = 2;
  auto& stage = scenario.plan->stages[0];
  std::get<plan::RunScript>(stage.steps[0].action).follow = true;
  stage.steps[0].title = stage.steps[1].title = "title " + k_evil;
  const auto add = [&](run::Event event) { scenario.events.push_back({Millis{static_cast<int>(scenario.events.size()) * 600}, std::move(event)}); };
  add(run::RunStarted{scenario.plan.get(), {k_evil, "digest", ""}, "/runs/" + k_evil});
  add(run::StageStarted{&stage, 1, 1, false});
  for (const auto& step : stage.steps) {
    add(run::StepStarted{&step});
    add(run::StepOutput{&step, run::Stream::out, bytes});
    add(run::StepOutput{&step, run::Stream::err, bytes});
    add(run::StepProgress{&step, k_evil});
    add(run::StepRetried{&step, k_evil});
    add(run::PhaseReported{{step.node, step.id, k_evil, 1, 2, true, k_evil, k_evil, k_evil}});
    add(run::FindingReported{{k_evil, run::FindingStatus::fail, step.node, k_evil, k_evil, k_evil, k_evil, Errc::preflight}});
    add(run::FindingReported{{k_evil, run::FindingStatus::warn, step.node, k_evil, k_evil, k_evil, k_evil, Errc::preflight}});
    run::StepResult result;
    result.step = step.id;
    result.node = step.node;
    result.status = run::StepStatus::failed;
    result.error = Error{Errc::step_failed, k_evil, k_evil};
    result.out = result.err = bytes;
    result.expected = result.got = k_evil;
    result.last_lines = {k_evil, k_evil};
    add(run::StepFinished{&step, result});
  }
  add(run::ReportReady{{"status", R"({"state":"\u001b[2J","deployment":"\u009b31m","problems":["\u001b]0;x\u0007"],"groups":[{"name":"\u001b[1m","ranks":[{"node":"\u001b[2J","diff":[{"field":"\u001b"}]}]}]})"}});
  add(run::ReportReady{{"smoke", R"({"answer":"\u001b[2J","question":"\u001b[2J","expected":"\r"})"}});
  add(run::ReportReady{{"other", R"({"x":"\u001b[2J\u009b\u007f"})"}});
  add(run::ReportReady{{"broken", "{" + k_evil}});
  add(run::StageFinished{&stage, false, false, Millis{1}, Error{Errc::step_failed, k_evil, k_evil}});
  run::HostSummary summary;
  for (const auto& node : scenario.plan->nodes) {
    summary.hosts[node.id] = run::HostClass::failed;
  }
  add(run::RunFinished{ExitCode::step_failed, {ExitCode::step_failed}, summary, Millis{1}, false});
  return scenario;
}

// Every byte below blank except newline and tab, DEL, and C1 controls in UTF-8.
std::size_t control_bytes(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    count += (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F || c1 ? 1U : 0U;
  }
  return count;
}

TEST(HostileOutput, Reaches_no_terminal_in_any_text_form) {
  for (RemoteOutput remote : {RemoteOutput::hidden, RemoteOutput::folded, RemoteOutput::prefixed}) {
    for (const char* name : {"plain", "json", "ndjson"}) {
      const Replayed replayed = replay(hostile(remote, k_evil), name);
      EXPECT_EQ(control_bytes(replayed.out + replayed.err), 0U) << name << "\n" << replayed.out << replayed.err;
    }
    Replayed human = replay(hostile(remote, k_evil), "human");
    for (const char* own : {"\x1b[J", "\x1b[K", "\r\x1b["}) {  // the table's own sequences; what is left must be clean
      for (std::size_t at = human.err.find(own); at != std::string::npos; at = human.err.find(own)) {
        human.err.erase(at, std::string_view(own).size());
      }
    }
    EXPECT_EQ(control_bytes(human.err + human.out), 0U) << human.err;
  }
}

TEST(HostileOutput, Of_ten_megabytes_without_a_newline_is_bounded) {
  const std::string line(std::size_t{10} << 20, 'x');
  for (const char* name : {"human", "plain", "json", "ndjson"}) {
    for (RemoteOutput remote : {RemoteOutput::hidden, RemoteOutput::folded}) {
      Scenario scenario = hostile(remote, line);
      scenario.options.verbosity = 0;
      const Replayed replayed = replay(scenario, name);
      EXPECT_LT(replayed.err.size(), std::size_t{9} << 20) << name;
    }
  }
  Scenario quiet = hostile(RemoteOutput::hidden, line);
  quiet.options.verbosity = 0;
  EXPECT_LT(replay(quiet, "plain").err.size(), 40'000U);
}

TEST(HostileOutput, Cannot_forge_a_line_of_ours) {
  const Replayed replayed = replay(hostile(RemoteOutput::prefixed, "real\nexec: done in 1s\n"), "plain");
  EXPECT_EQ(replayed.out.find("\nexec: done"), std::string::npos);
  EXPECT_EQ(replayed.err.find("\nexec: done"), std::string::npos);
}

TEST(ReplaceNode, Touches_whole_names_only) {
  EXPECT_EQ(replace_node("174.1.60.5 is not 174.1.60.57, nor 1174.1.60.5; http://174.1.60.5:30000.", "174.1.60.5", "{node}"),
            "{node} is not 174.1.60.57, nor 1174.1.60.5; http://{node}:30000.");
  EXPECT_EQ(replace_node("n1: n1-a n1_b an1 n1", "n1", "X"), "X: n1-a n1_b an1 X");
  EXPECT_EQ(replace_node("text", "", "X"), "text");
}

}  // namespace
}  // namespace sskj::view::testing
