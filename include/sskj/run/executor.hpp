// Executor: runs a plan over a transport and reports events. It cannot invent work: it sees plans only, and links neither profiles, checks nor recipes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/plan/plan.hpp"
#include "sskj/run/event.hpp"
#include "sskj/run/transport.hpp"

namespace sskj::run {

/// What a judge sees of one node.
struct NodeOutput {
  std::string node;
  const StepResult* result = nullptr;
};

/// A judge's answer. Findings without a node get the step's. `ok` decides the step (or stage); `again` asks an HttpProbe with poll_every to go on polling, `progress` says why in three words.
struct Verdict {
  bool ok = false;
  bool again = false;
  std::string progress;
  std::vector<Finding> findings;
  std::vector<Report> reports;
  std::optional<Error> error;   ///< set when !ok && !again
  std::optional<plan::HttpProbe> ask_again;  ///< one changed repetition of the request (e.g. larger max_tokens after finish_reason length)
};

using StepJudge = std::function<Verdict(const plan::Step&, std::string_view expectation, const StepResult&)>;
using StageJudge = std::function<Verdict(const plan::Stage&, std::string_view expectation, const std::vector<NodeOutput>&)>;
/// Reads one log line of a watch step; nullopt = nothing to say.
using LineMatcher = std::function<std::optional<Phase>(const plan::Step&, std::string_view line)>;

/// Pure functions handed in by the composition root, by name.
struct Drivers {
  std::map<std::string, StepJudge, std::less<>> step_judges;
  std::map<std::string, StageJudge, std::less<>> stage_judges;
  LineMatcher line_matcher;
  std::function<Result<std::string>(const plan::SecretRef&)> secret;
};

struct Limits {
  std::size_t fanout = 64;               ///< nodes worked on at once
  std::size_t max_output = 1U << 20;     ///< bytes kept per stream and step (head and tail)
  bool keep_failed = false;              ///< skip undo
  bool stream_all = false;               ///< StepOutput for every script, not for followed ones only (-vv)
  std::string run_directory;             ///< passed on in RunStarted; empty = no journal
};

/// One run of a plan that validate() accepts. start() returns at once; `finished` is called once, from the loop. The plan, transport and sink outlive it.
///
/// After a lost connection a script, put or check is sent once more, the same bytes, as soon as the node can be reached again: within 30 s, or, in a stage that
/// waits (has a polled HttpProbe), within the step's deadline. Lost again is final. In a waiting stage a node that cannot be reached is tried until the deadline,
/// except for a changed or unknown host key. Values of secrets are replaced by `[secret]` in everything remote that enters an event.
class Executor {
 public:
  Executor(const plan::Plan& plan, Transport& transport, EventSink& sink, Drivers drivers, Limits limits, RunVars vars);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  void start(std::function<void(ExitCode)> finished);
  /// First interrupt: no new work, cancel what runs, undo and `always` stages still run, then finish with `code` (interrupted or terminated).
  void request_cancel(ExitCode code);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace sskj::run
