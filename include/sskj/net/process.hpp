// Child processes: posix_spawn with pipes, own process group, deadline, bounded output, always reaped.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/core/result.hpp"
#include "sskj/net/fd.hpp"
#include "sskj/net/loop.hpp"

namespace sskj::net {

struct ProcessSpec {
  std::vector<std::string> argv;  ///< argv[0] is looked up in PATH
  std::vector<std::string> env;   ///< "NAME=value", complete; empty = inherit ours
  bool stdin_pipe = false;        ///< false: /dev/null
  bool new_session = false;       ///< setsid instead of a new process group only (what sshd does for a command)
  int stdio_fd = -1;              ///< when set: stdin and stdout are this descriptor, which stays the caller's; output() then sees stream 2 only
};

struct ExitStatus {
  int code = 0;    ///< exit status, when signal is 0
  int signal = 0;  ///< the signal that killed it
};

struct ProcessHandlers {
  std::function<void(int stream, std::string_view bytes)> output;  ///< stream 1 or 2
  std::function<void()> writable;                                  ///< stdin takes bytes again after a short write()
  std::function<void(ExitStatus)> exited;                          ///< once, last: reaped and its output read (a grandchild that keeps a pipe open is waited for 500 ms)
};

/// A running child. Destroying it kills the process group (SIGKILL) and reaps.
class Process {
 public:
  /// Errc::internal when it cannot be started (no such program, no descriptors): the message says which.
  static Result<std::unique_ptr<Process>> spawn(Loop& loop, const ProcessSpec& spec, ProcessHandlers handlers);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Bytes taken, possibly fewer than given (then `writable` follows). Bytes for a child that closed its stdin are taken and dropped.
  std::size_t write(std::string_view bytes);
  void close_stdin();
  void signal_group(int signal) const;
  pid_t pid() const;

 private:
  struct State;
  explicit Process(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

struct CommandOutput {
  ExitStatus status;
  std::string out, err;       ///< at most max_output bytes each
  bool truncated = false;
};

/// Runs a short command to its end. Errors: Errc::timeout after `deadline` (the group is killed), Errc::internal when it cannot start.
Handle run_command(Loop& loop, const ProcessSpec& spec, Millis deadline, std::size_t max_output, std::function<void(Result<CommandOutput>)> done);

/// Full path of a program in `path_variable` ("/usr/bin:/bin"); empty when there is none. Names with a slash are taken as they are.
std::string find_program(std::string_view name, std::string_view path_variable);

}  // namespace sskj::net
