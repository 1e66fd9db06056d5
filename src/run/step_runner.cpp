#include "step_runner.hpp"

#include <fmt/format.h>

#include "outcome.hpp"
#include "sskj/core/text.hpp"

namespace sskj::run {
namespace {

bool is_engine_log(const plan::Step& step) {
  const auto* script = std::get_if<plan::RunScript>(&step.action);
  return script != nullptr && script->engine_log;
}

}  // namespace

StepRunner::StepRunner(ContextPtr context, const plan::Step& step, bool waiting, Done done)
    : context_(std::move(context)),
      step_(step),
      waiting_(waiting),
      done_(std::move(done)),
      clean_out_(context_->secrets, is_engine_log(step)),
      clean_err_(context_->secrets, is_engine_log(step)),
      out_(context_->limits.max_output),
      err_(context_->limits.max_output) {
  result_.step = step.id;
  result_.node = step.node;
  result_.attempts = 0;
  if (const auto* probe = std::get_if<plan::HttpProbe>(&step.action)) probe_ = *probe;
}

void StepRunner::start() {
  started_ = context_->transport.now();
  context_->emit(StepStarted{&step_});
  if (context_->node(step_.node) == nullptr) {
    ending_.emplace(StepStatus::failed, Error{Errc::internal, fmt::format("{}: step {} names a node that is not in the plan", step_.node, step_.id), ""});
    return later(Millis{0}, &StepRunner::finish);
  }
  arm_safety();
  if (probe_) return ask();
  prepare_script();
  if (ending_) return later(Millis{0}, &StepRunner::finish);
  send();
}

void StepRunner::cancel(StepStatus status, Error why) {
  if (finished_ || ending_) return;
  if (status == StepStatus::timed_out && polls()) {
    end_poll(std::move(why));
  } else {
    ending_.emplace(status, std::move(why));
  }
  context_->transport.cancel(std::exchange(pause_, 0));
  if (call_ == 0) return later(Millis{0}, &StepRunner::finish);
  context_->transport.cancel(std::exchange(safety_, 0));
  safety_ = context_->transport.after(k_cancel_grace, [self = weak_from_this()] {
    if (const auto runner = self.lock()) runner->finish();
  });
  context_->transport.cancel(call_);
}

Millis StepRunner::remaining() const { return started_ + step_.deadline - context_->transport.now(); }

void StepRunner::arm_safety() {
  if (!has_deadline()) return;
  safety_ = context_->transport.after(step_.deadline + k_deadline_grace, [self = weak_from_this()] {
    const auto runner = self.lock();
    if (!runner || runner->finished_) return;
    runner->safety_ = 0;
    runner->result_.expected = "an end within " + text::format_duration(runner->step_.deadline);
    runner->result_.got = "none";
    runner->cancel(StepStatus::timed_out, expectation_failed(runner->step_, Errc::timeout, runner->result_));
  });
}

void StepRunner::later(Millis pause, void (StepRunner::*what)()) {
  pause_ = context_->transport.after(pause, [self = weak_from_this(), what] {
    const auto runner = self.lock();
    if (!runner || runner->finished_) return;
    runner->pause_ = 0;
    ((*runner).*what)();
  });
}

Verdict StepRunner::judge(const plan::Judgement& by, const StepResult& seen) {
  const auto found = context_->drivers.step_judges.find(by.judge);
  if (found != context_->drivers.step_judges.end()) return found->second(step_, by.expectation, seen);
  Verdict verdict;
  verdict.error = Error{Errc::internal, fmt::format("{}: {}: no judge is called \"{}\"", step_.node, step_.title, by.judge), ""};
  return verdict;
}

void StepRunner::apply(Verdict verdict) {
  for (auto& finding : verdict.findings) {
    if (finding.node.empty()) finding.node = step_.node;
    context_->emit(FindingReported{finding});
  }
  for (auto& report : verdict.reports) context_->emit(ReportReady{std::move(report)});
  result_.findings = std::move(verdict.findings);
  if (verdict.ok) {
    result_.status = StepStatus::ok;
    result_.error.reset();
    return finish();
  }
  if (result_.last_lines.empty()) result_.last_lines = last_lines(result_.out, result_.err);
  if (verdict.error) return fail_with(StepStatus::failed, std::move(*verdict.error));
  for (const auto& finding : result_.findings) {
    if (finding.status != FindingStatus::fail) continue;
    result_.expected = finding.expected;
    result_.got = finding.got;
    return fail_with(StepStatus::failed, {finding.failure, finding.message, finding.hint});
  }
  fail_with(StepStatus::failed, {step_.failure, "the outcome was judged not ok", ""});
}

void StepRunner::report_progress(const std::string& text) {
  if (text.empty() || text == progress_) return;
  progress_ = text;
  context_->emit(StepProgress{&step_, text});
}

bool StepRunner::ended_by_cancel() {
  if (!ending_) return false;
  finish();
  return true;
}

void StepRunner::fail_with(StepStatus status, Error error) {
  result_.status = status;
  result_.error = named(step_, std::move(error));
  finish();
}

void StepRunner::time_out(std::string got) {
  result_.expected = "an end within " + text::format_duration(step_.deadline);
  result_.got = std::move(got);
  if (result_.last_lines.empty()) result_.last_lines = last_lines(result_.out, result_.err);
  fail_with(StepStatus::timed_out, expectation_failed(step_, Errc::timeout, result_));
}

void StepRunner::finish() {
  if (finished_) return;
  finished_ = true;
  for (CallId* timer : {&pause_, &safety_}) context_->transport.cancel(std::exchange(*timer, 0));
  if (ending_) {
    keep_output();
    result_.status = ending_->first;
    result_.error = named(step_, std::move(ending_->second));
  }
  if (result_.error) result_.error->message = context_->secrets.redact(result_.error->message);
  result_.elapsed = context_->transport.now() - started_;
  result_.attempts = std::max(result_.attempts, 1U);
  context_->emit(StepFinished{&step_, result_});
  if (const auto done = std::exchange(done_, nullptr)) done(std::move(result_));
}

}  // namespace sskj::run
