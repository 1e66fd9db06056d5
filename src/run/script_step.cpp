// RunScript, PutFile and CheckNode: one exec, sent once more when its outcome was lost.
#include <fmt/format.h>

#include "outcome.hpp"
#include "sskj/core/text.hpp"
#include "step_runner.hpp"

namespace sskj::run {
namespace {

constexpr Millis k_resend_window{30'000};  // a link that flaps comes back within seconds; a dead node must not hold the run until a long deadline

bool is_follow(const plan::Step& step) {
  const auto* script = std::get_if<plan::RunScript>(&step.action);
  return script != nullptr && script->follow;
}

}  // namespace

void StepRunner::prepare_script() {
  script_ = plan::script_of(step_);
  if (const auto* put = std::get_if<plan::PutFile>(&step_.action)) prepare_put(*put);
}

void StepRunner::prepare_put(const plan::PutFile& put) {
  if (const auto* content = std::get_if<std::string>(&put.content)) {
    input_ = plan::put_input(put, *content);
    return;
  }
  const auto value = context_->secrets.value(std::get<plan::SecretRef>(put.content));
  if (!value) {
    ending_.emplace(StepStatus::failed, value.error());
    return;
  }
  input_ = plan::put_input(put, render_secret(put.secret_template, *value));
}

void StepRunner::send() {
  if (has_deadline() && remaining() <= Millis{0}) {
    if (lost_) return fail_with(StepStatus::lost, *lost_);
    return time_out("no connection");
  }
  ++result_.attempts;
  out_.clear();
  err_.clear();
  clean_out_.finish();
  clean_err_.finish();
  ExecRequest request;
  request.node = context_->node(step_.node);
  request.script = script_;
  request.input = input_;
  request.vars = context_->vars;
  request.deadline = has_deadline() ? remaining() : Millis{0};
  // The handlers keep the runner, and so script_ and input_, alive until the transport is done with them.
  ExecHandlers handlers;
  handlers.output = [self = shared_from_this()](Stream stream, std::string_view bytes) { self->on_output(stream, bytes); };
  handlers.done = [self = shared_from_this()](const Outcome& outcome) { self->on_exec_done(outcome); };
  call_ = context_->transport.exec(request, std::move(handlers));
}

void StepRunner::on_output(Stream stream, std::string_view bytes) {
  if (finished_) return;
  report(stream, (stream == Stream::out ? clean_out_ : clean_err_).feed(bytes));
}

void StepRunner::report(Stream stream, const std::string& bytes) {
  if (bytes.empty()) return;
  (stream == Stream::out ? out_ : err_).add(bytes);
  if (is_follow(step_) || context_->limits.stream_all) context_->emit(StepOutput{&step_, stream, bytes});
}

void StepRunner::keep_output() {
  if (probe_) return;
  report(Stream::out, clean_out_.finish());
  report(Stream::err, clean_err_.finish());
  result_.out = out_.text();
  result_.err = err_.text();
  result_.out_dropped = out_.dropped();
  result_.err_dropped = err_.dropped();
  result_.last_lines = last_lines(result_.out, result_.err);
}

void StepRunner::on_exec_done(const Outcome& outcome) {
  call_ = 0;
  if (finished_) return;
  keep_output();
  const auto* exited = std::get_if<Exited>(&outcome);
  const bool ended_well = exited != nullptr && exited->status == 0;  // the cancel came too late: what is done is done, and said
  if (ending_ && !ended_well) return finish();
  ending_.reset();
  if (exited != nullptr) return on_exited(exited->status);
  if (const auto* not_run = std::get_if<NotRun>(&outcome)) return on_not_run(not_run->error);
  if (const auto* lost = std::get_if<Lost>(&outcome)) return on_lost(lost->error);
  if (std::holds_alternative<TimedOut>(outcome)) return time_out("still running");
  fail_with(StepStatus::lost, {Errc::lost, "the transport gave up the call unasked", ""});
}

void StepRunner::on_exited(int status) {
  result_.last_lines.clear();
  if (const auto* check = std::get_if<plan::CheckNode>(&step_.action)) {
    result_.exit_status = status;
    result_.status = status == 0 ? StepStatus::ok : StepStatus::failed;
    return apply(judge(check->verdict, result_));
  }
  settle_script(step_, status, result_);
  finish();
}

void StepRunner::on_not_run(const Error& error) {
  const bool retryable = error.code != Errc::host_key && !is_follow(step_);  // another machine answers: asking again cannot help
  const Millis pause = backoff_.next();
  const bool in_time = !has_deadline() || remaining() > pause;
  if (lost_) {
    if (retryable && in_time && (waiting_ || context_->transport.now() + pause <= resend_until_)) return later(pause, &StepRunner::send);
    return fail_with(StepStatus::lost, {Errc::lost, fmt::format("{}; the node could not be reached again: {}", lost_->message, error.message), lost_->hint});
  }
  if (waiting_ && retryable && in_time) {
    report_progress("not reachable: " + error.message);
    return later(pause, &StepRunner::send);
  }
  fail_with(StepStatus::not_run, unreachable(error));
}

void StepRunner::on_lost(const Error& error) {
  const Error lost{Errc::lost, error.message, error.hint};
  if (lost_ || is_follow(step_)) return fail_with(StepStatus::lost, lost);
  lost_ = lost;
  resend_until_ = context_->transport.now() + k_resend_window;
  backoff_.reset();
  context_->emit(StepRetried{&step_, error.message});
  later(backoff_.next(), &StepRunner::send);
}

}  // namespace sskj::run
