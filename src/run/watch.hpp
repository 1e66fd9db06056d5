// A script that runs as long as its stage: its lines are read by the log matcher; its end or a fatal line is the stage's failure.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "context.hpp"
#include "lines.hpp"
#include "replay_filter.hpp"

namespace sskj::run {

class Watch : public std::enable_shared_from_this<Watch> {
 public:
  struct Handlers {
    std::function<void(const Error&)> failed;       ///< exit or fatal line; at most once; `ended` follows after stop()
    std::function<void(const StepResult&)> ended;   ///< exactly once, from the loop, after StepFinished was emitted
  };

  Watch(ContextPtr context, const plan::Step& step, Handlers handlers);

  void start();
  /// The stage is over (`why` empty: it went well) or given up.
  void stop(std::optional<Error> why);

 private:
  struct Channel {
    explicit Channel(const Secrets& secrets) : clean(secrets, /*engine_log=*/true) {}
    ReplayFilter replay;
    Redactor clean;
    LineSplitter lines;
  };

  void send();
  void on_output(Stream stream, std::string_view bytes);
  void report(Stream stream, const std::string& bytes);  ///< output without secrets
  void report_rest();                                    ///< no more of this output comes
  void on_line(std::string_view line);
  void note_phase(const Phase& phase);
  void on_done(const Outcome& outcome);
  void reconnect(const std::string& reason);
  void fail(Errc code, std::string expected, std::string got, const std::string& hint);
  void finish();

  ContextPtr context_;
  const plan::Step& step_;
  Handlers handlers_;
  StepResult result_;
  std::string script_;
  std::array<Channel, 2> channels_{Channel(context_->secrets), Channel(context_->secrets)};  // by Stream
  std::deque<std::string> last_lines_;
  Backoff backoff_;
  std::optional<std::string> disconnected_;  // why, until output comes again
  Millis started_{0};
  CallId call_ = 0;
  CallId timer_ = 0;
  bool stopping_ = false;
  bool failed_ = false;
  bool finished_ = false;
};

}  // namespace sskj::run
