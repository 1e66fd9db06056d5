// Connection: the way to one endpoint, kept and reused: resolve, jump host, gate, TCP, SSH session. Calls wait in it until the session is ready.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gate.hpp"
#include "resolver.hpp"
#include "session.hpp"
#include "sskj/net/connect.hpp"
#include "tunnel.hpp"

namespace sskj::ssh {

class Connection;

/// The policy that holds for a target: the option, else StrictHostKeyChecking of ssh_config.
HostKeyPolicy host_key_policy(const Options& options, const Settings& settings);
/// The files that are searched; the first takes new keys.
std::vector<std::string> known_hosts_files(const Options& options, const Settings& settings, HostKeyPolicy policy);

/// What connections share; owned by the transport.
struct Shared {
  net::Loop& loop;
  const Options& options;
  Resolver resolver;
  Gate gate;
  KnownHostsCache known_hosts;
  std::function<std::shared_ptr<Connection>(const plan::SshTarget& target, int depth)> connection_for;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Shared& shared, plan::SshTarget target, int depth);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  using Ready = std::function<void(Result<std::shared_ptr<Session>>)>;
  /// The session, once it is ready. Called from the loop.
  void use(Ready ready);
  /// Can new calls go this way, or is a new connection needed?
  bool usable() const;
  /// Where it stands: "resolve", "queue", "jump", "tcp", "banner", "kex", "auth", "open".
  std::string phase() const;
  const Settings& settings() const { return settings_; }

 private:
  void begin();
  void resolved(const Result<Settings>& settings);
  void through_jump(const std::vector<plan::SshTarget>& hops);
  void directly();
  std::string entrance() const;
  void queue();
  void connect_outer(const std::shared_ptr<Session>& outer);
  void connect_tcp(std::vector<std::string> addresses);
  void tcp_done(tl::expected<net::Fd, net::ConnectError> result);
  void make_session(net::Fd socket);
  void session_ready(Result<void> result);
  bool try_again(const Error& error);
  void fail_all(Error error);
  void deliver();

  Shared& shared_;
  plan::SshTarget target_;
  int depth_;
  Settings settings_;
  std::string phase_ = "resolve";
  std::deque<Ready> waiting_;
  std::shared_ptr<Connection> outer_;
  std::unique_ptr<Gate::Ticket> ticket_;
  net::Handle operation_;
  std::shared_ptr<Tunnel> tunnel_;
  std::shared_ptr<Session> session_;
  std::vector<std::string> addresses_;
  net::TimerId timer_ = 0;
  int attempts_ = 0;
  bool begun_ = false, failed_ = false;
  Error error_;
};

}  // namespace sskj::ssh
