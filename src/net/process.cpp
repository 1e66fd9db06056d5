#include "sskj/net/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace sskj::net {

namespace {

constexpr Millis k_straggler_grace{500};
constexpr Millis k_poll_without_pidfd{20};

struct Pipe {
  Fd read, write;
};

bool make_pipe(Pipe& pipe) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return false;
  }
  pipe.read = Fd(ends[0]);
  pipe.write = Fd(ends[1]);
  return true;
}

std::vector<char*> c_strings(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const auto& word : words) {
    out.push_back(const_cast<char*>(word.c_str()));  // posix_spawn takes char* const[] and does not write
  }
  out.push_back(nullptr);
  return out;
}

struct SpawnAttributes {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;

  explicit SpawnAttributes(bool new_session) {
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_init(&actions);
    sigset_t set;
    ::sigemptyset(&set);
    ::posix_spawnattr_setsigmask(&attributes, &set);
    ::sigaddset(&set, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes, &set);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    const int group = new_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    ::posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
  }
  ~SpawnAttributes() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
};

}  // namespace

struct Process::State : std::enable_shared_from_this<Process::State> {
  explicit State(Loop& l) : loop(l) {}
  Loop& loop;
  ProcessHandlers handlers;
  pid_t pid = -1;
  Fd in, out, err, pidfd;
  std::unique_ptr<Watch> watch_in, watch_out, watch_err, watch_pid;
  TimerId timer = 0;
  bool reaped = false;
  bool dead = false;
  bool reported = false;
  ExitStatus status;

  void watch_streams();
  void read_stream(int stream, Fd& fd, std::unique_ptr<Watch>& watch);
  void watch_exit();
  void poll_exit();
  bool try_reap();
  void check_finished();
  void report();
  void destroy();
};

void Process::State::read_stream(int stream, Fd& fd, std::unique_ptr<Watch>& watch) {
  const auto keep = shared_from_this();
  std::array<char, 65536> buffer{};
  // Bounded per turn, so that one talkative child does not starve the loop.
  for (int i = 0; i < 4 && fd; ++i) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got > 0) {
      if (handlers.output) {
        handlers.output(stream, {buffer.data(), static_cast<std::size_t>(got)});
      }
      if (dead) {
        return;
      }
    } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      break;
    } else {
      watch.reset();
      fd.reset();
      check_finished();
      return;
    }
  }
  watch->want(true, false);
}

void Process::State::watch_streams() {
  if (out) {
    watch_out = std::make_unique<Watch>(loop, out.get(), [this](bool, bool) { read_stream(1, out, watch_out); });
    watch_out->want(true, false);
  }
  watch_err = std::make_unique<Watch>(loop, err.get(), [this](bool, bool) { read_stream(2, err, watch_err); });
  watch_err->want(true, false);
  if (in) {
    watch_in = std::make_unique<Watch>(loop, in.get(), [this](bool, bool) {
      if (handlers.writable) {
        handlers.writable();
      }
    });
  }
}

bool Process::State::try_reap() {
  int raw = 0;
  if (reaped || ::waitpid(pid, &raw, WNOHANG) != pid) {
    return reaped;
  }
  reaped = true;
  status = WIFSIGNALED(raw) ? ExitStatus{0, WTERMSIG(raw)} : ExitStatus{WEXITSTATUS(raw), 0};
  return true;
}

void Process::State::watch_exit() {
  pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) {  // kernels before 5.3
    poll_exit();
    return;
  }
  ::fcntl(pidfd.get(), F_SETFD, FD_CLOEXEC);
  watch_pid = std::make_unique<Watch>(loop, pidfd.get(), [this](bool, bool) {
    if (try_reap()) {
      check_finished();
    } else {
      watch_pid->want(true, false);
    }
  });
  watch_pid->want(true, false);
}

void Process::State::poll_exit() {
  timer = loop.after(k_poll_without_pidfd, [this] {
    timer = 0;
    if (try_reap()) {
      check_finished();
    } else {
      poll_exit();
    }
  });
}

void Process::State::check_finished() {
  if (!reaped || reported) {
    return;
  }
  if (!out && !err) {
    report();
  } else if (timer == 0) {
    timer = loop.after(k_straggler_grace, [this] {
      timer = 0;
      report();
    });
  }
}

void Process::State::report() {
  if (reported || dead) {
    return;
  }
  reported = true;
  const auto keep = shared_from_this();
  loop.cancel(timer);
  timer = 0;
  loop.post([keep] {
    if (!keep->dead && keep->handlers.exited) {
      keep->handlers.exited(keep->status);
    }
  });
}

void Process::State::destroy() {
  dead = true;
  loop.cancel(timer);
  watch_in.reset();
  watch_out.reset();
  watch_err.reset();
  watch_pid.reset();
  in.reset();
  if (!reaped && pid > 0) {
    ::kill(-pid, SIGKILL);
    // A killed child is gone at once; one of another user (sudo) may not be ours to kill, so the wait is bounded.
    for (int i = 0; i < 250 && !try_reap(); ++i) {
      ::usleep(2000);
    }
  }
}

Process::Process(std::shared_ptr<State> state) : state_(std::move(state)) {}

Process::~Process() { state_->destroy(); }

Result<std::unique_ptr<Process>> Process::spawn(Loop& loop, const ProcessSpec& spec, ProcessHandlers handlers) {
  Pipe in, out, err;
  const bool own_stdio = spec.stdio_fd >= 0;
  const bool piped = make_pipe(err) && (own_stdio || make_pipe(out)) && (own_stdio || !spec.stdin_pipe || make_pipe(in));
  if (spec.argv.empty() || !piped) {
    return fail(Errc::internal, spec.argv.empty() ? "no program to start" : "no descriptor left for a child process");
  }
  SpawnAttributes spawn(spec.new_session);
  auto* actions = &spawn.actions;
  if (own_stdio) {
    ::posix_spawn_file_actions_adddup2(actions, spec.stdio_fd, 0);
    ::posix_spawn_file_actions_adddup2(actions, spec.stdio_fd, 1);
  } else {
    if (spec.stdin_pipe) {
      ::posix_spawn_file_actions_adddup2(actions, in.read.get(), 0);
    } else {
      ::posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    }
    ::posix_spawn_file_actions_adddup2(actions, out.write.get(), 1);
  }
  ::posix_spawn_file_actions_adddup2(actions, err.write.get(), 2);
  auto argv = c_strings(spec.argv);
  auto env = c_strings(spec.env);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], actions, &spawn.attributes, argv.data(), spec.env.empty() ? environ : env.data());
  if (error != 0) {
    return fail(Errc::internal, "cannot start " + spec.argv[0] + ": " + std::strerror(error));
  }
  auto state = std::make_shared<State>(loop);
  state->handlers = std::move(handlers);
  state->pid = pid;
  state->in = std::move(in.write);
  state->out = std::move(out.read);
  state->err = std::move(err.read);
  for (const Fd* fd : {&state->in, &state->out, &state->err}) {
    if (*fd) {
      set_nonblocking(fd->get());
    }
  }
  state->watch_streams();
  state->watch_exit();
  return std::unique_ptr<Process>(new Process(std::move(state)));
}

std::size_t Process::write(std::string_view bytes) {
  auto& s = *state_;
  std::size_t done = 0;
  while (done < bytes.size()) {
    if (!s.in) {
      return bytes.size();
    }
    const ssize_t sent = ::write(s.in.get(), bytes.data() + done, bytes.size() - done);
    if (sent > 0) {
      done += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN) {
      s.watch_in->want(false, true);
      return done;
    } else if (errno != EINTR) {
      close_stdin();
    }
  }
  return done;
}

void Process::close_stdin() {
  state_->watch_in.reset();
  state_->in.reset();
}

void Process::signal_group(int signal) const {
  if (!state_->reaped) {
    ::kill(-state_->pid, signal);
  }
}

pid_t Process::pid() const { return state_->pid; }

}  // namespace sskj::net
