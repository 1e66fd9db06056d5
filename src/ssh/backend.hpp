// Backend: one way to a node. The router keeps the calls, their deadlines and the HTTP client; a backend runs scripts and opens streams.
#pragma once

#include <functional>
#include <memory>
#include <tl/expected.hpp>

#include "sskj/net/fd.hpp"
#include "sskj/net/loop.hpp"
#include "sskj/run/transport.hpp"

namespace sskj::ssh {

enum class Stop { cancelled, deadline };

/// A script that is running, or on its way to. Destroying it drops it without an answer.
class RunningExec {
 public:
  RunningExec() = default;
  RunningExec(const RunningExec&) = delete;
  RunningExec& operator=(const RunningExec&) = delete;
  virtual ~RunningExec() = default;
  /// `done` follows: Cancelled, TimedOut, or NotRun (with the phase named) when nothing had been sent.
  virtual void stop(Stop reason) = 0;
};

/// A connected stream, or how the request ends without one.
using StreamOpened = std::function<void(tl::expected<net::Fd, run::HttpOutcome>)>;

/// A stream that is being opened or used; destroying it gives it up.
class Stream : public net::Operation {
 public:
  /// The stream ended before a byte came back. False when there is nothing to say about why (it was really open); else `done` follows from the loop.
  virtual bool explain_close(std::function<void(run::HttpOutcome)> /*done*/) {  // NOLINT(performance-unnecessary-value-param): overrides keep it
    return false;
  }
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;
  /// `done` may come from inside a turn of a session: the router posts it.
  virtual std::unique_ptr<RunningExec> exec(const run::ExecRequest& request, run::ExecHandlers handlers) = 0;
  /// A stream to host:port as the node sees it. `opened` is called from the loop.
  virtual std::unique_ptr<Stream> open_stream(const run::HttpRequest& request, StreamOpened opened) = 0;
};

}  // namespace sskj::ssh
