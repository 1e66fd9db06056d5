#include "detach.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include "environment.hpp"
#include "execute.hpp"
#include "run_record.hpp"
#include "sskj/core/text.hpp"
#include "sskj/net/fd.hpp"
#include "sskj/view/runs.hpp"
#include "sskj/view/tables.hpp"

namespace sskj::app {
namespace {

constexpr int k_birth_limit = 30'000;                  // ms until the child must have its record: it reads one file and takes one lock
constexpr int k_first_free_fd = 5;                     // in the child, after the standard streams and ours
constexpr int k_out_of_the_way = 10;                   // descriptors are moved above this before they get their numbers
constexpr rlim_t k_most_descriptors = 1U << 16U;       // closed one by one where the kernel cannot close a range

struct Birth {
  std::vector<char*> argv;
  int lock = -1, ready = -1, log = -1;
};

// Only what is safe between fork and exec. What the caller of sskj has open (a pipe, its own lock file) must not be kept open by a run of 20 minutes.
void close_the_rest() {
  if (close_range(k_first_free_fd, ~0U, 0) == 0) return;
  rlimit limit{};
  const rlim_t end = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::min(limit.rlim_cur, k_most_descriptors) : k_most_descriptors;
  for (int fd = k_first_free_fd; static_cast<rlim_t>(fd) < end; ++fd) close(fd);
}

[[noreturn]] void become_the_run(const Birth& birth, const sigset_t& signals) {
  setsid();  // no terminal: its SIGHUP and its Ctrl-C reach others
  std::signal(SIGHUP, SIG_IGN);  // one that came before setsid is still waiting
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  const int nothing = open("/dev/null", O_RDONLY);
  const int lock = fcntl(birth.lock, F_DUPFD, k_out_of_the_way);
  const int ready = fcntl(birth.ready, F_DUPFD, k_out_of_the_way);
  const int log = fcntl(birth.log, F_DUPFD, k_out_of_the_way);
  const bool placed = dup2(nothing, STDIN_FILENO) >= 0 && dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0 && dup2(lock, k_lock_fd) >= 0 && dup2(ready, k_ready_fd) >= 0;
  if (placed) {
    close_the_rest();
    execv("/proc/self/exe", birth.argv.data());  // this very binary, also when its file was replaced meanwhile
  }
  constexpr std::string_view k_why = "/proc/self/exe cannot be executed: is /proc mounted?\n";
  const ssize_t said = write(STDERR_FILENO, k_why.data(), k_why.size());
  _exit(said < 0 ? 126 : 127);
}

// -1 with errno where there can be no child.
pid_t bear(const Birth& birth) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGHUP);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  const pid_t child = fork();
  if (child == 0) become_the_run(birth, before);
  const int why = errno;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  errno = why;
  return child;
}

/// Whether the child said that it has its record, before it ended or the time was up.
bool wait_until_born(int ready) {
  pollfd look{ready, POLLIN, 0};
  int got = poll(&look, 1, k_birth_limit);
  for (int i = 0; got < 0 && errno == EINTR && i < 10; ++i) got = poll(&look, 1, k_birth_limit);
  char byte = 0;
  return got > 0 && read(ready, &byte, 1) == 1;
}

Result<void> check_secrets(const plan::Plan& plan) {
  const auto check = [](const plan::Step& step) -> Result<void> {
    const auto* put = std::get_if<plan::PutFile>(&step.action);
    const auto* probe = std::get_if<plan::HttpProbe>(&step.action);
    const auto* secret = put != nullptr ? std::get_if<plan::SecretRef>(&put->content) : nullptr;
    if (secret != nullptr) SSKJ_TRY(resolve_secret(*secret));
    if (probe != nullptr && probe->bearer) SSKJ_TRY(resolve_secret(*probe->bearer));
    return {};
  };
  for (const auto* stages : {&plan.stages, &plan.always}) {
    for (const auto& stage : *stages) {
      for (const auto& step : stage.steps) SSKJ_TRY(check(step));
    }
  }
  return {};
}

std::string last_line_of(const std::string& path) {
  const auto text = read_file(path, std::size_t{1} << 20U);
  const auto lines = text ? text::split_lines(*text) : std::vector<std::string>{};
  return lines.empty() ? "it said nothing" : text::printable(lines.back());
}

Error stillborn(const Request& request, const run::Journal& journal, const std::string& why) {
  return Error{Errc::internal, "the run in " + journal.directory() + " did not begin: " + why, "without --detach: " + request.command_line};
}

std::string system_words() { return std::generic_category().message(errno); }

Result<pid_t> begin(const Request& request, const run::Journal& journal) {
  const std::string log_path = journal.directory() + "/output.log";
  const net::Fd log(open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!log) return tl::unexpected<Error>(stillborn(request, journal, "output.log: " + system_words()));
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return tl::unexpected<Error>(stillborn(request, journal, system_words()));
  const net::Fd ready(pipe_ends[0]);
  net::Fd born(pipe_ends[1]);
  std::vector<std::string> words{"sskj"};
  words.insert(words.end(), request.argv.begin(), request.argv.end());
  words.insert(words.begin() + 2, std::string(k_detached_flag) + "=" + journal.directory());
  Birth birth{{}, journal.lock_fd(), born.get(), log.get()};
  for (std::string& word : words) birth.argv.push_back(word.data());
  birth.argv.push_back(nullptr);
  const pid_t child = bear(birth);
  if (child < 0) return tl::unexpected<Error>(stillborn(request, journal, system_words()));
  born.reset();  // so that the end of the child is the end of the pipe
  if (wait_until_born(ready.get())) return child;
  kill(child, SIGKILL);  // ended already, or hangs: it has no connection to lose
  waitpid(child, nullptr, 0);
  return tl::unexpected<Error>(stillborn(request, journal, last_line_of(log_path)));
}

}  // namespace

ExitCode detach(const Request& request, const plan::Plan& plan, view::Output& output) {
  if (const auto secrets = check_secrets(plan); !secrets) return report(request, output, secrets.error());
  const run::RunVars vars = new_run(plan);
  run::JournalOptions options = journal_options(request, vars.run);
  options.pid = 0;  // the child's, which it writes itself
  const auto journal = run::Journal::open(plan, std::move(options));
  if (!journal) return report(request, output, journal.error());
  if (const auto fault = prune_old_runs(vars.run)) view::show_note(output, view_options(request), *fault);
  const auto child = begin(request, **journal);
  if (!child) return report(request, output, child.error());
  view::show_detached(output, view_options(request), {vars.run, plan.verb, plan.deployment, vars.plan, (*journal)->directory(), "sskj attach " + vars.run, *child});
  return ExitCode::done;
}

bool is_detached(const Request& request) { return !request.detached_run.empty(); }

ExitCode run_detached(const Request& request, view::Output& output) {
  Request child = request;
  child.output = Output::text;  // the document was the parent's answer; this one is read by people, later
  for (const int fd : {k_lock_fd, k_ready_fd}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  const auto text = read_file(child.detached_run + "/plan.json", plan::k_max_plan_json);
  if (!text) return report(child, output, text.error());
  const auto plan = plan::plan_from_json(*text);
  if (!plan) return report(child, output, plan.error());
  return execute(child, *plan, output);
}

void say_ready() {
  const char byte = 1;
  // A parent that was killed meanwhile does not stop the run.
  if (write(k_ready_fd, &byte, 1) >= 0 || errno != EBADF) close(k_ready_fd);
}

run::RunVars run_of(const Request& request, const plan::Plan& plan) {
  run::RunVars vars = new_run(plan);
  if (is_detached(request)) vars.run = request.detached_run.substr(request.detached_run.rfind('/') + 1);
  return vars;
}

}  // namespace sskj::app
