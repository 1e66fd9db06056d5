// Tunnel: a direct-tcpip channel pumped into one end of a socketpair; the other end is a plain stream for an HTTP client or an inner SSH session.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "session.hpp"

namespace sskj::ssh {

/// Why a tunnel did not open. SSH tells refused from forbidden by a reason code; libssh2 keeps only its text (see open_failure in tunnel.cpp).
struct TunnelError {
  enum class Kind { refused, forbidden, broken, timeout };
  Kind kind = Kind::broken;
  Error error;
};

class Tunnel : public Channel {
 public:
  using Opened = std::function<void(tl::expected<net::Fd, TunnelError>)>;
  Tunnel(net::Loop& loop, std::string label, std::string host, std::uint16_t port, Opened opened);
  ~Tunnel() override;

  Step step(Session& session) override;
  void died(const Error& error) override;
  bool opening() const override { return phase_ == Phase::opening; }
  bool counts() const override { return false; }  // MaxSessions counts sessions only
  void attach(Session* session) { session_ = session; }
  void give_up(run::Millis open_bound);            ///< whoever waited went away: close when it opens

 private:
  enum class Phase { waiting, opening, open, closing };
  enum class Call { none, read, write };
  Step open(Session& session);
  Step pump(Session& session);
  Step close(Session& session);
  bool from_channel(Session& session, bool& progress);
  bool to_channel(Session& session, bool& progress);
  void to_local(bool& progress);
  void from_local(bool& progress);
  void answer(tl::expected<net::Fd, TunnelError> result);

  net::Loop& loop_;
  std::string label_, host_;
  std::uint16_t port_;
  Opened opened_;
  Session* session_ = nullptr;
  LIBSSH2_CHANNEL* raw_ = nullptr;
  Phase phase_ = Phase::waiting;
  Call resume_ = Call::none;
  net::Fd local_;
  std::unique_ptr<net::Watch> watch_;
  std::string inbound_;            ///< read from the channel, not yet written to the socketpair
  std::string outbound_;           ///< read from the socketpair, being sent; not touched while a packet is half-sent
  std::size_t sent_ = 0;
  bool local_eof_ = false, local_gone_ = false, remote_eof_ = false, shut_ = false, abandoned_ = false;
  net::TimerId timer_ = 0;
};

}  // namespace sskj::ssh
