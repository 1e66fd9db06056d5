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

// The work of a run by what became of it. A stage that was skipped before the run was cut short was not needed; one after it was not begun.
struct Work {
  std::vector<std::string> done, cut, not_done, undone, not_undone, closed, not_closed;
};

Work work_of(const Model& model) {
  Work work;
  const auto ran = [](const StageRecord& stage) { return !stage.undo && !stage.always && !stage.skipped; };
  const auto last = std::find_if(model.stages.rbegin(), model.stages.rend(), ran);
  const std::size_t begun = static_cast<std::size_t>(model.stages.rend() - last);
  for (std::size_t i = 0; i < model.stages.size(); ++i) {
    const StageRecord& stage = model.stages[i];
    const bool ok = stage.finished && stage.ok;
    if (stage.undo) {
      (ok ? work.undone : work.not_undone).push_back(stage.title);
    } else if (stage.always) {
      (ok ? work.closed : work.not_closed).push_back(stage.title);
    } else if (!stage.skipped) {
      (ok ? work.done : work.cut).push_back(stage.title);
    } else if (i >= begun && !stage.branch) {
      work.not_done.push_back(stage.title);
    }
  }
  return work;
}

std::string titles_text(std::string_view label, const std::vector<std::string>& titles) {
  std::string list;
  for (const std::string& title : titles) {
    list += (list.empty() ? "" : "; ") + text::printable(title);
  }
  return list.empty() ? list : fmt::format("{}: {}\n", label, list);
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

std::string counts_text(const HostCounts& counts, bool interrupted) {
  std::string result = fmt::format("{}: {} ok", counted(counts.total, "node"), counts.ok);
  for (const ClassRow& row : k_classes) {
    if (row.host != HostClass::ok && counts.*row.count > 0) {
      const bool unfinished = interrupted && row.host == HostClass::skipped;
      result += fmt::format(", {} {}", counts.*row.count, unfinished ? "not finished" : row.word);
    }
  }
  return result;
}

std::string state_text(const Model& model) {
  if (!model.finished || !model.finished->interrupted) {
    return {};
  }
  const Work work = work_of(model);
  const std::size_t total = work.done.size() + work.cut.size() + work.not_done.size();
  const std::string done = work.done.empty() ? "done: nothing\n" : titles_text(fmt::format("done, {} of {}", work.done.size(), counted(total, "stage")), work.done);
  return done + titles_text("cut short", work.cut) + titles_text("not done", work.not_done) + titles_text("taken back", work.undone) + titles_text("not taken back", work.not_undone) +
         titles_text("at the end", work.closed) + titles_text("not done at the end", work.not_closed);
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
  const std::string counts = counts_text(count_hosts(model), finished.interrupted);
  const std::string elapsed = clock_text(finished.elapsed.count());
  const std::string verb = text::printable(model.verb);
  if (finished.code == ExitCode::done) {
    return fmt::format("{}: {} · {}", verb, paint(Tone::good, fmt::format("done in {}", elapsed), color), counts);
  }
  const std::string outcome = fmt::format("{} (exit {})", finished.died ? "died" : outcome_word(finished.code, options), static_cast<int>(finished.code));
  return fmt::format("{}: {} · {} · after {}", verb, paint(Tone::bad, outcome, color), counts, elapsed);
}

std::string ending(const Model& model, const Options& options, bool color) {
  const bool quiet = options.verbosity < 0;
  const bool said = options.remote_output == RemoteOutput::prefixed;  // a stream may never end: there they are said when they come
  std::string result = quiet || said ? "" : remarks_text(model.findings, color);
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
  result += state_text(model);
  if (model.finished && model.finished->interrupted && !options.resume.empty()) {
    result += fmt::format("to go on: {}\n", text::printable(options.resume));
  }
  return result + summary_line(model, options, color) + "\n";
}

}  // namespace sskj::view
