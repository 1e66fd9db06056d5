#include "process_exec.hpp"

#include <fmt/format.h>

#include <utility>

#include "outcome.hpp"

namespace sskj::ssh {

namespace {

class ProcessExec : public RunningExec {
 public:
  ProcessExec(net::Loop& loop, const Options& options, ProcessPlan plan, const run::ExecRequest& request, run::ExecHandlers handlers)
      : loop_(loop),
        options_(options),
        label_(request.node->id),
        deadline_(request.deadline),
        key_(new_key()),
        feed_(key_, request.script, request.input, request.vars),
        decoder_(key_),
        handlers_(std::move(handlers)),
        plan_(std::move(plan)) {}

  /// The process's own destructor stops the group, with SIGKILL; its watchdog sees the closed stdin as well.
  ~ProcessExec() override { loop_.cancel(timer_); }

  void start() {
    if (plan_.gate == nullptr) {
      spawn();
      return;
    }
    plan_.gate->ask(plan_.entrance, [this, alive = std::weak_ptr(alive_)](std::unique_ptr<Gate::Ticket> ticket) {
      if (!alive.expired() && !stopping_) {
        ticket_ = std::move(ticket);
        spawn();
      }
    });
  }

  void stop(Stop reason) override {
    if (stopping_ || !handlers_.done) {
      return;
    }
    stopping_ = true;
    handlers_.output = nullptr;
    if (reason == Stop::deadline && !decoder_.started()) {
      stop_outcome_ = run::NotRun{{Errc::timeout, fmt::format("{} was not ready for the script in time (phase open)", label_), "raise the deadline, or see why the node is slow"}};
    } else if (reason == Stop::deadline) {
      stop_outcome_ = run::TimedOut{{Errc::timeout, fmt::format("the script on {} did not end within {:g} s (phase run)", label_, static_cast<double>(deadline_.count()) / 1000),
                                     "its processes were told to stop; look at what it waited for"}};
    }
    loop_.cancel(timer_);
    if (!process_) {
      timer_ = 0;
      finish(stop_outcome_);
      return;
    }
    process_->close_stdin();
    timer_ = loop_.after(options_.timeouts.close, [this] {
      timer_ = 0;
      finish(stop_outcome_);
    });
  }

 private:
  void spawn() {
    net::ProcessSpec spec;
    spec.argv = plan_.argv;
    spec.env = options_.environment.variables;
    spec.stdin_pipe = spec.new_session = true;
    net::ProcessHandlers handlers;
    handlers.output = [this](int stream, std::string_view bytes) { received(stream == 1 ? run::Stream::out : run::Stream::err, bytes); };
    handlers.writable = [this] { write(); };
    handlers.exited = [this](net::ExitStatus status) { exited(status); };
    auto process = net::Process::spawn(loop_, spec, std::move(handlers));
    if (!process) {
      finish(run::NotRun{process.error()});
      return;
    }
    process_ = std::move(*process);
    write();
  }

  void emit(run::Stream stream, std::string_view bytes) {
    if (handlers_.output) {
      handlers_.output(stream, bytes);
    }
  }

  void received(run::Stream stream, std::string_view bytes) {
    decoder_.feed(stream, bytes, [this](run::Stream s, std::string_view piece) { emit(s, piece); });
    if (decoder_.started()) {
      ticket_.reset();
    }
    if (decoder_.status() && !stopping_) {
      settle();
    }
  }

  /// The trailer is here, but a child that the script left behind may hold the streams open: its output is nobody's.
  void settle() {
    loop_.cancel(timer_);
    timer_ = loop_.after(k_grace_after_trailer, [this] {
      timer_ = 0;
      finish(run::Exited{*decoder_.status()});
    });
  }

  void write() {
    while (!stopping_ && !feed_.peek().empty()) {
      const auto piece = feed_.peek();
      const std::size_t took = process_->write(piece);
      feed_.consume(took);
      if (took < piece.size()) {
        return;
      }
    }
  }

  void exited(net::ExitStatus status) {
    decoder_.finish([this](run::Stream s, std::string_view piece) { emit(s, piece); });
    if (stopping_) {
      finish(stop_outcome_);
    } else {
      finish(decoder_.status() ? run::Outcome(run::Exited{*decoder_.status()}) : plan_.end(decoder_, status));
    }
  }

  void finish(run::Outcome outcome) {
    loop_.cancel(timer_);
    timer_ = 0;
    handlers_.output = nullptr;
    if (auto call = std::exchange(handlers_.done, nullptr)) {
      call(std::move(outcome));
    }
  }

  net::Loop& loop_;
  const Options& options_;
  std::string label_;
  run::Millis deadline_;
  std::string key_;
  Feed feed_;
  Decoder decoder_;
  run::ExecHandlers handlers_;
  ProcessPlan plan_;
  std::unique_ptr<Gate::Ticket> ticket_;
  run::Outcome stop_outcome_ = run::Cancelled{};
  bool stopping_ = false;
  net::TimerId timer_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  std::unique_ptr<net::Process> process_;
};

}  // namespace

std::unique_ptr<RunningExec> exec_process(net::Loop& loop, const Options& options, ProcessPlan plan, const run::ExecRequest& request, run::ExecHandlers handlers) {
  auto exec = std::make_unique<ProcessExec>(loop, options, std::move(plan), request, std::move(handlers));
  exec->start();
  return exec;
}

}  // namespace sskj::ssh
