#include "sskj/run/executor.hpp"

#include <algorithm>
#include <set>

#include "context.hpp"
#include "pulse.hpp"
#include "sskj/core/text.hpp"
#include "stage_runner.hpp"

namespace sskj::run {
namespace {
enum class StageState { waiting, ok, failed, skipped };
}

struct Executor::Impl : std::enable_shared_from_this<Executor::Impl> {
  explicit Impl(ContextPtr with) : context(std::move(with)), states(context->plan.stages.size(), StageState::waiting) {}

  void begin();
  void resolve_masked();
  void next_stage();
  void next_undo();
  void next_always();
  void finish();
  void start_pulse();
  void run(const plan::Stage& stage, StagePart part, std::size_t number, std::function<void(const StageEnd&)> then);
  void give_up(StepStatus status, const Error& why);
  void note(const plan::Stage& stage, const StageEnd& end);
  [[nodiscard]] bool wanted(const plan::Stage& stage) const;
  [[nodiscard]] bool over() const { return interrupted || expired || robbed; }
  [[nodiscard]] const plan::Plan& plan() const { return context->plan; }

  ContextPtr context;
  std::function<void(ExitCode)> finished;
  std::vector<StageState> states;      // by index in plan.stages
  std::set<std::string> settled;       // stages whose undo is dropped
  std::shared_ptr<StageRunner> runner;
  std::size_t next = 0;                // next stage, next undo (counted from the end), next of always
  StagePart part = StagePart::steps;
  bool failed = false;                 // a failure that is not tolerated
  bool interrupted = false;
  bool expired = false;                // the total deadline passed
  bool robbed = false;                 // a node is not held by this run any more
  CallId deadline = 0;
  Millis started{0};
};

void Executor::Impl::begin() {
  started = context->transport.now();
  context->emit(RunStarted{&plan(), context->vars, context->limits.run_directory});
  if (const auto valid = plan::validate(plan()); !valid) {
    context->emit(FindingReported{{"plan", FindingStatus::fail, "", "", "", valid.error().message, valid.error().hint, valid.error().code}});
    context->ledger.failure(valid.error().code);
    return finish();
  }
  start_pulse();
  resolve_masked();
  if (plan().deadline > Millis{0}) {
    deadline = context->transport.after(plan().deadline, [self = weak_from_this()] {
      const auto impl = self.lock();
      if (!impl || impl->part != StagePart::steps) return;
      impl->expired = true;
      impl->context->ledger.failure(Errc::timeout);
      impl->give_up(StepStatus::timed_out, {Errc::timeout, "the total deadline of " + text::format_duration(impl->plan().deadline) + " passed" + impl->context->where(), ""});
    });
  }
  next_stage();
}

void Executor::Impl::start_pulse() {
  if (!plan().heartbeat) return;
  context->pulse = std::make_shared<Pulse>(*context, *plan().heartbeat, [self = weak_from_this()](const std::string& node, const Error& why) {
    const auto impl = self.lock();
    if (!impl || impl->part == StagePart::always) return;
    impl->context->emit(FindingReported{{"lock", FindingStatus::fail, node, "the lock of this run", "", why.message, why.hint, why.code}});
    impl->context->ledger.failure(why.code);
    impl->robbed = true;
    impl->give_up(StepStatus::cancelled, {Errc::cancelled, node + ": " + why.message, why.hint});
  });
}

void Executor::Impl::resolve_masked() {
  for (const auto& secret : plan().redact) {
    const auto value = context->secrets.value(secret);
    if (value) continue;
    context->emit(FindingReported{{"redact", FindingStatus::warn, "", "a value to mask", "none", secret.ref + " cannot be read here, so its value is masked only where the output calls it an API key: " + value.error().message,
                                   value.error().hint, value.error().code}});
  }
}

void Executor::Impl::run(const plan::Stage& stage, StagePart as, std::size_t number, std::function<void(const StageEnd&)> then) {
  runner = std::make_shared<StageRunner>(context, stage, as, number, [self = weak_from_this(), then = std::move(then)](const StageEnd& end) {
    const auto impl = self.lock();
    if (!impl) return;
    impl->runner.reset();
    then(end);
  });
  runner->start();
}

bool Executor::Impl::wanted(const plan::Stage& stage) const {
  if (over()) return false;
  const auto named = std::find_if(plan().stages.begin(), plan().stages.end(), [&](const plan::Stage& other) { return other.id == stage.only_if_stage; });
  const bool has_name = named != plan().stages.end();
  const auto state = has_name ? states.at(static_cast<std::size_t>(named - plan().stages.begin())) : StageState::waiting;
  switch (stage.only_if) {
    case plan::OnlyIf::always: return true;
    case plan::OnlyIf::previous_ok: return !failed && (!has_name || state == StageState::ok);
    case plan::OnlyIf::previous_failed: break;
  }
  if (!has_name) return std::find(states.begin(), states.end(), StageState::failed) != states.end();
  // A branch on a tolerated failure is part of the normal way and ends with it; a branch on a fatal one explains that failure.
  return state == StageState::failed && (!failed || named->on_failure == plan::OnFailure::fail);
}

void Executor::Impl::next_stage() {
  while (next < plan().stages.size() && !wanted(plan().stages[next])) {
    StageRunner::report_skipped(*context, plan().stages[next]);
    states[next++] = StageState::skipped;
  }
  if (next < plan().stages.size()) {
    const auto& stage = plan().stages[next];
    return run(stage, StagePart::steps, next + 1, [this, &stage](const StageEnd& end) {
      states[next++] = end.ok ? StageState::ok : StageState::failed;
      if (end.ok) settled.insert(stage.settles.begin(), stage.settles.end());
      note(stage, end);
      next_stage();
    });
  }
  context->transport.cancel(std::exchange(deadline, 0));
  part = StagePart::undo;
  next = (failed || over()) && !context->limits.keep_failed ? plan().stages.size() : 0;
  next_undo();
}

void Executor::Impl::next_undo() {
  while (next > 0) {
    const auto& stage = plan().stages[--next];
    const bool began = states[next] == StageState::ok || states[next] == StageState::failed;
    if (!began || stage.undo.empty() || settled.contains(stage.id)) continue;
    return run(stage, StagePart::undo, next + 1, [this, &stage](const StageEnd& end) {
      note(stage, end);
      next_undo();
    });
  }
  if (context->pulse) context->pulse->stop();
  part = StagePart::always;
  next = 0;
  next_always();
}

void Executor::Impl::next_always() {
  if (next == plan().always.size()) return finish();
  const auto& stage = plan().always[next];
  run(stage, StagePart::always, plan().stages.size() + next + 1, [this, &stage](const StageEnd& end) {
    ++next;
    note(stage, end);
    next_always();
  });
}

void Executor::Impl::note(const plan::Stage& stage, const StageEnd& end) {
  if (stage.on_failure == plan::OnFailure::tolerate) return;
  for (const Errc code : end.failures) context->ledger.failure(code);
  failed = failed || !end.ok;
}

void Executor::Impl::give_up(StepStatus status, const Error& why) {
  if (part == StagePart::steps && runner) runner->abort(status, why);
}

void Executor::Impl::finish() {
  RunFinished event;
  event.code = context->ledger.code();
  event.all_codes = context->ledger.codes();
  event.summary = context->ledger.hosts();
  event.elapsed = context->transport.now() - started;
  event.interrupted = interrupted;
  context->emit(event);
  if (const auto done = std::exchange(finished, nullptr)) done(event.code);
}

Executor::Executor(const plan::Plan& plan, Transport& transport, EventSink& sink, Drivers drivers, Limits limits, RunVars vars)
    : impl_(std::make_shared<Impl>(std::make_shared<Context>(plan, transport, sink, std::move(drivers), std::move(limits), std::move(vars)))) {}

Executor::~Executor() {
  impl_->context->closed = true;
  if (impl_->context->pulse) impl_->context->pulse->stop();
  if (impl_->runner) impl_->runner->abort(StepStatus::cancelled, {Errc::cancelled, "the run was given up", ""});
}

void Executor::start(std::function<void(ExitCode)> finished) {
  impl_->finished = std::move(finished);
  impl_->context->transport.after(Millis{0}, [self = impl_->weak_from_this()] {
    if (const auto impl = self.lock()) impl->begin();
  });
}

void Executor::request_cancel(ExitCode code) {
  if (impl_->interrupted || !impl_->finished) return;
  impl_->interrupted = true;
  impl_->context->ledger.failure(code);
  impl_->give_up(StepStatus::cancelled, {Errc::cancelled, "interrupted", ""});
}

}  // namespace sskj::run
