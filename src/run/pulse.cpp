#include "pulse.hpp"

#include <algorithm>

#include "sskj/core/text.hpp"

namespace sskj::run {
namespace {
constexpr std::size_t k_longest_answer = 4096;
/// The first beat comes soon, so that whoever meets a lock that was just taken need not wait long to see that its run is alive.
constexpr Millis k_first{1'000};
}

Pulse::Pulse(Context& context, const plan::Heartbeat& heartbeat, std::function<void(const std::string&, const Error&)> gone)
    : context_(context), heartbeat_(heartbeat), gone_(std::move(gone)) {}

void Pulse::step_ended(const plan::Stage& stage, const plan::Step& step, StepStatus status) {
  const bool well = status == StepStatus::ok || status == StepStatus::changed || status == StepStatus::unchanged;
  if (stopped_ || stage.id != heartbeat_.stage || !well || beats_.contains(step.node)) return;
  for (const auto& beat : heartbeat_.steps) {
    if (beat.node != step.node) continue;
    auto& begun = beats_[beat.node];
    begun.step = &beat;
    schedule(begun, std::min(k_first, heartbeat_.every));
  }
}

void Pulse::schedule(Beat& beat, Millis pause) {
  beat.timer = context_.transport.after(pause, [weak = weak_from_this(), &beat] {
    const auto self = weak.lock();
    if (!self || self->stopped_) return;
    beat.timer = 0;
    self->send(beat);
  });
}

void Pulse::send(Beat& beat) {
  beat.script = plan::script_of(*beat.step);
  beat.answer.clear();
  ExecRequest request;
  request.node = context_.node(beat.step->node);
  request.script = beat.script;
  request.vars = context_.vars;
  request.deadline = beat.step->deadline;
  // The handlers keep this, and so the script's bytes, alive until the transport is done with them.
  ExecHandlers handlers;
  handlers.output = [self = shared_from_this(), &beat](Stream stream, std::string_view bytes) {
    if (stream == Stream::err) beat.answer.append(bytes.substr(0, k_longest_answer - std::min(k_longest_answer, beat.answer.size())));
  };
  handlers.done = [self = shared_from_this(), &beat](const Outcome& outcome) { self->ended(beat, outcome); };
  beat.call = context_.transport.exec(request, std::move(handlers));
}

void Pulse::ended(Beat& beat, const Outcome& outcome) {
  beat.call = 0;
  if (stopped_) return;
  const auto* exited = std::get_if<Exited>(&outcome);
  if (exited == nullptr || plan::exit_errc(exited->status) != Errc::locked) return schedule(beat, heartbeat_.every);
  auto said = text::printable(text::to_valid_utf8(text::trim(context_.secrets.redact(beat.answer))));
  if (said.empty()) said = "the lock of this node is not held by this run any more";
  const Error why{Errc::locked, said, beat.step->hint};
  stop();
  if (const auto call = std::exchange(gone_, nullptr)) call(beat.step->node, why);
}

void Pulse::stop() {
  stopped_ = true;
  for (auto& [node, beat] : beats_) {
    context_.transport.cancel(std::exchange(beat.timer, 0));
    if (beat.call != 0) context_.transport.cancel(beat.call);
  }
}

}  // namespace sskj::run
