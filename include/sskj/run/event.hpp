// Events: all that the executor says. Renderers, the journal and tests read these and nothing else.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sskj/core/exit_code.hpp"
#include "sskj/core/result.hpp"
#include "sskj/plan/plan.hpp"
#include "sskj/run/transport.hpp"

namespace sskj::run {

/// Every host ends in exactly one class; the counts add up to the total.
enum class HostClass { ok, failed, unreachable, timed_out, lost, skipped };
std::string_view to_string(HostClass host);

enum class FindingStatus { ok, warn, fail, unknown, not_applicable };
std::string_view to_string(FindingStatus status);

/// Result of one check on one node (or on the whole stage: node empty). Unknown is never ok.
struct Finding {
  std::string check;       ///< id, e.g. "gpu-idle"
  FindingStatus status = FindingStatus::unknown;
  std::string node;
  std::string expected;
  std::string got;
  std::string message;     ///< one sentence; equal text on several nodes is folded by renderers
  std::string hint;        ///< the one next command
  Errc failure = Errc::preflight;  ///< category if status is fail
};

enum class StepStatus { ok, changed, unchanged, failed, not_run, lost, timed_out, cancelled, skipped };
std::string_view to_string(StepStatus status);

/// How a step ended. For an HttpProbe, what its judge sees: `http` set = an answer came; `http` empty and error.code not_ready = nothing listens (refused: normal
/// while a model loads); `http` empty and error.code timeout = no answer within the request timeout. An unreachable node or a broken connection is not shown
/// to the judge: nothing is known about the service then.
struct StepResult {
  std::string step;
  std::string node;
  StepStatus status = StepStatus::skipped;
  std::optional<Error> error;              ///< set unless ok/changed/unchanged/skipped; the message begins with the node
  std::optional<int> exit_status;          ///< of a script
  std::string out, err;                    ///< raw bytes without the `sskj: changed` line; beyond Limits::max_output the first and the last half of it
  std::size_t out_dropped = 0, err_dropped = 0;  ///< bytes cut out between head and tail
  std::optional<HttpResponse> http;
  std::vector<Finding> findings;
  Millis elapsed{0};
  unsigned attempts = 1;                   ///< times the bytes were sent (a connection that never came about counts too)
  std::string expected, got;               ///< for a failure, e.g. "exit status 0" / "exit status 1"; without the node, so that equal failures fold
  std::vector<std::string> last_lines;     ///< for a failure: up to 20 last lines of stderr, else stdout; printable UTF-8
};

/// Progress of one rank as read from its log: "weights" 37/96.
struct Phase {
  std::string node;
  std::string step;       ///< the watch step
  std::string name;       ///< init, rendezvous, weights, state-cache, kv, graphs, warm-up, ready
  std::size_t done = 0, total = 0;  ///< 0/0 = no count
  bool fatal = false;     ///< a fatal signature: the stage fails
  std::string line;       ///< the evidence
  std::string cause;      ///< for fatal: what it means, and
  std::string hint;       ///< what to do
};

/// A machine-readable answer computed by a stage's verdict (status, smoke): canonical JSON; view/ renders it by kind.
struct Report { std::string kind; std::string json; };

struct RunStarted { const plan::Plan* plan = nullptr; RunVars vars; std::string directory; };
struct StageStarted { const plan::Stage* stage = nullptr; std::size_t number = 0, count = 0; bool undo = false; bool always = false; };  ///< number as in to_text
struct StepStarted { const plan::Step* step = nullptr; };
struct StepOutput { const plan::Step* step = nullptr; Stream stream = Stream::out; std::string bytes; bool watch = false; };  ///< follow steps; watch steps (watch = true: for the journal, not for the screen); all with Limits::stream_all
struct StepRetried { const plan::Step* step = nullptr; std::string reason; };
struct StepProgress { const plan::Step* step = nullptr; std::string text; };  ///< e.g. "health: refused (loading)"; on change only
struct PhaseReported { Phase phase; };
struct StepFinished { const plan::Step* step = nullptr; StepResult result; };
struct FindingReported { Finding finding; };
struct ReportReady { Report report; };
struct StageFinished { const plan::Stage* stage = nullptr; bool ok = false; bool skipped = false; Millis elapsed{0}; std::optional<Error> error; };
struct HostSummary { std::map<std::string, HostClass> hosts; };
struct RunFinished {
  ExitCode code = ExitCode::internal;
  std::vector<ExitCode> all_codes;
  HostSummary summary;
  Millis elapsed{0};
  bool interrupted = false;
  bool died = false;      ///< never from an executor: said by whoever replays a journal that ends without this event, its run being gone
};

using Event = std::variant<RunStarted, StageStarted, StepStarted, StepOutput, StepRetried, StepProgress, PhaseReported, StepFinished, FindingReported, ReportReady,
                           StageFinished, RunFinished>;

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on(const Event& event) = 0;
};

}  // namespace sskj::run
