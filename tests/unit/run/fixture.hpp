// What the executor's tests share: a plan of small steps, a fake, a log, and judges that read the output.
#pragma once

#include <gmock/gmock.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sskj/run/executor.hpp"
#include "support/event_log.hpp"
#include "support/strict_fake_transport.hpp"
#include "unit/plan/sample_plan.hpp"

namespace sskj::test {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using plan::Millis;
using run::StepStatus;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RunTest : public testing::Test {
 protected:
  RunTest() {
    plan_.verb = "test";
    drivers_.step_judges["says-ok"] = [](const plan::Step&, std::string_view, const run::StepResult& seen) {
      run::Verdict verdict;
      verdict.ok = seen.out.find("ok") != std::string::npos;
      if (!verdict.ok) verdict.findings.push_back({"says-ok", run::FindingStatus::fail, "", "ok", seen.out, "does not say ok", "say ok", Errc::preflight});
      return verdict;
    };
    drivers_.step_judges["http-200"] = [](const plan::Step&, std::string_view, const run::StepResult& seen) {
      run::Verdict verdict;
      verdict.ok = seen.http && seen.http->status == 200;
      verdict.again = !verdict.ok && (!seen.http || seen.http->status == 503);
      return verdict;
    };
    drivers_.line_matcher = [](const plan::Step&, std::string_view line) -> std::optional<run::Phase> {
      run::Phase phase;
      phase.name = std::string(line);
      phase.line = phase.name;
      phase.fatal = line.find("FATAL") != std::string_view::npos;
      if (phase.fatal) phase.cause = "out of memory", phase.hint = "use fewer";
      return phase;
    };
    drivers_.secret = [](const plan::SecretRef&) -> Result<std::string> { return std::string("hunter2!"); };
  }

  void nodes(std::initializer_list<const char*> ids) {
    for (const char* id : ids) {
      plan::Node node;
      node.id = id;
      node.ssh.host = id;
      plan_.nodes.push_back(node);
    }
  }

  plan::Stage& stage(std::string id, std::vector<plan::Step> steps) {
    plan::Stage stage;
    stage.id = std::move(id);
    stage.title = "stage " + stage.id;
    stage.steps = std::move(steps);
    plan_.stages.push_back(std::move(stage));
    return plan_.stages.back();
  }

  plan::Stage& always(std::string id, std::vector<plan::Step> steps) {
    plan::Stage stage;
    stage.id = std::move(id);
    stage.title = "stage " + stage.id;
    stage.steps = std::move(steps);
    plan_.always.push_back(std::move(stage));
    return plan_.always.back();
  }

  static plan::Step script(std::string id, std::string node, std::string text = "") { return plan::script_step(id, std::move(node), text.empty() ? id : text); }

  static plan::Step check(std::string id, std::string node) {
    plan::Step step = script(id, std::move(node));
    step.action = plan::CheckNode{id, {"says-ok", "{}"}};
    step.failure = Errc::preflight;
    return step;
  }

  static plan::Step poll(std::string id, std::string node, Millis deadline = 60s, Millis every = 2s) {
    plan::Step step = plan::http_step(std::move(id), std::move(node));
    auto& probe = std::get<plan::HttpProbe>(step.action);
    probe.method = "GET";
    probe.target = "/health";
    probe.body.clear();
    probe.bearer.reset();
    probe.poll_every = every;
    step.deadline = deadline;
    return step;
  }

  static plan::Step follow(std::string id, std::string node) {
    plan::Step step = script(id, std::move(node));
    step.action = plan::RunScript{.script = id, .mutates = false, .follow = true};
    step.deadline = Millis{0};
    step.failure = Errc::not_ready;
    return step;
  }

  void begin() {
    executor_ = std::make_unique<run::Executor>(plan_, fake_, log_, drivers_, limits_, run::RunVars{"run-1", "digest", "2026-01-01T00:00:00Z"});
    executor_->start([this](ExitCode code) {
      ++finishes_;
      code_ = code;
    });
  }

  ExitCode run_all() {
    begin();
    fake_.run_until_idle();
    EXPECT_EQ(finishes_, 1);
    EXPECT_EQ(fake_.running(), 0U);
    check_summary();
    return code_.value_or(ExitCode::internal);
  }

  /// Every node of the plan is in one class, whatever happened.
  void check_summary() {
    const auto* finished = log_.finished();
    ASSERT_NE(finished, nullptr);
    EXPECT_EQ(finished->summary.hosts.size(), plan_.nodes.size());
    for (const auto& node : plan_.nodes) EXPECT_TRUE(finished->summary.hosts.contains(node.id)) << node.id;
  }

  run::HostClass host(const std::string& node) { return log_.finished()->summary.hosts.at(node); }
  StepStatus status(std::string_view step) {
    const auto* result = log_.result(step);
    EXPECT_NE(result, nullptr) << step;
    return result == nullptr ? StepStatus::skipped : result->status;
  }
  const Error& error(std::string_view step) {
    static const Error k_none;
    const auto* result = log_.result(step);
    EXPECT_TRUE(result != nullptr && result->error) << step;
    return result != nullptr && result->error ? *result->error : k_none;
  }
  std::vector<std::string> scripts_of(std::string_view node) {
    std::vector<std::string> scripts;
    for (const auto& exec : fake_.sent_to(node)) scripts.push_back(exec.script);
    return scripts;
  }
  bool before(std::string_view first, std::string_view second) {
    EXPECT_LT(log_.position(first), log_.lines().size()) << first;
    EXPECT_LT(log_.position(second), log_.lines().size()) << second;
    return log_.position(first) < log_.position(second);
  }

  plan::Plan plan_;
  StrictFakeTransport fake_;
  EventLog log_;
  run::Drivers drivers_;
  run::Limits limits_;
  std::unique_ptr<run::Executor> executor_;
  std::optional<ExitCode> code_;
  int finishes_ = 0;
};

}  // namespace sskj::test
