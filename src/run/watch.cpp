#include "watch.hpp"

#include <fmt/format.h>

#include "outcome.hpp"
#include "sskj/core/text.hpp"

namespace sskj::run {
namespace {
constexpr std::size_t k_last_lines = 20;
constexpr std::size_t k_line_width = 400;
}  // namespace

Watch::Watch(ContextPtr context, const plan::Step& step, Handlers handlers) : context_(std::move(context)), step_(step), handlers_(std::move(handlers)) {
  result_.step = step.id;
  result_.node = step.node;
  result_.attempts = 0;
  result_.status = StepStatus::ok;
}

void Watch::start() {
  started_ = context_->transport.now();
  script_ = plan::script_of(step_);
  context_->emit(StepStarted{&step_});
  send();
}

void Watch::send() {
  ++result_.attempts;
  ExecRequest request;
  request.node = context_->node(step_.node);
  request.script = script_;
  request.vars = context_->vars;
  request.deadline = step_.deadline;
  ExecHandlers handlers;
  handlers.output = [self = shared_from_this()](Stream stream, std::string_view bytes) { self->on_output(stream, bytes); };
  handlers.done = [self = shared_from_this()](const Outcome& outcome) { self->on_done(outcome); };
  call_ = context_->transport.exec(request, std::move(handlers));
}

void Watch::on_output(Stream stream, std::string_view bytes) {
  if (finished_) return;
  backoff_.reset();
  disconnected_.reset();
  auto& channel = channels_.at(stream == Stream::out ? 0 : 1);
  const std::string fresh = channel.replay.feed(bytes);
  if (channel.replay.took_new_start()) {
    report(stream, channel.clean.finish());
    channel.lines.finish([this](std::string_view line) { on_line(line); });
  }
  report(stream, channel.clean.feed(fresh));
}

void Watch::report(Stream stream, const std::string& bytes) {
  if (bytes.empty()) return;
  context_->emit(StepOutput{&step_, stream, bytes, /*watch=*/true});
  channels_.at(stream == Stream::out ? 0 : 1).lines.feed(bytes, [this](std::string_view line) { on_line(line); });
}

void Watch::report_rest() {
  report(Stream::out, channels_[0].clean.finish());
  report(Stream::err, channels_[1].clean.finish());
}

void Watch::on_line(std::string_view line) {
  last_lines_.push_back(text::printable(text::to_valid_utf8(line, k_line_width)));
  if (last_lines_.size() > k_last_lines) last_lines_.pop_front();
  if (stopping_ || failed_ || !context_->drivers.line_matcher) return;
  auto phase = context_->drivers.line_matcher(step_, line);
  if (!phase) return;
  if (phase->node.empty()) phase->node = step_.node;
  if (phase->step.empty()) phase->step = step_.id;
  note_phase(*phase);
  context_->emit(PhaseReported{*phase});
  if (phase->fatal) fail(step_.failure, "no fatal line in its log", phase->cause.empty() ? "one" : phase->cause, phase->hint);
}

void Watch::note_phase(const Phase& phase) {
  auto now = phase.total > 0 ? fmt::format("{} {}/{}", phase.name, phase.done, phase.total) : phase.name;
  auto& known = context_->phases[phase.node];
  if (known == now) return;
  known = std::move(now);
  context_->progressed = context_->transport.now();
}

void Watch::on_done(const Outcome& outcome) {
  call_ = 0;
  if (finished_) return;
  if (stopping_) return finish();
  if (const auto* not_run = std::get_if<NotRun>(&outcome)) return reconnect(not_run->error.message);
  if (const auto* lost = std::get_if<Lost>(&outcome)) return reconnect(lost->error.message);
  report_rest();
  for (auto& channel : channels_) channel.lines.finish([this](std::string_view line) { on_line(line); });
  if (failed_) return;  // the last line was fatal
  if (const auto* exited = std::get_if<Exited>(&outcome)) {
    result_.exit_status = exited->status;
    return fail(step_.failure, "to run as long as the stage", fmt::format("an end with status {}", exited->status), "");
  }
  const bool timed_out = std::holds_alternative<TimedOut>(outcome);
  fail(timed_out ? Errc::timeout : step_.failure, "to run as long as the stage", timed_out ? "its deadline" : "an end by the transport", "");
}

void Watch::reconnect(const std::string& reason) {
  if (disconnected_ != reason) context_->emit(StepRetried{&step_, reason});  // said once, however long it lasts
  disconnected_ = reason;
  for (auto& channel : channels_) channel.replay.restart();
  timer_ = context_->transport.after(backoff_.next(), [self = weak_from_this()] {
    const auto watch = self.lock();
    if (!watch || watch->finished_) return;
    watch->timer_ = 0;
    watch->send();
  });
}

void Watch::fail(Errc code, std::string expected, std::string got, const std::string& hint) {
  failed_ = true;
  result_.status = StepStatus::failed;
  result_.expected = std::move(expected);
  result_.got = std::move(got);
  result_.last_lines.assign(last_lines_.begin(), last_lines_.end());
  Error error = expectation_failed(step_, code, result_);
  if (!hint.empty()) error.hint = hint;
  result_.error = error;
  if (handlers_.failed) handlers_.failed(error);
}

void Watch::stop(std::optional<Error> why) {
  if (stopping_ || finished_) return;
  stopping_ = true;
  if (!why && disconnected_) why = Error{Errc::cancelled, "not connected when the stage ended: " + *disconnected_, ""};  // it did not see the end
  if (why && !failed_) {
    result_.status = StepStatus::cancelled;
    result_.error = named(step_, std::move(*why));
  }
  context_->transport.cancel(std::exchange(timer_, 0));
  timer_ = context_->transport.after(call_ == 0 ? Millis{0} : k_cancel_grace, [self = weak_from_this()] {
    if (const auto watch = self.lock()) watch->finish();
  });
  if (call_ != 0) context_->transport.cancel(call_);
}

void Watch::finish() {
  if (finished_) return;
  report_rest();
  finished_ = true;
  context_->transport.cancel(std::exchange(timer_, 0));
  result_.elapsed = context_->transport.now() - started_;
  result_.attempts = std::max(result_.attempts, 1U);
  context_->emit(StepFinished{&step_, result_});
  if (const auto ended = std::exchange(handlers_.ended, nullptr)) ended(result_);
}

}  // namespace sskj::run
