#include "execute.hpp"

#include <csignal>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>
#include <variant>

#include "detach.hpp"
#include "environment.hpp"
#include "run_record.hpp"
#include "sskj/app/verbs.hpp"
#include "sskj/net/loop.hpp"
#include "sskj/recipes/drivers.hpp"
#include "sskj/run/executor.hpp"
#include "sskj/run/journal.hpp"
#include "sskj/run/tee.hpp"
#include "sskj/ssh/bootstrap.hpp"
#include "sskj/view/diagnostics.hpp"
#include "sskj/view/plan_view.hpp"
#include "sskj/view/tables.hpp"

namespace sskj::app {
namespace {

constexpr run::Millis k_tick{100};  // ten redraws a second

view::RemoteOutput remote_output(const Request& request) {
  if (request.verb == "exec") return request.prefix ? view::RemoteOutput::prefixed : view::RemoteOutput::folded;
  if (request.verb == "gc") return view::RemoteOutput::folded;
  if (request.verb == "logs") return view::RemoteOutput::prefixed;
  return view::RemoteOutput::hidden;
}

// A run that changes or judges something leaves a directory; status and logs, which cron may ask every minute, do not.
bool leaves_journal(const plan::Plan& plan) {
  const auto changes = [](const plan::Step& step) {
    if (const auto* script = std::get_if<plan::RunScript>(&step.action)) return script->mutates;
    return std::holds_alternative<plan::PutFile>(step.action);
  };
  const auto any = [&](const plan::Stage& stage) { return std::any_of(stage.steps.begin(), stage.steps.end(), changes); };
  return std::any_of(plan.stages.begin(), plan.stages.end(), any);
}

bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

// One run and everything that lives as long as it does.
class Session {
 public:
  Session(const Request& request, const plan::Plan& plan, view::Output& output)
      : request_(request), output_(output), options_(view_options(request)), vars_(run_of(request, plan)), renderer_(view::choose_renderer(options_, output), options_, output) {
    stream_only_ = options_.format != view::Format::json && options_.remote_output == view::RemoteOutput::prefixed && !leaves_journal(plan);
    open_journal(plan);
    std::vector<run::EventSink*> sinks;
    if (journal_) sinks.push_back(journal_.get());  // first: what is on the screen is on the disk
    sinks.push_back(&renderer_);
    tee_ = std::make_unique<run::TeeSink>(std::move(sinks));
    transport_ = ssh::make_transport(loop_, ssh_options(request, [this](const std::string& note) { renderer_.note(note); }));
    run::Drivers drivers = recipes::drivers();
    drivers.secret = resolve_secret;
    run::Limits limits;
    limits.fanout = request.fanout;
    limits.keep_failed = request.keep_failed;
    limits.stream_all = request.verbose >= 2;
    if (journal_) limits.run_directory = journal_->directory();
    executor_ = std::make_unique<run::Executor>(plan, *transport_, *tee_, std::move(drivers), limits, vars_);
  }

  ExitCode run() {
    if (is_detached(request_) && !journal_) return ExitCode::usage;  // said already; who began this run waits for the word that it has its record
    loop_.on_signal(SIGINT, [this] { interrupt(ExitCode::interrupted); });
    loop_.on_signal(SIGTERM, [this] { interrupt(ExitCode::terminated); });
    // A closed terminal or a dropped login must not leave the nodes locked; with nohup, or detached, it is to change nothing.
    if (!is_ignored(SIGHUP)) loop_.on_signal(SIGHUP, [this] { interrupt(ExitCode::terminated); });
    loop_.on_signal(SIGWINCH, [this] { resize(); });
    if (is_detached(request_)) say_ready();
    tick();
    executor_->start([this](ExitCode code) {
      code_ = code;
      loop_.stop();
    });
    loop_.run();
    output_.out.drain(view::k_drain_limit);
    output_.err.drain(view::k_drain_limit);
    return code_;
  }

 private:
  void open_journal(const plan::Plan& plan) {
    const bool detached = is_detached(request_);
    if (!detached && !leaves_journal(plan)) return;
    run::JournalOptions options = journal_options(request_, vars_.run);
    options.on_error = [this](const Error& error) {
      renderer_.note("the run directory cannot be written: " + error.message);
      renderer_.directory_broken();
    };
    auto opened = detached ? run::Journal::adopt(plan, std::move(options), k_lock_fd) : run::Journal::open(plan, std::move(options));
    if (opened) {
      journal_ = std::move(*opened);
      if (detached) return;
      if (const auto fault = prune_old_runs(vars_.run)) renderer_.note(*fault);
    } else {
      // An operator whose disk is full must still be able to stop a deployment.
      renderer_.note("this run leaves no record: " + opened.error().message);
    }
  }

  void tick() {
    renderer_.tick(loop_.now());
    if (stream_only_) output_.out.look();  // an idle log writes nothing that would tell
    if (output_.out.closed()) interrupt_once(reader_left_code());
    loop_.after(k_tick, [this] { tick(); });
  }

  // `sskj logs -F | head -5`: whoever reads has seen enough. A command that changes nodes was cut short by it, and a full disk behind stdout is a fault.
  ExitCode reader_left_code() const { return stream_only_ && output_.out.error() == EPIPE ? ExitCode::done : ExitCode::interrupted; }

  void interrupt_once(ExitCode code) {
    if (interrupted_) return;
    interrupted_ = true;
    executor_->request_cancel(code);
  }

  void interrupt(ExitCode code) {
    if (!interrupted_) return interrupt_once(code);
    view::show_note(output_, options_, "left at once: what was started may still run and the nodes may still be locked; look with `sskj status`, free them with `sskj lock release`");
    output_.err.drain(run::Millis{200});
    _exit(static_cast<int>(code));  // second interrupt: leave at once; the nodes' watchdogs end what still runs
  }

  void resize() {
    view::refresh_size(output_);
    renderer_.resize(output_.width, output_.height);
  }

  const Request& request_;
  view::Output& output_;
  view::Options options_;
  run::RunVars vars_;
  net::Loop loop_;
  view::Renderer renderer_;
  std::unique_ptr<run::Journal> journal_;
  std::unique_ptr<run::TeeSink> tee_;
  std::unique_ptr<run::Transport> transport_;
  std::unique_ptr<run::Executor> executor_;
  ExitCode code_ = ExitCode::internal;
  bool interrupted_ = false;
  bool stream_only_ = false;  // nothing but lines for the reader
};

}  // namespace

view::Options view_options(const Request& request) {
  view::Options options;
  options.format = request.output == Output::json ? view::Format::json : request.output == Output::ndjson ? view::Format::ndjson : view::Format::text;
  options.verbosity = request.quiet ? -1 : request.verbose;
  options.remote_output = remote_output(request);
  if (request.verb == "status" || request.verb == "smoke") options.answer = request.verb;
  if (request.verb == "lock status") options.answer = "lock";
  const Verb* verb = find_verb(request.verb);
  if (verb != nullptr && has(verb->flags, VerbFlags::lifecycle)) options.resume = request.command_line;  // with all its flags: without them it would be another deployment
  return options;
}

ExitCode report(const Request& request, view::Output& output, const Error& error, const Diagnostics& diagnostics) {
  view::show_error(output, view_options(request), error, diagnostics, request.verb);
  return exit_code_of(error.code);
}

ssh::Options ssh_options(const Request& request, std::function<void(const std::string&)> note) {
  ssh::Options options;
  options.way = ssh::parse_way(request.ssh).value_or(ssh::Way::automatic);
  if (request.host_keys == "strict") options.host_keys = ssh::HostKeyPolicy::strict;
  if (request.host_keys == "accept-new") options.host_keys = ssh::HostKeyPolicy::accept_new;
  options.handshakes = request.fanout;  // a bound of the transport's own below it would make --fanout a promise that is not kept
  options.direct_http = request.direct;
  options.config_file = request.ssh_config;
  options.warn = std::move(note);
  return options;
}

ExitCode execute(const Request& request, const plan::Plan& plan, view::Output& output) {
  const view::Options options = view_options(request);
  if (auto valid = plan::validate(plan); !valid) {
    // A recipe's plan that does not hold is our fault; a saved plan's is the file's.
    if (request.verb != "apply") valid.error().code = Errc::internal;
    return report(request, output, valid.error());
  }
  if (request.dry_run) {
    view::show_plan(output, options, plan, ssh::bootstrap_script());
    return ExitCode::done;
  }
  if (request.detach && !is_detached(request)) return detach(request, plan, output);
  return Session(request, plan, output).run();
}

}  // namespace sskj::app
