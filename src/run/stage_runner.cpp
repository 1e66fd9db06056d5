#include "stage_runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "outcome.hpp"
#include "pulse.hpp"
#include "sskj/core/text.hpp"

namespace sskj::run {
namespace {

bool is_poll(const plan::Step& step) {
  const auto* probe = std::get_if<plan::HttpProbe>(&step.action);
  return probe != nullptr && probe->poll_every > Millis{0};
}

StepResult skipped(const plan::Step& step) {
  StepResult result;
  result.step = step.id;
  result.node = step.node;
  result.status = StepStatus::skipped;
  result.attempts = 0;
  return result;
}

}  // namespace

StageRunner::StageRunner(ContextPtr context, const plan::Stage& stage, StagePart part, std::size_t number, Done done)
    : context_(std::move(context)),
      stage_(stage),
      part_(part),
      number_(number),
      done_(std::move(done)),
      steps_(part == StagePart::undo ? stage.undo : stage.steps),
      results_(steps_.size()) {}

void StageRunner::start() {
  started_ = context_->transport.now();
  const std::size_t count = context_->plan.stages.size() + context_->plan.always.size();
  context_->emit(StageStarted{&stage_, number_, count, part_ == StagePart::undo, part_ == StagePart::always});
  waiting_ = std::any_of(steps_.begin(), steps_.end(), is_poll);
  make_lanes();
  arm_deadline();
  context_->progressed = started_;
  arm_progress();
  if (part_ != StagePart::undo) start_watches();
  pump();
}

void StageRunner::make_lanes() {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    auto lane = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& known) { return known.node == steps_[i].node; });
    if (lane == lanes_.end()) lane = lanes_.insert(lanes_.end(), Lane{steps_[i].node, {}, 0, nullptr, false});
    lane->steps.push_back(i);
  }
}

void StageRunner::start_watches() {
  for (const auto& step : stage_.watch) {
    Watch::Handlers handlers;
    handlers.failed = [self = weak_from_this(), &step](const Error& error) {
      if (const auto stage = self.lock()) stage->on_watch_failed(step, error);
    };
    handlers.ended = [self = weak_from_this()](const StepResult& result) {
      const auto stage = self.lock();
      if (!stage) return;
      if (result.status == StepStatus::ok) stage->context_->ledger.step(result.node, result.status, false);
      if (--stage->live_watches_ == 0 && stage->steps_over_) stage->conclude();
    };
    watches_.push_back(std::make_shared<Watch>(context_, step, std::move(handlers)));
    ++live_watches_;
  }
  for (const auto& watch : watches_) watch->start();
}

void StageRunner::arm_deadline() {
  if (stage_.deadline == Millis{0}) return;
  deadline_ = context_->transport.after(stage_.deadline, [self = weak_from_this()] {
    const auto stage = self.lock();
    if (!stage || stage->steps_over_) return;
    stage->deadline_ = 0;
    const Error error{Errc::timeout, fmt::format("{}: expected an end within {}{}", stage->stage_.title, text::format_duration(stage->stage_.deadline), stage->context_->where()), ""};
    stage->abort(StepStatus::timed_out, error);
  });
}

/// Looks again whenever the limit could have been reached, counted from the last progress.
void StageRunner::arm_progress() {
  if (stage_.no_progress == Millis{0} || part_ == StagePart::undo) return;
  const Millis left = context_->progressed + stage_.no_progress - context_->transport.now();
  if (left > Millis{0}) {
    progress_ = context_->transport.after(left, [self = weak_from_this()] {
      if (const auto stage = self.lock()) stage->arm_progress();
    });
    return;
  }
  progress_ = 0;
  if (steps_over_) return;
  abort(StepStatus::timed_out, {Errc::timeout, fmt::format("{}: no rank came further for {}{}", stage_.title, text::format_duration(stage_.no_progress), context_->where()), ""});
}

/// Begins work on as many nodes as the limit allows; watches do not count, or a stage with more watches than that would never begin.
void StageRunner::pump() {
  const bool serial = part_ != StagePart::undo && stage_.order == plan::Order::one_by_one;
  const std::size_t limit = serial ? 1 : std::max<std::size_t>(context_->limits.fanout, 1);
  while (!halted_ && active_ < limit && next_lane_ < lanes_.size()) {
    ++active_;
    advance(lanes_[next_lane_++]);
  }
  if (active_ == 0 && !steps_over_ && (halted_ || next_lane_ == lanes_.size())) steps_done();
}

void StageRunner::advance(Lane& lane) {
  // A poll of a stage that failed already would wait for nothing.
  const auto pointless = [&](const plan::Step& step) {
    return halted_ || lane.closed || (end_.error && is_poll(step)) || (part_ != StagePart::steps && context_->ledger.out_of_reach(step.node));
  };
  while (lane.next < lane.steps.size() && pointless(steps_[lane.steps[lane.next]])) skip(lane.steps[lane.next++]);
  if (lane.next == lane.steps.size()) {
    --active_;
    return;
  }
  const std::size_t index = lane.steps[lane.next++];
  lane.running = std::make_shared<StepRunner>(context_, steps_[index], waiting_, [self = weak_from_this(), &lane, index](StepResult result) {
    if (const auto stage = self.lock()) stage->on_step_done(lane, index, std::move(result));
  });
  lane.running->start();
}

void StageRunner::on_step_done(Lane& lane, std::size_t index, StepResult result) {
  const auto& step = steps_[index];
  lane.running.reset();
  const StepStatus status = result.status;
  const auto error = result.error;
  results_[index] = std::move(result);
  context_->ledger.contact(step.node, status);
  if (context_->pulse && part_ == StagePart::steps) context_->pulse->step_ended(stage_, step, status);
  if (status == StepStatus::not_run) lane.closed = true;  // the node's next steps would each wait for the same connection
  // A cancelled step has a cause, and the cause counts.
  if (is_bad(status) && status != StepStatus::cancelled && step.on_failure == plan::OnFailure::fail && error) {
    lane.closed = true;
    failed(*error);
    if (stage_.order == plan::Order::one_by_one && part_ != StagePart::undo) halted_ = true;
    if (status != StepStatus::timed_out) stop_polls(*error);
  }
  advance(lane);
  pump();
}

void StageRunner::stop_polls(const Error& why) {
  for (auto& lane : lanes_) {
    if (lane.running && lane.running->polls()) lane.running->cancel(StepStatus::cancelled, {Errc::cancelled, "given up because of " + why.message, why.hint});
  }
}

void StageRunner::on_watch_failed(const plan::Step& step, const Error& error) {
  if (steps_over_) return;
  failed(error);
  context_->ledger.step(step.node, StepStatus::failed, stage_.on_failure == plan::OnFailure::fail);
  abort(StepStatus::cancelled, {Errc::cancelled, "given up because of " + error.message, error.hint});
}

void StageRunner::abort(StepStatus status, const Error& why) {
  if (abort_ || steps_over_) return;
  abort_ = why;
  halted_ = true;
  for (auto& lane : lanes_) {
    if (lane.running) lane.running->cancel(status, why);
  }
  context_->transport.after(Millis{0}, [self = weak_from_this()] {  // nothing may be running at all
    if (const auto stage = self.lock()) stage->pump();
  });
}

void StageRunner::steps_done() {
  steps_over_ = true;
  for (CallId* timer : {&deadline_, &progress_}) context_->transport.cancel(std::exchange(*timer, 0));
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (!results_[i]) skip(i);
  }
  if (live_watches_ == 0) return conclude();
  for (const auto& watch : watches_) watch->stop(abort_);
}

void StageRunner::conclude() {
  if (verdict_wanted()) take_verdict();
  note_hosts();
  end_.ok = !end_.error && !abort_;
  if (abort_ && !end_.error) {
    if (abort_->code == Errc::cancelled) {
      end_.error = abort_;  // whoever cancelled knows the exit code
    } else {
      failed(*abort_);
    }
  }
  context_->emit(StageFinished{&stage_, end_.ok, false, context_->transport.now() - started_, end_.error});
  // From the loop, so that whoever owns this runner may let go of it.
  context_->transport.after(Millis{0}, [self = shared_from_this()] {
    if (const auto done = std::exchange(self->done_, nullptr)) done(std::move(self->end_));
  });
}

void StageRunner::take_verdict() {
  const auto found = context_->drivers.stage_judges.find(stage_.verdict->judge);
  if (found == context_->drivers.stage_judges.end()) {
    verdict_failed_ = true;
    return failed({Errc::internal, fmt::format("{}: no judge is called \"{}\"", stage_.title, stage_.verdict->judge), ""});
  }
  std::vector<NodeOutput> outputs;
  for (std::size_t i = 0; i < steps_.size(); ++i) outputs.push_back({steps_[i].node, &*results_[i]});
  Verdict verdict = found->second(stage_, stage_.verdict->expectation, outputs);
  const Finding* failing = nullptr;
  for (const auto& finding : verdict.findings) {
    context_->emit(FindingReported{finding});
    if (finding.status != FindingStatus::fail) continue;
    if (failing == nullptr) failing = &finding;
    if (!verdict.ok) context_->ledger.step(finding.node, StepStatus::failed, stage_.on_failure == plan::OnFailure::fail);
  }
  for (auto& report : verdict.reports) context_->emit(ReportReady{std::move(report)});
  if (verdict.ok) return;
  verdict_failed_ = true;
  if (!verdict.error && failing != nullptr) verdict.error = Error{failing->failure, failing->message, failing->hint};
  failed(verdict.error.value_or(Error{Errc::step_failed, stage_.title + ": the outputs of the nodes were judged not ok", ""}));
}

void StageRunner::note_hosts() {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const StepStatus status = results_[i]->status;
    const bool counts = steps_[i].on_failure == plan::OnFailure::fail || verdict_failed_;
    // What an undo or the last stages do well does not make a node ok on which the run itself did nothing.
    if (part_ == StagePart::steps || is_bad(status)) context_->ledger.step(steps_[i].node, status, counts && stage_.on_failure == plan::OnFailure::fail);
  }
}

void StageRunner::failed(const Error& error) {
  end_.failures.push_back(error.code);
  if (!end_.error) end_.error = error;
}

void StageRunner::skip(std::size_t index) {
  results_[index] = skipped(steps_[index]);
  context_->emit(StepFinished{&steps_[index], *results_[index]});
}

void StageRunner::report_skipped(const Context& context, const plan::Stage& stage) {
  for (const auto& step : stage.steps) context.emit(StepFinished{&step, skipped(step)});
  StageFinished finished;
  finished.stage = &stage;
  finished.skipped = true;
  context.emit(finished);
}

}  // namespace sskj::run
