// World: a temporary directory with keys, an ssh_config and real sshd processes on 127.0.0.1; and the glue to run one call on a loop. Everything ends with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sskj/net/fd.hpp"
#include "sskj/net/loop.hpp"
#include "sskj/ssh/transport.hpp"

namespace sskj::test {

/// Runs a program to its end; throws when it fails. For ssh-keygen and the like.
std::string run_tool(const std::vector<std::string>& argv, const std::vector<std::string>& extra_env = {});
/// "SHA256:..." of the key file's public half, as ssh-keygen tells it.
std::string fingerprint(const std::string& key_file);
std::uint16_t free_port();
/// A listening socket on 127.0.0.1 and its port.
std::pair<net::Fd, std::uint16_t> listener();
std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text, unsigned mode = 0600);
bool wait_until(const std::function<bool()>& condition, int milliseconds = 10'000);
bool process_exists(pid_t pid);

/// A child that is killed and reaped with its process group.
class Child {
 public:
  Child(const std::vector<std::string>& argv, const std::string& log);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t pid() const { return pid_; }
  void signal(int signal) const;
  void kill_now();

 private:
  pid_t pid_ = -1;
};

struct Sshd {
  std::uint16_t port = 0;
  std::string host_key;        ///< path; .pub beside it
  std::string log;
  std::unique_ptr<Child> process;
  std::vector<pid_t> sessions() const;  ///< its forked children
};

class World {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  /// A user key, made at first use: "ed25519", "rsa", "ecdsa", or "encrypted" (ed25519, passphrase "secret"). All but "stranger" are authorized.
  std::string key(const std::string& name);
  /// Starts an sshd; `extra` lines come first in its config, so that they win.
  Sshd& sshd(const std::string& extra = {}, const std::string& host_key_type = "ed25519");
  /// Appends to the ssh_config that options() names.
  void config(const std::string& text);
  void known_host(const Sshd& server, const std::string& host = "127.0.0.1");
  ssh::Options options();
  plan::Node node(const Sshd& server, const std::string& key_name = "ed25519");
  /// An agent with these keys; its socket.
  std::string agent(const std::vector<std::string>& key_names);

 private:
  std::string directory_;
  std::vector<std::unique_ptr<Sshd>> servers_;
  std::vector<std::unique_ptr<Child>> children_;
  int agents_ = 0;
};

/// Outcome and output of one exec.
struct Ran {
  run::Outcome outcome = run::Cancelled{};
  std::string out, err;
  std::size_t out_bytes = 0, err_bytes = 0;   ///< also what was not kept
  const Error& error() const;                 ///< of NotRun, Lost, TimedOut; fails the test otherwise
  int status() const;                         ///< of Exited; -1 otherwise
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(outcome);
  }
};
std::string describe(const run::Outcome& outcome);
std::string describe(const run::HttpOutcome& outcome);

/// Runs the loop until `finished` or 60 s passed (then false).
bool run_until(net::Loop& loop, const std::function<bool()>& finished);

struct Call {
  std::string script{};
  std::string input{};
  run::Millis deadline{30'000};
  bool keep_output = true;
  run::RunVars vars{"run-1", "digest-1", "2026-01-02T03:04:05Z"};
};
Ran exec(net::Loop& loop, run::Transport& transport, const plan::Node& node, const Call& call);
run::HttpOutcome http(net::Loop& loop, run::Transport& transport, const run::HttpRequest& request);

}  // namespace sskj::test
