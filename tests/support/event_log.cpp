#include "support/event_log.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sskj::test {
namespace {

struct Line {
  std::string operator()(const run::RunStarted&) const { return "run"; }
  std::string operator()(const run::StageStarted& e) const { return fmt::format("{} {}", e.undo ? "undo" : e.always ? "always" : "stage", e.stage->id); }
  std::string operator()(const run::StepStarted& e) const { return "step " + e.step->id; }
  std::string operator()(const run::StepOutput& e) const { return fmt::format("{} output", e.step->id); }
  std::string operator()(const run::StepRetried& e) const { return fmt::format("{} retried: {}", e.step->id, e.reason); }
  std::string operator()(const run::StepProgress& e) const { return fmt::format("{} progress: {}", e.step->id, e.text); }
  std::string operator()(const run::PhaseReported& e) const { return fmt::format("{} phase {}", e.phase.step, e.phase.name); }
  std::string operator()(const run::StepFinished& e) const { return fmt::format("{} {}", e.result.step, to_string(e.result.status)); }
  std::string operator()(const run::FindingReported& e) const { return fmt::format("finding {} {} {}", e.finding.check, e.finding.node, to_string(e.finding.status)); }
  std::string operator()(const run::ReportReady& e) const { return "report " + e.report.kind; }
  std::string operator()(const run::StageFinished& e) const { return fmt::format("stage {} {}", e.stage->id, e.skipped ? "skipped" : e.ok ? "ok" : "failed"); }
  std::string operator()(const run::RunFinished& e) const { return fmt::format("run {}", static_cast<int>(e.code)); }
};

}  // namespace

void EventLog::on(const run::Event& event) {
  events_.push_back(event);
  lines_.push_back(std::visit(Line{}, event));
}

const run::StepResult* EventLog::result(std::string_view step) const {
  for (const auto* event : all<run::StepFinished>()) {
    if (event->result.step == step) return &event->result;
  }
  return nullptr;
}

const run::StageFinished* EventLog::stage(std::string_view id) const {
  const auto stages = all<run::StageFinished>();
  const auto found = std::find_if(stages.begin(), stages.end(), [&](const auto* event) { return event->stage->id == id; });
  return found == stages.end() ? nullptr : *found;
}

const run::RunFinished* EventLog::finished() const {
  const auto all_finished = all<run::RunFinished>();
  return all_finished.empty() ? nullptr : all_finished.front();
}

std::size_t EventLog::position(std::string_view line) const {
  return static_cast<std::size_t>(std::find(lines_.begin(), lines_.end(), line) - lines_.begin());
}

}  // namespace sskj::test
