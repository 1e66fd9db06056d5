// Session: one SSH connection over a connected descriptor, as a state machine over non-blocking libssh2; and the interface of the channels it serves.
//
// Rules (reference libssh2, sections 3 and 11): while a packet is half-sent, its channel owns the session and repeats the very same call; only one open is under
// way at a time; every other channel may go on meanwhile, because read, write, exec and close keep their state in the channel.
#pragma once

#include <libssh2.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "authenticator.hpp"
#include "known_hosts_cache.hpp"
#include "sskj/net/fd.hpp"
#include "sskj/net/loop.hpp"
#include "sskj/ssh/transport.hpp"

namespace sskj::ssh {

class Session;

class Channel {
 public:
  enum class Step { idle, progress, finished };
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  /// Do what goes without blocking. After `finished` the session forgets the channel.
  virtual Step step(Session& session) = 0;
  /// The session ended; libssh2's object of this channel is gone with it.
  virtual void died(const Error& error) = 0;
  /// Its open call is under way: libssh2 keeps that in the session, so no other channel may begin one.
  virtual bool opening() const = 0;
  /// Counts against the server's MaxSessions: an exec channel that is open or being opened.
  virtual bool counts() const = 0;
};

struct SessionParams {
  std::string label;                        ///< the node in messages
  Settings settings;
  HostKeyPolicy policy = HostKeyPolicy::strict;
  std::vector<std::string> known_hosts;     ///< files; the first takes new keys
  PhaseTimeouts timeouts;
};

/// Made with make_shared; keeps itself alive while it works.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(net::Loop& loop, net::Fd socket, SessionParams params, KnownHostsCache& known_hosts, std::function<void(Result<void>)> ready);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Begins the handshake; `ready` is called once, later.
  void start();
  void on_dead(std::function<void(const Error&)> fn) { dead_ = std::move(fn); }
  void add(std::shared_ptr<Channel> channel);
  void schedule();                                    ///< a turn soon, from the loop
  bool half_sent() const;                             ///< the last call left a packet half-sent: repeat it before anything else
  bool may_open(const Channel& channel) const;        ///< no other open under way
  std::size_t counted(const Channel* except = nullptr) const;  ///< channels against MaxSessions
  bool stale() const;                                 ///< the peer closed while nobody was looking
  bool dead() const { return state_ == State::dead; }
  bool idle() const { return channels_.empty(); }
  bool clogged() const { return clogged_; }           ///< an open has been unanswered for longer than its deadline
  void clog() { clogged_ = true; }
  bool hung_up() const { return hung_up_; }           ///< the peer closed the connection during the handshake
  Error broken(const std::string& doing) const;       ///< libssh2's last error as ours (Errc::lost)
  std::string last_words() const;                     ///< what the server said, or libssh2's last error
  void kill(Error error);
  LIBSSH2_SESSION* raw() const { return raw_; }
  net::Loop& loop() const { return loop_; }
  const SessionParams& params() const { return params_; }
  const std::string& farewell() const { return farewell_; }  ///< what the server said when it disconnected
  void set_farewell(std::string text) { farewell_ = std::move(text); }
  const std::string& phase() const { return phase_; } ///< "banner", "key exchange", "auth", "open"

  std::size_t max_channels = static_cast<std::size_t>(-1);  ///< learned from refused opens (MaxSessions)
  bool has_opened = false;                                  ///< an exec channel has been open: the server does allow them

 private:
  enum class State { handshake, auth, ready, dead };
  void turn();
  void advance();
  void handshake();
  Result<void> verify_host_key();
  void become_ready();
  void serve();
  bool step(const std::shared_ptr<Channel>& channel);
  void arm();
  void phase_timeout();
  void release();

  net::Loop& loop_;
  net::Fd socket_;
  SessionParams params_;
  KnownHostsCache& known_hosts_;
  std::function<void(Result<void>)> ready_;
  std::function<void(const Error&)> dead_;
  LIBSSH2_SESSION* raw_ = nullptr;
  std::unique_ptr<Authenticator> authenticator_;
  std::unique_ptr<net::Watch> watch_;
  std::vector<std::shared_ptr<Channel>> channels_;
  std::shared_ptr<Channel> owner_;
  State state_ = State::handshake;
  std::string phase_ = "banner";
  std::string farewell_;
  net::TimerId timer_ = 0;
  bool scheduled_ = false;
  bool clogged_ = false;
  bool hung_up_ = false;
};

}  // namespace sskj::ssh
