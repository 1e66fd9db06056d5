#include "model.hpp"

#include <algorithm>
#include <variant>

#include "columns.hpp"
#include "failures.hpp"
#include "sskj/core/text.hpp"

namespace sskj::view {

namespace {

using run::HostClass;
using run::StepStatus;

void keep(std::string& text, std::size_t& dropped, std::string_view bytes) {
  const std::size_t room = k_max_text - std::min(k_max_text, text.size());
  text.append(bytes.substr(0, room));
  dropped += bytes.size() - std::min(room, bytes.size());
}

NodeState& node_of(Model& model, const std::string& id) {
  const auto [at, added] = model.index.try_emplace(id, model.nodes.size());
  if (added) {
    model.nodes.emplace_back().id = id;
  }
  return model.nodes[at->second];
}

struct Applier {
  Model& model;
  const Options& options;

  void operator()(const run::RunStarted& event) const {
    model.run = event.vars.run;
    model.plan = event.vars.plan;
    model.directory = event.directory;
    model.started = model.now;
    if (event.plan != nullptr) {
      model.verb = event.plan->verb;
      model.deployment = event.plan->deployment;
      for (const auto& node : event.plan->nodes) {
        node_of(model, node.id).since = model.now;
      }
    }
  }

  void operator()(const run::StageStarted& event) const {
    StageRecord& stage = model.stages.emplace_back();
    stage.number = event.number;
    stage.count = event.count;
    stage.undo = event.undo;
    stage.always = event.always;
    stage.started = model.now;
    if (event.stage != nullptr) {
      stage.tolerated = event.stage->on_failure == plan::OnFailure::tolerate;
      stage.id = event.stage->id;
      stage.title = event.stage->title.empty() ? event.stage->id : event.stage->title;
      for (const auto& step : event.stage->watch) {
        model.watch_steps.insert(step.id);
      }
    }
  }

  void operator()(const run::StepStarted& event) const {
    if (event.step == nullptr) {
      return;
    }
    NodeState& node = node_of(model, event.step->node);
    if (model.watch_steps.contains(event.step->id)) {
      return;  // what a followed log says is shown as phases
    }
    node.running.insert(event.step->id);
    node.busy = true;
    node.cancelled = false;
    node.since = model.now;
    node.activity = text::printable(event.step->title);
    node.detail.clear();
    node.done = node.total = 0;
  }

  void operator()(const run::StepOutput& event) const {
    if (event.step == nullptr) {
      return;
    }
    if (is_answer(model, options, *event.step) && options.remote_output == RemoteOutput::folded) {
      NodeText& text = model.texts[event.step->node];
      text.streamed = true;
      const bool out = event.stream == run::Stream::out;
      keep(out ? text.out : text.err, out ? text.out_dropped : text.err_dropped, event.bytes);
    }
  }

  void operator()(const run::StepRetried& event) const {
    if (event.step != nullptr) {
      node_of(model, event.step->node).detail = text::printable("again: " + event.reason);
    }
  }

  void operator()(const run::StepProgress& event) const {
    if (event.step != nullptr) {
      node_of(model, event.step->node).detail = text::printable(event.text);
    }
  }

  void operator()(const run::PhaseReported& event) const {
    const run::Phase& phase = event.phase;
    NodeState& node = node_of(model, phase.node);
    if (node.phase != phase.name) {
      node.since = model.now;
    }
    node.phase = node.activity = text::printable(phase.name);
    node.detail.clear();
    node.done = phase.done;
    node.total = phase.total;
    node.busy = true;
    if (phase.fatal) {
      node.failed = node.activity;
      Failure failure{stage_title(), node.activity, phase.node, "FAILED", phase.cause, {}, {}, phase.hint, {}, {}};
      if (failure.message.empty()) {
        failure.message = "the log shows a fatal error in phase " + phase.name;
      }
      failure.tail.push_back(remote_line(phase.line, 300));
      model.failures.push_back(std::move(failure));
    }
  }

  void operator()(const run::StepFinished& event) const {
    if (event.step == nullptr) {
      return;
    }
    const bool watch = model.watch_steps.contains(event.step->id);
    const StageRecord* stage = current_stage(model);
    StepRecord record{stage == nullptr ? "" : stage->id, event.step->title, event.result, watch, event.step->on_failure == plan::OnFailure::tolerate,
                      stage != nullptr && stage->undo};
    record.tolerated = record.tolerated || tolerating();
    NodeState& node = node_of(model, event.step->node);
    node.running.erase(event.step->id);
    node.busy = !node.running.empty();
    take_text(*event.step, event.result);
    const StepStatus status = event.result.status;
    const bool ended_watch = watch && status == StepStatus::cancelled;  // the stage is over: how every watch ends
    if (record.tolerated) {
      forgive(model, event.result);
    } else if (is_failure(status) && !ended_watch) {
      const bool shown = is_answer(model, options, *event.step);  // its output is on stdout already
      add_step_failures(model, *event.step, event.result, stage_title(), shown ? 0 : options.tail_lines);
      node.cancelled = status == StepStatus::cancelled;
      if (node.failed.empty() && !node.cancelled) {
        node.failed = text::printable(event.step->title);
      }
    }
    record.result.out.clear();
    record.result.err.clear();
    if (record.result.http) {
      record.result.http->body.clear();
    }
    model.steps.push_back(std::move(record));
  }

  void operator()(const run::FindingReported& event) const {
    add_finding(model, event.finding, stage_title());
    if (tolerating()) {
      forgive(model, event.finding);
    }
  }

  void operator()(const run::ReportReady& event) const { model.reports[event.report.kind] = event.report.json; }

  void operator()(const run::StageFinished& event) const {
    StageRecord* stage = nullptr;
    const bool open = !model.stages.empty() && !model.stages.back().finished && (event.stage == nullptr || model.stages.back().id == event.stage->id);
    stage = open ? &model.stages.back() : &model.stages.emplace_back();  // a skipped stage never started
    if (event.stage != nullptr) {
      stage->id = event.stage->id;
      stage->title = event.stage->title.empty() ? event.stage->id : event.stage->title;
      stage->branch = event.stage->only_if == plan::OnlyIf::previous_failed;
    }
    stage->finished = true;
    stage->ok = event.ok && !event.skipped;
    stage->skipped = event.skipped;
    stage->elapsed = event.elapsed;
    stage->error = event.error;
    if (!stage->ok && !stage->skipped && !stage->tolerated && event.error) {
      add_stage_failure(model, *event.error, stage->title);
    }
  }

  void operator()(const run::HostSummary& event) const {
    for (const auto& [id, host] : event.hosts) {
      node_of(model, id).ended = host;
    }
  }

  void operator()(const run::RunFinished& event) const {
    model.finished = event;
    (*this)(event.summary);
    for (NodeState& node : model.nodes) {
      node.busy = false;
    }
    for (const auto& [id, host] : final_classes(model)) {
      node_of(model, id).ended = host;
    }
  }

 private:
  bool tolerating() const { return current_stage(model) != nullptr && current_stage(model)->tolerated; }

  std::string stage_title() const { return current_stage(model) == nullptr ? std::string{} : current_stage(model)->title; }

  // A script whose output nobody streamed hands it over with its result.
  void take_text(const plan::Step& step, const run::StepResult& result) const {
    if (!is_answer(model, options, step)) {
      return;
    }
    NodeText& text = model.texts[step.node];
    text.exit_status = result.exit_status;
    text.step = step.id;
    if (text.out.empty() && text.err.empty() && options.remote_output == RemoteOutput::folded) {
      keep(text.out, text.out_dropped, result.out);
      keep(text.err, text.err_dropped, result.err);
      text.out_dropped += result.out_dropped;
      text.err_dropped += result.err_dropped;
    }
  }
};

HostClass guess(const Model& model, const NodeState& node) {
  for (const StepRecord& step : model.steps) {
    if (step.result.node == node.id && is_failure(step.result.status) && !step.tolerated && !step.watch) {
      return step.result.status == StepStatus::timed_out ? HostClass::timed_out : (step.result.status == StepStatus::lost ? HostClass::lost : HostClass::failed);
    }
  }
  const bool touched = std::any_of(model.steps.begin(), model.steps.end(), [&](const StepRecord& step) { return step.result.node == node.id; });
  return touched || !node.running.empty() ? HostClass::lost : HostClass::skipped;
}

}  // namespace

void apply(Model& model, const run::Event& event, const Options& options) { std::visit(Applier{model, options}, event); }

std::map<std::string, HostClass> final_classes(const Model& model) {
  std::map<std::string, HostClass> classes;
  for (const NodeState& node : model.nodes) {
    classes[node.id] = node.ended ? *node.ended : guess(model, node);
  }
  return classes;
}

bool is_answer(const Model& model, const Options& options, const plan::Step& step) {
  const auto* script = std::get_if<plan::RunScript>(&step.action);
  return script != nullptr && script->follow && !model.watch_steps.contains(step.id) && options.remote_output != RemoteOutput::hidden;
}

const StageRecord* current_stage(const Model& model) { return model.stages.empty() ? nullptr : &model.stages.back(); }

bool is_failure(StepStatus status) {
  switch (status) {
    case StepStatus::failed:
    case StepStatus::not_run:
    case StepStatus::lost:
    case StepStatus::timed_out:
    case StepStatus::cancelled:
      return true;
    case StepStatus::ok:
    case StepStatus::changed:
    case StepStatus::unchanged:
    case StepStatus::skipped:
      return false;
  }
  return true;
}

}  // namespace sskj::view
