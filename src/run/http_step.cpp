// HttpProbe: ask, judge, ask again.
#include <fmt/format.h>

#include <algorithm>

#include "outcome.hpp"
#include "sskj/core/text.hpp"
#include "step_runner.hpp"

namespace sskj::run {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

std::string in_short(const StepResult& seen) {
  if (seen.http) return fmt::format("http {}", seen.http->status);
  return seen.error && seen.error->code == Errc::timeout ? "no answer" : "refused";
}

}  // namespace

void StepRunner::ask() {
  if (has_deadline() && remaining() <= Millis{0}) return poll_timed_out();
  HttpRequest request;
  request.node = context_->node(step_.node);
  request.host = probe_->host;
  request.port = probe_->port;
  request.method = probe_->method;
  request.target = probe_->target;
  request.body = probe_->body;
  request.timeout = has_deadline() ? std::min(probe_->request_timeout, remaining()) : probe_->request_timeout;
  if (probe_->bearer) {
    auto value = context_->secrets.value(*probe_->bearer);
    if (!value) {
      ending_.emplace(StepStatus::failed, value.error());
      return later(Millis{0}, &StepRunner::finish);
    }
    request.bearer = std::move(*value);
  }
  ++result_.attempts;
  call_ = context_->transport.http(request, [self = shared_from_this()](HttpOutcome outcome) { self->on_answer(std::move(outcome)); });
}

void StepRunner::on_answer(HttpOutcome outcome) {
  call_ = 0;
  if (finished_ || ended_by_cancel()) return;
  StepResult seen;
  seen.step = step_.id;
  seen.node = step_.node;
  seen.status = StepStatus::failed;
  const auto connection_broke = [this](StepStatus status, const Error& error) {
    // A lost connection says nothing about the service: while waiting, reconnect until the deadline. But what was sent once is not sent again unasked.
    const bool again = status == StepStatus::lost ? polls() : waiting_;
    if (!again || error.code == Errc::host_key) return fail_with(status, error);
    not_reached_ = error;
    poll_again("not reachable: " + error.message, backoff_.next());
  };
  std::visit(Overloaded{[&](HttpResponse& response) {
                          response.body = context_->secrets.redact(response.body);
                          seen.status = StepStatus::ok;
                          seen.http = std::move(response);
                          on_response(std::move(seen));
                        },
                        [&](const HttpRefused& refused) {
                          seen.error = Error{Errc::not_ready, refused.message, ""};
                          on_response(std::move(seen));
                        },
                        [&](const TimedOut& timed_out) {
                          seen.status = StepStatus::timed_out;
                          seen.error = Error{Errc::timeout, timed_out.error.message, ""};
                          on_response(std::move(seen));
                        },
                        [&](const NotRun& not_run) { connection_broke(StepStatus::not_run, unreachable(not_run.error)); },
                        [&](const Lost& lost) { connection_broke(StepStatus::lost, {Errc::lost, lost.error.message, lost.error.hint}); },
                        [&](const Cancelled&) { fail_with(StepStatus::lost, {Errc::lost, "the transport gave up the call unasked", ""}); }},
             outcome);
}

void StepRunner::on_response(StepResult seen) {
  not_reached_.reset();
  backoff_.reset();
  Verdict verdict = judge(probe_->verdict, seen);
  const std::string progress = verdict.progress.empty() ? in_short(seen) : verdict.progress;
  const std::string detail = seen.error ? fmt::format("{}: {}", progress, seen.error->message) : progress;
  result_.http = std::move(seen.http);
  if (!verdict.ok && verdict.ask_again && !asked_again_) {
    asked_again_ = true;
    const Millis poll_every = probe_->poll_every;
    probe_ = std::move(*verdict.ask_again);
    probe_->poll_every = poll_every;
    context_->emit(StepRetried{&step_, progress});
    return ask();
  }
  if (!verdict.ok && verdict.again && polls()) return poll_again(progress, probe_->poll_every);
  result_.got = progress;
  if (!verdict.ok && !verdict.error && verdict.findings.empty()) {
    verdict.error = Error{step_.failure, detail, ""};
  }
  apply(std::move(verdict));
}

void StepRunner::poll_again(std::string progress, Millis pause) {
  progress = context_->secrets.redact(progress);
  report_progress(progress);
  result_.got = std::move(progress);
  later(has_deadline() ? std::min(pause, std::max(remaining(), Millis{0})) : pause, &StepRunner::ask);
}

void StepRunner::poll_timed_out() {
  end_poll({Errc::timeout, fmt::format("expected ok within {}", text::format_duration(step_.deadline)), ""});
  finish();
}

void StepRunner::end_poll(Error why) {
  if (not_reached_) {  // nothing is known about the service, and that is another failure than a service that is not ready
    const StepStatus status = not_reached_->code == Errc::lost ? StepStatus::lost : StepStatus::not_run;
    why.code = not_reached_->code;
    why.message += ", and the node cannot be reached: " + not_reached_->message;
    ending_.emplace(status, std::move(why));
    return;
  }
  result_.expected = "ok within " + text::format_duration(step_.deadline);
  if (result_.got.empty()) result_.got = "no answer";
  const auto phase = context_->phases.find(step_.node);
  if (phase != context_->phases.end()) result_.got += ", phase " + phase->second;
  why.code = step_.failure == Errc::step_failed ? Errc::timeout : step_.failure;
  why.message += ", got " + result_.got;
  ending_.emplace(StepStatus::timed_out, std::move(why));
}

}  // namespace sskj::run
