// event_from_json: the inverse of event_to_json, over what a killed process, a full disk or another version leaves.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <random>

#include "sskj/run/event_json.hpp"
#include "unit/run/fixture.hpp"

namespace sskj::test {
namespace {

using nlohmann::json;

run::StepResult full_result(const plan::Step& step) {
  run::StepResult result;
  result.step = step.id;
  result.node = step.node;
  result.status = StepStatus::failed;
  result.error = Error{Errc::integrity, "bad \u00e9", "do this"};
  result.exit_status = 65;
  result.out = "the end of the output\n";
  result.out_dropped = 500;
  result.err = "warned\n";
  result.http = run::HttpResponse{503, "body", true, Millis{7}};
  result.findings = {{"gpu-idle", run::FindingStatus::fail, "n", "idle", "busy", "m", "h", Errc::locked}, {"disk", run::FindingStatus::not_applicable, "n", "", "", "", "", {}}};
  result.elapsed = Millis{1234};
  result.attempts = 2;
  result.expected = "exit status 0";
  result.got = "exit status 65";
  result.last_lines = {"x", "y \"z\""};
  return result;
}

/// One of each kind, every member set; the plan outlives them.
std::vector<run::Event> one_of_each(const plan::Plan& plan) {
  const plan::Stage& stage = plan.stages[0];
  const plan::Step& step = stage.steps[0];
  run::RunFinished finished;
  finished.code = ExitCode::unreachable;
  finished.all_codes = {ExitCode::step_failed, ExitCode::unreachable};
  finished.summary.hosts = {{"10.0.0.1", run::HostClass::ok}, {"10.0.0.2", run::HostClass::timed_out}};
  finished.elapsed = Millis{99'000};
  finished.interrupted = true;
  finished.died = true;
  return {run::RunStarted{&plan, {"20260101-000000-abcd", "digest", "2026-01-01T00:00:00Z"}, "/runs/x"},
          run::StageStarted{&stage, 1, 3, true, true},
          run::StepStarted{&step},
          run::StepOutput{&step, run::Stream::err, "a\tb\n", true},
          run::StepRetried{&step, "lost"},
          run::StepProgress{&step, "503"},
          run::PhaseReported{{"n", "w", "weights", 3, 9, true, "l", "c", "h"}},
          run::StepFinished{&step, full_result(step)},
          run::FindingReported{{"disk", run::FindingStatus::fail, "n", "10 GiB", "1 GiB", "m", "h", Errc::preflight}},
          run::ReportReady{{"status", R"({"state":"ready"})"}},
          run::StageFinished{&stage, true, true, Millis{5}, Error{Errc::timeout, "late", "wait"}},
          finished};
}

class EventRead : public testing::Test {
 protected:
  [[nodiscard]] run::Event read(std::string_view line) const {
    const auto got = run::event_from_json(line, index_);
    EXPECT_TRUE(got && *got) << line;
    return got && *got ? (*got)->event : run::Event();
  }
  [[nodiscard]] std::string fault(std::string_view line) const {
    const auto got = run::event_from_json(line, index_);
    EXPECT_FALSE(got) << line;
    return got ? std::string() : got.error().message;
  }
  plan::Plan plan_ = plan::sample_plan();
  run::PlanIndex index_{plan_};
};

TEST_F(EventRead, Is_the_inverse_for_every_kind) {
  const auto events = one_of_each(plan_);
  ASSERT_EQ(events.size(), std::variant_size_v<run::Event>);
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(events[i].index(), i) << "one of each";
    const std::string line = run::event_to_json(events[i], {"2026-01-01T00:00:00.123Z"});
    const auto got = run::event_from_json(line, index_);
    ASSERT_TRUE(got && *got) << line;
    EXPECT_EQ((*got)->event.index(), i);
    EXPECT_EQ((*got)->at, "2026-01-01T00:00:00.123Z");
    EXPECT_EQ(run::event_to_json((*got)->event, {(*got)->at}), line);
  }
}

TEST_F(EventRead, Points_into_the_plan_by_id) {
  const auto started = std::get<run::StepStarted>(read(R"({"event":"step_started","step":"watch.2"})"));
  EXPECT_EQ(started.step, &plan_.stages[1].watch[1]);
  EXPECT_EQ(std::get<run::StepStarted>(read(R"({"event":"step_started","step":"undo.1"})")).step, &plan_.stages[0].undo[0]);
  EXPECT_EQ(std::get<run::StageStarted>(read(R"({"event":"stage_started","stage":"unlock"})")).stage, &plan_.always[0]);
  EXPECT_EQ(std::get<run::StepFinished>(read(R"({"event":"step_finished","step":"of another plan"})")).step, nullptr);
  EXPECT_TRUE(index_.is_watch("watch.1"));
  EXPECT_FALSE(index_.is_watch("put.1"));
}

TEST_F(EventRead, Ignores_what_a_newer_version_adds) {
  const auto unknown = run::event_from_json(R"({"event":"moon_phase","step":7})", index_);
  ASSERT_TRUE(unknown) << unknown.error().message;
  EXPECT_FALSE(*unknown);
  const auto phase = std::get<run::PhaseReported>(read(R"({"event":"phase","phase":"weights","colour":[1,{"a":null}],"done":1,"total":2})"));
  EXPECT_EQ(phase.phase.name, "weights");
  EXPECT_EQ(phase.phase.total, 2U);
}

TEST_F(EventRead, Takes_an_unknown_word_for_the_most_doubtful_one) {
  EXPECT_EQ(std::get<run::StepFinished>(read(R"({"event":"step_finished","status":"splendid"})")).result.status, StepStatus::lost);
  EXPECT_EQ(std::get<run::FindingReported>(read(R"({"event":"finding","status":"fine"})")).finding.status, run::FindingStatus::unknown);
  EXPECT_EQ(std::get<run::RunFinished>(read(R"({"event":"run_finished","hosts":{"a":"great"}})")).summary.hosts.at("a"), run::HostClass::lost);
  EXPECT_EQ(std::get<run::RunFinished>(read(R"({"event":"run_finished"})")).code, ExitCode::internal) << "no code is no success";
  EXPECT_EQ(std::get<run::StageFinished>(read(R"({"event":"stage_finished","error":{"code":"new"}})")).error->code, Errc::internal);
}

TEST_F(EventRead, Says_why_a_line_is_no_event) {
  EXPECT_EQ(fault("{\"event\":\"phase\""), "not JSON");
  EXPECT_EQ(fault(""), "not JSON");
  EXPECT_EQ(fault(std::string(64, '\0')), "not JSON");
  EXPECT_EQ(fault("[1]"), "an object was expected, got array");
  EXPECT_EQ(fault("{}"), "it names no event");
  EXPECT_EQ(fault(R"({"event":7})"), "event: expected a string, got number");
  EXPECT_EQ(fault(R"({"event":"phase","done":-1})"), "done: expected a number in range, got number");
  EXPECT_EQ(fault(R"({"event":"phase","done":1.5})"), "done: expected a whole number, got number");
  EXPECT_EQ(fault(R"({"event":"phase","done":18446744073709551615})"), "done: expected a whole number, got number");
  EXPECT_EQ(fault(R"({"event":"run_finished","code":256})"), "code: expected a number in range, got number");
  EXPECT_EQ(fault(R"({"event":"run_finished","hosts":["a"]})"), "hosts: expected an object, got array");
  EXPECT_EQ(fault(R"({"event":"step_finished","last_lines":[1]})"), "last_lines: expected strings, got number");
  EXPECT_EQ(fault(R"({"event":"step_finished","findings":[1]})"), "findings: expected an object, got number");
  EXPECT_EQ(fault(R"({"event":"step_started","step":"a","at":1})"), "at: expected a string, got number");
  EXPECT_EQ(fault(R"({"event":"report","kind":"x","report":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}"), "it is nested too deeply");
}

// Every prefix of every line, and every line with one byte changed: an event, a fault or nothing known, never a crash, and a cut line is never an event.
TEST_F(EventRead, Survives_truncation_and_damage) {
  std::mt19937 random(20260101);
  for (const run::Event& event : one_of_each(plan_)) {
    const std::string line = run::event_to_json(event, {"2026-01-01T00:00:00.123Z"});
    for (std::size_t size = 0; size < line.size(); ++size) {
      EXPECT_FALSE(run::event_from_json(std::string_view(line).substr(0, size), index_)) << line.substr(0, size);
    }
    for (std::size_t at = 0; at < line.size(); ++at) {
      std::string damaged = line;
      damaged[at] = static_cast<char>(random() & 0xFFU);
      const auto got = run::event_from_json(damaged, index_);
      if (got && *got) {
        EXPECT_NO_THROW(run::event_to_json((*got)->event)) << damaged;
      }
    }
  }
}

TEST_F(EventRead, Keeps_a_report_that_was_no_json_as_the_text_it_was) {
  const auto broken = std::get<run::ReportReady>(read(run::event_to_json(run::ReportReady{{"status", "not json"}})));
  EXPECT_EQ(broken.report.json, "not json");
  EXPECT_EQ(std::get<run::ReportReady>(read(R"({"event":"report","kind":"x"})")).report.json, "");
}

}  // namespace
}  // namespace sskj::test
