#include "world.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace sskj::test {

namespace fs = std::filesystem;

namespace {

pid_t spawn(const std::vector<std::string>& argv, const std::string& output, const std::vector<std::string>& extra_env = {}) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::vector<char*> args, env;
  for (const auto& word : argv) {
    args.push_back(const_cast<char*>(word.c_str()));
  }
  args.push_back(nullptr);
  for (const auto& variable : extra_env) {
    env.push_back(const_cast<char*>(variable.c_str()));
  }
  for (char** at = environ; *at != nullptr; ++at) {
    env.push_back(*at);
  }
  env.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, args[0], &actions, &attributes, args.data(), env.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw std::runtime_error("cannot start " + argv[0]);
  }
  return pid;
}

bool answers(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool ok = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return ok;
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& text, unsigned mode) {
  std::ofstream(path, std::ios::binary) << text;
  ::chmod(path.c_str(), mode);
}

std::string run_tool(const std::vector<std::string>& argv, const std::vector<std::string>& extra_env) {
  const std::string output = fs::temp_directory_path() / ("sskj-tool-" + std::to_string(::getpid()));
  fs::remove(output);
  int status = 0;
  ::waitpid(spawn(argv, output, extra_env), &status, 0);
  const std::string text = read_file(output);
  fs::remove(output);
  if (status != 0) {
    throw std::runtime_error(argv[0] + " failed: " + text);
  }
  return text;
}

std::string fingerprint(const std::string& key_file) {
  const std::string line = run_tool({"ssh-keygen", "-lf", key_file + ".pub"});
  const auto begin = line.find("SHA256:");
  return line.substr(begin, line.find(' ', begin) - begin);
}

std::pair<net::Fd, std::uint16_t> listener() {
  net::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(fd.get(), 8) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("no port to listen on");
  }
  return {std::move(fd), ntohs(address.sin_port)};
}

std::uint16_t free_port() { return listener().second; }

bool wait_until(const std::function<bool()>& condition, int milliseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool process_exists(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const auto close = stat.rfind(')');
  return close != std::string::npos && close + 2 < stat.size() && stat[close + 2] != 'Z';
}

Child::Child(const std::vector<std::string>& argv, const std::string& log) : pid_(spawn(argv, log)) {}
Child::~Child() { kill_now(); }
void Child::signal(int signal) const { ::kill(pid_, signal); }
void Child::kill_now() {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
}

std::vector<pid_t> Sshd::sessions() const {
  std::vector<pid_t> out;
  const std::string pid = std::to_string(process->pid());
  std::istringstream children(read_file("/proc/" + pid + "/task/" + pid + "/children"));
  for (pid_t child = 0; children >> child;) {
    out.push_back(child);
  }
  return out;
}

World::World() {
  std::string pattern = fs::temp_directory_path() / "sskj-ssh-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("no temporary directory");
  }
  directory_ = pattern;
  fs::create_directories("/run/sshd");
  write_file(path("config"), "");
  write_file(path("known_hosts"), "");
  write_file(path("authorized_keys"), "");
}

World::~World() {
  servers_.clear();
  children_.clear();
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

std::string World::key(const std::string& name) {
  const std::string file = path("id_" + name);
  if (fs::exists(file)) {
    return file;
  }
  const std::string type = name == "rsa" || name == "ecdsa" ? name : "ed25519";
  run_tool({"ssh-keygen", "-q", "-t", type, "-N", name == "encrypted" ? "secret" : "", "-C", name, "-f", file});
  if (name != "stranger") {
    write_file(path("authorized_keys"), read_file(path("authorized_keys")) + read_file(file + ".pub"));
  }
  return file;
}

Sshd& World::sshd(const std::string& extra, const std::string& host_key_type) {
  auto server = std::make_unique<Sshd>();
  const std::string number = std::to_string(servers_.size());
  server->port = free_port();
  server->host_key = path("host_" + number);
  server->log = path("sshd_" + number + ".log");
  run_tool({"ssh-keygen", "-q", "-t", host_key_type, "-N", "", "-f", server->host_key});
  // SHLVL keeps bash from reading ~/.bashrc, which costs seconds on some machines (reference lab.md).
  write_file(path("sshd_" + number + ".conf"), extra + "\nPort " + std::to_string(server->port) + "\nListenAddress 127.0.0.1\nHostKey " + server->host_key +
                                                   "\nAuthorizedKeysFile " + path("authorized_keys") +
                                                   "\nPidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\n"
                                                   "KbdInteractiveAuthentication no\nSetEnv SHLVL=5\nLogLevel DEBUG1\n");
  server->process = std::make_unique<Child>(std::vector<std::string>{"/usr/sbin/sshd", "-D", "-e", "-f", path("sshd_" + number + ".conf")}, server->log);
  if (!wait_until([&] { return answers(server->port); })) {
    throw std::runtime_error("sshd does not answer: " + read_file(server->log));
  }
  servers_.push_back(std::move(server));
  return *servers_.back();
}

void World::config(const std::string& text) { write_file(path("config"), read_file(path("config")) + text); }

void World::known_host(const Sshd& server, const std::string& host) {
  std::istringstream key(read_file(server.host_key + ".pub"));
  std::string type, blob;
  key >> type >> blob;
  write_file(path("known_hosts"), read_file(path("known_hosts")) + "[" + host + "]:" + std::to_string(server.port) + " " + type + " " + blob + "\n");
}

ssh::Options World::options() {
  ssh::Options options;
  if (read_file(path("config")).find("# common") == std::string::npos) {
    config("\nHost *\n# common\n  UserKnownHostsFile " + path("known_hosts") + "\n  GlobalKnownHostsFile none\n  IdentityAgent none\n  ControlPath none\n");
  }
  options.config_file = path("config");
  options.environment.home = directory_;
  options.environment.agent_socket.clear();
  options.host_keys = ssh::HostKeyPolicy::accept_new;
  // With a build beside it on two processors a mere `ssh -G` was seen to take 10 s: a phase's limit must not decide a test that is about something else.
  const run::Millis patient{30'000};
  options.timeouts.resolve = options.timeouts.tcp = options.timeouts.handshake = options.timeouts.auth = options.timeouts.open = patient;
  return options;
}

plan::Node World::node(const Sshd& server, const std::string& key_name) {
  plan::Node node;
  node.id = "node-" + std::to_string(server.port);
  node.ssh.host = "127.0.0.1";
  node.ssh.port = server.port;
  node.ssh.identity_file = key_name.empty() ? "" : key(key_name);
  return node;
}

std::string World::agent(const std::vector<std::string>& key_names) {
  const std::string socket = path("agent_" + std::to_string(agents_++));
  children_.push_back(std::make_unique<Child>(std::vector<std::string>{"ssh-agent", "-D", "-a", socket}, path("agent.log")));
  if (!wait_until([&] { return fs::exists(socket); })) {
    throw std::runtime_error("ssh-agent does not start");
  }
  write_file(path("askpass"), "#!/bin/sh\necho secret\n", 0700);
  for (const auto& name : key_names) {
    run_tool({"ssh-add", "-q", key(name)}, {"SSH_AUTH_SOCK=" + socket, "SSH_ASKPASS=" + path("askpass"), "SSH_ASKPASS_REQUIRE=force"});
  }
  return socket;
}

const Error& Ran::error() const {
  static const Error none{Errc::internal, "no error", {}};
  if (const auto* not_run = std::get_if<run::NotRun>(&outcome)) {
    return not_run->error;
  }
  if (const auto* lost = std::get_if<run::Lost>(&outcome)) {
    return lost->error;
  }
  if (const auto* late = std::get_if<run::TimedOut>(&outcome)) {
    return late->error;
  }
  ADD_FAILURE() << "expected an error, got " << describe(outcome);
  return none;
}

int Ran::status() const {
  const auto* exited = std::get_if<run::Exited>(&outcome);
  return exited == nullptr ? -1 : exited->status;
}

std::string describe(const run::Outcome& outcome) {
  struct Visitor {
    std::string operator()(const run::Exited& e) const { return "Exited " + std::to_string(e.status); }
    std::string operator()(const run::NotRun& e) const { return "NotRun " + std::string(to_string(e.error.code)) + ": " + e.error.message + " | " + e.error.hint; }
    std::string operator()(const run::Lost& e) const { return "Lost " + e.error.message; }
    std::string operator()(const run::TimedOut& e) const { return "TimedOut " + e.error.message; }
    std::string operator()(const run::Cancelled&) const { return "Cancelled"; }
  };
  return std::visit(Visitor{}, outcome);
}

std::string describe(const run::HttpOutcome& outcome) {
  if (const auto* response = std::get_if<run::HttpResponse>(&outcome)) {
    return "HTTP " + std::to_string(response->status) + " " + response->body.substr(0, 200);
  }
  if (const auto* refused = std::get_if<run::HttpRefused>(&outcome)) {
    return "Refused " + refused->message;
  }
  struct Visitor {
    run::Outcome operator()(const run::HttpResponse&) const { return run::Cancelled{}; }
    run::Outcome operator()(const run::HttpRefused&) const { return run::Cancelled{}; }
    run::Outcome operator()(const run::NotRun& e) const { return e; }
    run::Outcome operator()(const run::TimedOut& e) const { return e; }
    run::Outcome operator()(const run::Lost& e) const { return e; }
    run::Outcome operator()(const run::Cancelled& e) const { return e; }
  };
  return describe(std::visit(Visitor{}, outcome));
}

bool run_until(net::Loop& loop, const std::function<bool()>& finished) {
  bool late = false;
  const auto limit = loop.after(net::Millis(60'000), [&] {
    late = true;
    loop.stop();
  });
  std::function<void()> poll = [&] {
    if (finished()) {
      loop.stop();
    } else {
      loop.after(net::Millis(2), poll);
    }
  };
  poll();
  if (!finished()) {
    loop.run();
  }
  loop.cancel(limit);
  return !late;
}

Ran exec(net::Loop& loop, run::Transport& transport, const plan::Node& node, const Call& call) {
  Ran ran;
  bool done = false;
  run::ExecRequest request;
  request.node = &node;
  request.script = call.script;
  request.input = call.input;
  request.vars = call.vars;
  request.deadline = call.deadline;
  run::ExecHandlers handlers;
  handlers.output = [&](run::Stream stream, std::string_view bytes) {
    (stream == run::Stream::out ? ran.out_bytes : ran.err_bytes) += bytes.size();
    if (call.keep_output) {
      (stream == run::Stream::out ? ran.out : ran.err).append(bytes);
    }
  };
  handlers.done = [&](run::Outcome outcome) {
    EXPECT_FALSE(done) << "done was called twice";
    ran.outcome = std::move(outcome);
    done = true;
    loop.stop();
  };
  transport.exec(request, std::move(handlers));
  const auto limit = loop.after(net::Millis(60'000), [&] { loop.stop(); });
  loop.run();
  loop.cancel(limit);
  EXPECT_TRUE(done) << "the call never ended";
  return ran;
}

run::HttpOutcome http(net::Loop& loop, run::Transport& transport, const run::HttpRequest& request) {
  run::HttpOutcome result = run::Cancelled{};
  bool done = false;
  transport.http(request, [&](run::HttpOutcome outcome) {
    result = std::move(outcome);
    done = true;
    loop.stop();
  });
  const auto limit = loop.after(net::Millis(60'000), [&] { loop.stop(); });
  loop.run();
  loop.cancel(limit);
  EXPECT_TRUE(done) << "the request never ended";
  return result;
}

}  // namespace sskj::test
