#include "tunnel.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace sskj::ssh {

namespace {

constexpr std::size_t k_buffer = 32768;
constexpr int k_rounds = 8;

/// libssh2 reads the reason code of a refused open, but gives it out as the text of its last error only (channel.c, the same words in 1.10 to 1.11.1). They are the
/// library's constants, not the server's text; a test holds them against a live sshd.
TunnelError::Kind open_failure(LIBSSH2_SESSION* raw) {
  char* text = nullptr;
  libssh2_session_last_error(raw, &text, nullptr, 0);
  const std::string_view reason = text == nullptr ? "" : text;
  if (reason.find("connect failed") != std::string_view::npos) {
    return TunnelError::Kind::refused;
  }
  return reason.find("prohibited") != std::string_view::npos ? TunnelError::Kind::forbidden : TunnelError::Kind::broken;
}

TunnelError make_error(TunnelError::Kind kind, const std::string& label, const std::string& host, std::uint16_t port) {
  switch (kind) {
    case TunnelError::Kind::refused: return {kind, {Errc::not_ready, fmt::format("nothing answers at {}:{} as seen from {}", host, port, label), {}}};
    case TunnelError::Kind::forbidden:
      return {kind, {Errc::unreachable, fmt::format("sshd on {} does not forward connections to {}:{} (AllowTcpForwarding or PermitOpen)", label, host, port),
                     "use --direct if this machine reaches the node's ports, or allow it: AllowTcpForwarding yes in sshd_config of the node"}};
    case TunnelError::Kind::timeout:
      return {kind, {Errc::timeout, fmt::format("{} did not open a connection to {}:{} in time (phase open)", label, host, port), "check the address as the node sees it"}};
    case TunnelError::Kind::broken: break;
  }
  return {kind, {Errc::unreachable, fmt::format("{} did not open a connection to {}:{}", label, host, port), "look at the sshd log of the node; --direct goes without SSH"}};
}

}  // namespace

Tunnel::Tunnel(net::Loop& loop, std::string label, std::string host, std::uint16_t port, Opened opened)
    : loop_(loop), label_(std::move(label)), host_(std::move(host)), port_(port), opened_(std::move(opened)) {}

Tunnel::~Tunnel() { loop_.cancel(timer_); }

void Tunnel::answer(tl::expected<net::Fd, TunnelError> result) {
  loop_.cancel(timer_);
  timer_ = 0;
  if (auto call = std::exchange(opened_, nullptr)) {
    call(std::move(result));
  }
}

void Tunnel::give_up(run::Millis open_bound) {
  opened_ = nullptr;
  abandoned_ = true;
  if (phase_ == Phase::opening && timer_ == 0) {
    timer_ = loop_.after(open_bound, [this] {
      timer_ = 0;
      if (phase_ == Phase::opening && session_ != nullptr) {
        session_->clog();
      }
    });
  }
  if (session_ != nullptr) {
    session_->schedule();
  }
}

void Tunnel::died(const Error& error) {
  raw_ = nullptr;
  session_ = nullptr;
  watch_.reset();
  local_.reset();
  answer(tl::unexpected<TunnelError>({TunnelError::Kind::broken, error}));
}

Channel::Step Tunnel::open(Session& session) {
  if (phase_ == Phase::waiting) {
    if (abandoned_) {
      return Step::finished;
    }
    if (!session.may_open(*this)) {
      return Step::idle;
    }
    phase_ = Phase::opening;
  }
  raw_ = libssh2_channel_direct_tcpip_ex(session.raw(), host_.c_str(), port_, "127.0.0.1", 0);
  if (raw_ == nullptr) {
    const int error = libssh2_session_last_errno(session.raw());
    if (error == LIBSSH2_ERROR_EAGAIN) {
      return Step::idle;
    }
    if (error != LIBSSH2_ERROR_CHANNEL_FAILURE) {
      session.kill(session.broken("opening a connection"));
      return Step::idle;
    }
    phase_ = Phase::closing;
    answer(tl::unexpected<TunnelError>(make_error(open_failure(session.raw()), label_, host_, port_)));
    return Step::finished;
  }
  auto [near_end, far_end] = net::socket_pair();
  phase_ = near_end && !abandoned_ ? Phase::open : Phase::closing;
  if (phase_ == Phase::closing) {
    answer(tl::unexpected<TunnelError>({TunnelError::Kind::broken, {Errc::internal, "no descriptor left for a connection", "raise `ulimit -n`"}}));
    return Step::progress;
  }
  local_ = std::move(near_end);
  watch_ = std::make_unique<net::Watch>(loop_, local_.get(), [this](bool, bool) {
    if (session_ != nullptr) {
      session_->schedule();
    }
  });
  answer(std::move(far_end));
  return Step::progress;
}

/// False: a packet is half-sent or the session is dead.
bool Tunnel::from_channel(Session& session, bool& progress) {
  while (inbound_.size() < k_buffer && !remote_eof_) {
    std::array<char, k_buffer> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by the read
    const ssize_t got = libssh2_channel_read_ex(raw_, 0, buffer.data(), buffer.size());
    if (got > 0) {
      inbound_.append(buffer.data(), static_cast<std::size_t>(got));
      progress = true;
    } else if (got == LIBSSH2_ERROR_EAGAIN) {
      resume_ = session.half_sent() ? Call::read : Call::none;
      return !session.half_sent();
    } else if (got == 0) {
      remote_eof_ = libssh2_channel_eof(raw_) == 1;
      progress = progress || remote_eof_;
      return true;
    } else {
      session.kill(session.broken("data was forwarded"));
      return false;
    }
  }
  return true;
}

void Tunnel::to_local(bool& progress) {
  while (!inbound_.empty()) {
    const ssize_t wrote = ::send(local_.get(), inbound_.data(), inbound_.size(), MSG_NOSIGNAL);
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote < 0 && errno == EAGAIN) {
      return;
    }
    if (wrote <= 0) {
      local_gone_ = true;
      inbound_.clear();
      return;
    }
    inbound_.erase(0, static_cast<std::size_t>(wrote));
    progress = true;
  }
  if (remote_eof_ && !shut_) {
    ::shutdown(local_.get(), SHUT_WR);
    shut_ = progress = true;
  }
}

void Tunnel::from_local(bool& progress) {
  if (sent_ < outbound_.size() || local_eof_ || local_gone_) {
    return;
  }
  outbound_.resize(k_buffer);
  sent_ = 0;
  const ssize_t got = ::recv(local_.get(), outbound_.data(), outbound_.size(), 0);
  const int error = errno;
  outbound_.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (got == 0) {
    local_eof_ = true;
  } else if (got < 0 && error != EAGAIN && error != EINTR) {
    local_gone_ = true;
  }
  progress = progress || got >= 0;
}

bool Tunnel::to_channel(Session& session, bool& progress) {
  for (int i = 0; i < k_rounds; ++i) {
    if (resume_ == Call::none) {
      from_local(progress);
    }
    if (sent_ == outbound_.size()) {
      break;
    }
    const ssize_t sent = libssh2_channel_write_ex(raw_, 0, outbound_.data() + sent_, outbound_.size() - sent_);
    resume_ = Call::none;
    if (sent > 0) {
      sent_ += static_cast<std::size_t>(sent);
      progress = true;
    } else if (sent == LIBSSH2_ERROR_EAGAIN || sent == 0) {
      resume_ = session.half_sent() ? Call::write : Call::none;
      return !session.half_sent();
    } else if (sent == LIBSSH2_ERROR_CHANNEL_CLOSED || sent == LIBSSH2_ERROR_CHANNEL_EOF_SENT) {
      sent_ = outbound_.size();
      break;
    } else {
      session.kill(session.broken("data was forwarded"));
      return false;
    }
  }
  return true;
}

Channel::Step Tunnel::pump(Session& session) {
  bool progress = false;
  const bool sending = resume_ == Call::write;
  const bool first = sending ? to_channel(session, progress) : from_channel(session, progress);
  if (!first) {
    return progress ? Step::progress : Step::idle;
  }
  to_local(progress);
  if (!sending && !to_channel(session, progress)) {
    return progress ? Step::progress : Step::idle;
  }
  // Our users never half-close: the end of what they send means that they are through.
  if (local_gone_ || (local_eof_ && sent_ == outbound_.size())) {
    phase_ = Phase::closing;
    return Step::progress;
  }
  // Full one way means: listen only for what can move. A half-read socketpair holds the client back, which is the back-pressure.
  watch_->want(sent_ == outbound_.size() && !local_eof_, !inbound_.empty());
  return progress ? Step::progress : Step::idle;
}

Channel::Step Tunnel::close(Session& session) {
  (void)session;
  watch_.reset();
  local_.reset();
  if (libssh2_channel_close(raw_) == LIBSSH2_ERROR_EAGAIN) {
    return Step::idle;
  }
  libssh2_channel_free(raw_);
  raw_ = nullptr;
  return Step::finished;
}

Channel::Step Tunnel::step(Session& session) {
  switch (phase_) {
    case Phase::waiting:
    case Phase::opening: return open(session);
    case Phase::open: return pump(session);
    case Phase::closing: return close(session);
  }
  return Step::finished;
}

}  // namespace sskj::ssh
