// Transport: the narrow seam between the executor and the world. Implementations: ssh2 | local | openssh (module ssh), strict fake (tests).
//
// No loop, no Asio, no thread here: calls return at once, handlers are called later from the loop that the composition root runs (never from inside the call
// that registered them). The fake owns time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "sskj/core/result.hpp"
#include "sskj/plan/plan.hpp"

namespace sskj::run {

using plan::Millis;
using CallId = std::uint64_t;  ///< 0 is never used
enum class Stream { out, err };

/// What only a run knows; the bootstrap exports them as SSKJ_RUN, SSKJ_PLAN, SSKJ_SINCE before the script runs.
struct RunVars {
  std::string run;    ///< run id
  std::string plan;   ///< plan digest
  std::string since;  ///< RFC 3339 UTC time of the run's start, for `docker logs --since`
};

struct ExecRequest {
  const plan::Node* node = nullptr;  ///< must outlive the call
  std::string_view script;           ///< exact bytes; must outlive the call
  std::string_view input;            ///< stdin of the script (file content of a put); empty = /dev/null; must outlive the call
  RunVars vars;
  Millis deadline{0};                ///< for the whole call, connecting included; 0 = none
};

/// How a call on a node ended. Everything that is not Exited means that the script's own outcome is unknown or that it never ran.
struct Exited { int status = 0; };                ///< the trailer arrived: this is the script's exit status (128+n when killed by signal n)
struct NotRun { Error error; };                   ///< unreachable, auth, host_key, timeout while connecting: the script was not sent
struct Lost { Error error; };                     ///< sent, but no trailer: never success; resending once is the executor's decision
struct TimedOut { Error error; };                 ///< deadline passed while running; the remote process group was told to stop
struct Cancelled {};
using Outcome = std::variant<Exited, NotRun, Lost, TimedOut, Cancelled>;

struct ExecHandlers {
  std::function<void(Stream, std::string_view)> output;  ///< raw bytes as they arrive; trailer stripped
  std::function<void(Outcome)> done;                     ///< exactly once, last
};

struct HttpRequest {
  const plan::Node* node = nullptr;
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string method = "GET";
  std::string target = "/";
  std::string body;
  std::string bearer;                 ///< resolved secret; never logged
  Millis timeout{25'000};
  std::size_t max_body = 4U << 20;    ///< bytes; a longer body is cut and marked
};

struct HttpResponse {
  int status = 0;
  std::string body;
  bool truncated = false;
  Millis elapsed{0};
};

/// Refused is its own case: "nothing listens yet" is normal while a model loads and is not an unreachable node.
struct HttpRefused { std::string message; };
using HttpOutcome = std::variant<HttpResponse, HttpRefused, NotRun, TimedOut, Lost, Cancelled>;

class Transport {
 public:
  virtual ~Transport() = default;

  virtual CallId exec(const ExecRequest& request, ExecHandlers handlers) = 0;
  virtual CallId http(const HttpRequest& request, std::function<void(HttpOutcome)> done) = 0;
  virtual CallId after(Millis delay, std::function<void()> fire) = 0;
  /// Ends a call early: its `done` follows with Cancelled (for exec after the remote process group was told to stop, bounded by 5 s). Timers just vanish. Unknown ids are ignored.
  virtual void cancel(CallId call) = 0;
  /// Monotonic, for durations only.
  virtual Millis now() const = 0;
};

}  // namespace sskj::run
