// One step from its start to its result, whatever the connection does meanwhile.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "capture.hpp"
#include "context.hpp"

namespace sskj::run {

class StepRunner : public std::enable_shared_from_this<StepRunner> {
 public:
  using Done = std::function<void(StepResult)>;

  /// `waiting`: the stage waits for something (has a polled probe), so an unreachable node is tried again until the deadline.
  /// `done` is called once, from the loop, after StepFinished was emitted.
  StepRunner(ContextPtr context, const plan::Step& step, bool waiting, Done done);

  void start();
  /// Ends the step early with `status` and `why`, unless it turns out to have ended well meanwhile. `done` still follows.
  void cancel(StepStatus status, Error why);
  [[nodiscard]] bool polls() const { return probe_ && probe_->poll_every > Millis{0}; }

 private:
  // script_step.cpp
  void prepare_script();
  void prepare_put(const plan::PutFile& put);
  void send();
  void on_output(Stream stream, std::string_view bytes);
  void on_exec_done(const Outcome& outcome);
  void on_exited(int status);
  void on_not_run(const Error& error);
  void on_lost(const Error& error);
  void report(Stream stream, const std::string& bytes);  ///< output without secrets
  void keep_output();

  // http_step.cpp
  void ask();
  void on_answer(HttpOutcome outcome);
  void on_response(StepResult seen);
  void poll_again(std::string progress, Millis pause);
  void poll_timed_out();
  void end_poll(Error why);  ///< sets ending_: what was seen last decides what kind of failure it is

  // step_runner.cpp
  [[nodiscard]] bool has_deadline() const { return step_.deadline > Millis{0}; }
  [[nodiscard]] Millis remaining() const;  ///< to the deadline; only where there is one
  void arm_safety();
  void later(Millis pause, void (StepRunner::*what)());
  Verdict judge(const plan::Judgement& by, const StepResult& seen);
  void apply(Verdict verdict);
  void report_progress(const std::string& text);
  bool ended_by_cancel();  ///< finishes with what cancel() asked for, if it did
  void fail_with(StepStatus status, Error error);
  void time_out(std::string got);
  void finish();

  ContextPtr context_;
  const plan::Step& step_;
  bool waiting_;
  Done done_;

  StepResult result_;
  Millis started_{0};
  CallId call_ = 0;     // exec or http in flight
  CallId pause_ = 0;    // timer until the next attempt
  CallId safety_ = 0;   // deadline or cancel timer
  bool finished_ = false;
  std::optional<std::pair<StepStatus, Error>> ending_;  // what cancel() asked for
  Backoff backoff_;

  Redactor clean_out_, clean_err_;
  std::string script_;            // bytes handed to the transport; kept until its done
  std::string input_;
  Capture out_, err_;
  std::optional<Error> lost_;     // the first send was lost; the second is under way or waits for the node
  Millis resend_until_{0};

  std::optional<plan::HttpProbe> probe_;
  bool asked_again_ = false;
  std::optional<Error> not_reached_;  // the last attempt of a poll did not reach the node
  std::string progress_;
};

}  // namespace sskj::run
