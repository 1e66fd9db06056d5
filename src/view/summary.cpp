#include "summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "columns.hpp"
#include "failures.hpp"
#include "sskj/core/nodeset.hpp"
#include "sskj/core/text.hpp"

namespace sskj::view {

namespace {

using run::HostClass;

struct ClassRow {
  HostClass host;
  std::string_view word;
  std::size_t HostCounts::*count;
};

// table: one row per class of host
constexpr std::array k_classes{ClassRow{HostClass::ok, "ok", &HostCounts::ok},
                               ClassRow{HostClass::failed, "failed", &HostCounts::failed},
                               ClassRow{HostClass::unreachable, "unreachable", &HostCounts::unreachable},
                               ClassRow{HostClass::timed_out, "timed out", &HostCounts::timed_out},
                               ClassRow{HostClass::lost, "lost", &HostCounts::lost},
                               ClassRow{HostClass::skipped, "skipped", &HostCounts::skipped}};

struct MilestoneRow {
  std::string_view word;
  std::array<std::string_view, 2> stages;  ///< ids of the stages that establish it, all of them; "" = none
};

// table: stages whose end makes one of the three words true (recipes/stage_run.cpp, stage_ask.cpp)
constexpr std::array k_milestones{MilestoneRow{"ready", {"ready", "running"}}, MilestoneRow{"warm", {"warm", ""}}, MilestoneRow{"correct", {"smoke", ""}}};

// A stage of a deployment with several groups is "ready" or "ready.<group>".
bool is_milestone(const StageRecord& stage, const MilestoneRow& row) {
  return !stage.undo && std::any_of(row.stages.begin(), row.stages.end(), [&](std::string_view id) {
    return !id.empty() && (stage.id == id || (stage.id.starts_with(id) && stage.id.size() > id.size() && stage.id[id.size()] == '.'));
  });
}

std::string milestone_text(const Model& model, const MilestoneRow& row) {
  bool seen = false;
  bool unknown = false;
  for (const StageRecord& stage : model.stages) {
    if (!is_milestone(stage, row)) {
      continue;
    }
    seen = true;
    if (stage.finished && !stage.skipped && !stage.ok) {
      return fmt::format("not {}", row.word);
    }
    unknown = unknown || !stage.finished || stage.skipped;
  }
  return seen && !unknown ? std::string(row.word) : fmt::format("{} not checked", row.word);
}

// How far each engine had come: the first thing to know of a start that did not end well.
std::string phases_text(const Model& model) {
  std::vector<std::pair<std::string, std::vector<std::string>>> phases;
  for (const NodeState& node : model.nodes) {
    if (node.phase.empty()) {
      continue;
    }
    const std::string phase = node.phase + (node.total > 0 ? fmt::format(" {}/{}", node.done, node.total) : std::string{});
    const auto at = std::find_if(phases.begin(), phases.end(), [&](const auto& entry) { return entry.first == phase; });
    (at == phases.end() ? phases.emplace_back(phase, std::vector<std::string>{}) : *at).second.push_back(node.id);
  }
  std::string result;
  for (const auto& [phase, nodes] : phases) {
    result += fmt::format("{}{} {}", result.empty() ? "phases: " : "; ", text::printable(nodeset::fold(nodes)), phase);
  }
  return result.empty() ? result : result + "\n";
}

// A question that was answered with no is not a failed run.
std::string outcome_word(ExitCode code, const Options& options) {
  switch (code) {
    case ExitCode::interrupted:
    case ExitCode::terminated: return "interrupted";
    case ExitCode::drift: return "changes found";
    case ExitCode::not_ready: return options.answer.empty() ? "failed" : "not ready";
    case ExitCode::wrong_answer: return options.answer.empty() ? "failed" : "wrong answer";
    default: return "failed";
  }
}

}  // namespace

HostCounts count_hosts(const Model& model) {
  HostCounts counts;
  for (const auto& [id, host] : final_classes(model)) {
    const auto row = std::find_if(k_classes.begin(), k_classes.end(), [host = host](const ClassRow& entry) { return entry.host == host; });
    ++(counts.*(row == k_classes.end() ? &HostCounts::lost : row->count));
    ++counts.total;
  }
  return counts;
}

std::string counts_text(const HostCounts& counts) {
  std::string result = fmt::format("{}: {} ok", counted(counts.total, "node"), counts.ok);
  for (const ClassRow& row : k_classes) {
    if (row.host != HostClass::ok && counts.*row.count > 0) {
      result += fmt::format(", {} {}", counts.*row.count, row.word);
    }
  }
  return result;
}

std::string milestones_text(const Model& model) {
  const auto planned = [&](const MilestoneRow& row) {
    return std::any_of(model.stages.begin(), model.stages.end(), [&](const StageRecord& stage) { return is_milestone(stage, row); });
  };
  if (!planned(k_milestones.front())) {
    return {};
  }
  std::string result;
  for (const MilestoneRow& row : k_milestones) {
    result += (result.empty() ? "service: " : ", ") + milestone_text(model, row);
  }
  return result;
}

std::string summary_line(const Model& model, const Options& options, bool color) {
  const run::RunFinished finished = model.finished.value_or(run::RunFinished{});
  const std::string counts = counts_text(count_hosts(model));
  const std::string elapsed = clock_text(finished.elapsed.count());
  const std::string verb = text::printable(model.verb);
  if (finished.code == ExitCode::done) {
    return fmt::format("{}: {} · {}", verb, paint(Tone::good, fmt::format("done in {}", elapsed), color), counts);
  }
  const std::string outcome = fmt::format("{} (exit {})", outcome_word(finished.code, options), static_cast<int>(finished.code));
  return fmt::format("{}: {} · {} · after {}", verb, paint(Tone::bad, outcome, color), counts, elapsed);
}

std::string ending(const Model& model, const Options& options, bool color) {
  const bool quiet = options.verbosity < 0;
  std::string result = quiet ? "" : remarks_text(model, color);
  const std::string failures = failures_text(model, options, color);
  result += failures;
  if (!failures.empty() && !model.directory.empty()) {
    result += fmt::format("full output: {}\n", text::printable(model.directory));
  }
  if (!failures.empty()) {
    result += phases_text(model);
  }
  const std::string milestones = quiet ? "" : milestones_text(model);
  if (!milestones.empty()) {
    result += milestones + "\n";
  }
  if (model.finished && model.finished->interrupted && !options.resume.empty()) {
    result += fmt::format("to go on: {}\n", text::printable(options.resume));
  }
  return result + summary_line(model, options, color) + "\n";
}

}  // namespace sskj::view
