// Loop: the one event loop of the process (an Asio io_context behind a pointer), with timers, signals and descriptor readiness.
//
// One per process, made and run by the composition root; everything else is handed a reference. All calls except post() belong to the thread that runs it.
// Handlers are never called from inside the call that registered them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace sskj::net {

using Millis = std::chrono::milliseconds;
using TimerId = std::uint64_t;  ///< 0 is never used

class Loop {
 public:
  /// SIGPIPE is ignored from here on for the whole process: a peer that went away is an error code, not a death. Children get it back (process.hpp).
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run();                                    ///< until stop(); may be called again afterwards
  void stop();
  void post(std::function<void()> fn);           ///< thread-safe
  TimerId after(Millis delay, std::function<void()> fn);
  void cancel(TimerId timer);                    ///< the timer will not fire any more; unknown ids are ignored
  Millis now() const;                            ///< monotonic
  /// Calls `fn` at each delivery of `signal`, as long as the loop lives. The default action is off from here on.
  void on_signal(int signal, std::function<void()> fn);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Readiness of one descriptor. Interest is level-like and one-shot: want() arms what is not armed yet, each readiness calls back once and must be asked for again.
/// Does not own the descriptor; destroy the watch before closing it. May be destroyed from inside its own callback.
class Watch {
 public:
  using Callback = std::function<void(bool readable, bool writable)>;
  Watch(Loop& loop, int fd, Callback callback);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void want(bool read, bool write);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A running asynchronous operation; destroying it cancels it, its handler is not called any more.
class Operation {
 public:
  Operation() = default;
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
};
using Handle = std::unique_ptr<Operation>;

}  // namespace sskj::net
