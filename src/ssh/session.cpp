#include "session.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>

#include "sskj/core/text.hpp"

namespace sskj::ssh {

namespace {

constexpr int k_rounds_per_turn = 16;
constexpr int k_drain_limit = 1000;
constexpr long k_free_timeout_ms = 200;

void on_disconnect(LIBSSH2_SESSION*, int, const char* message, int length, const char*, int, void** abstract) {
  const std::string_view text(message == nullptr ? "" : message, message == nullptr || length < 0 ? 0 : static_cast<std::size_t>(length));
  static_cast<Session*>(*abstract)->set_farewell(text.empty() ? "it gave no reason" : text::printable(text));
}

std::string last_error(LIBSSH2_SESSION* raw) {
  char* text = nullptr;
  libssh2_session_last_error(raw, &text, nullptr, 0);
  return text == nullptr || *text == '\0' ? "no reason given" : text;
}

/// libssh2 keeps any line that comes before the identification as the banner too: "Exceeded MaxStartups" of an sshd that hangs up next is no greeting.
bool greeted(LIBSSH2_SESSION* raw) {
  const char* line = libssh2_session_banner_get(raw);
  return line != nullptr && std::string_view(line).starts_with("SSH-");
}

}  // namespace

Session::Session(net::Loop& loop, net::Fd socket, SessionParams params, KnownHostsCache& known_hosts, std::function<void(Result<void>)> ready)
    : loop_(loop), socket_(std::move(socket)), params_(std::move(params)), known_hosts_(known_hosts), ready_(std::move(ready)) {
  raw_ = libssh2_session_init_ex(nullptr, nullptr, nullptr, this);
#if LIBSSH2_VERSION_NUM >= 0x010b01
  libssh2_session_callback_set2(raw_, LIBSSH2_CALLBACK_DISCONNECT, reinterpret_cast<libssh2_cb_generic*>(on_disconnect));
#else
  libssh2_session_callback_set(raw_, LIBSSH2_CALLBACK_DISCONNECT, reinterpret_cast<void*>(on_disconnect));
#endif
  libssh2_session_set_blocking(raw_, 0);
  const auto& settings = params_.settings;
  const std::string name = known_host_name(settings.host, settings.port, settings.host_key_alias);
  libssh2_session_method_pref(raw_, LIBSSH2_METHOD_HOSTKEY, host_key_preference(known_hosts_.get(params_.known_hosts), name).c_str());
  watch_ = std::make_unique<net::Watch>(loop_, socket_.get(), [this](bool, bool) { turn(); });
}

void Session::start() {
  timer_ = loop_.after(params_.timeouts.handshake, [this] { phase_timeout(); });
  schedule();
}

Session::~Session() {
  const bool polite = state_ == State::ready && !half_sent();
  ready_ = nullptr;
  dead_ = nullptr;
  kill({Errc::cancelled, "the connection was given up", {}});
  if (polite) {
    libssh2_session_disconnect(raw_, "done");
  }
  release();
}

/// libssh2 answers EAGAIN even when freeing, above all while a packet is half-sent. On a socket that is shut down every send fails and every read ends, once what was
/// received is used up; then the free goes through. The blocking free with a timeout is the last resort.
void Session::release() {
  authenticator_.reset();
  ::shutdown(socket_.get(), SHUT_RDWR);
  channels_.clear();
  owner_.reset();
  if (libssh2_session_free(raw_) == LIBSSH2_ERROR_EAGAIN) {
    libssh2_session_set_blocking(raw_, 1);
    libssh2_session_set_timeout(raw_, k_free_timeout_ms);
    for (int i = 0; i < k_drain_limit && libssh2_session_free(raw_) == LIBSSH2_ERROR_EAGAIN; ++i) {
    }
  }
  raw_ = nullptr;
}

void Session::schedule() {
  if (scheduled_ || state_ == State::dead) {
    return;
  }
  scheduled_ = true;
  loop_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      self->scheduled_ = false;
      self->turn();
    }
  });
}

void Session::add(std::shared_ptr<Channel> channel) {
  channels_.push_back(std::move(channel));
  schedule();
}

bool Session::half_sent() const { return (libssh2_session_block_directions(raw_) & LIBSSH2_SESSION_BLOCK_OUTBOUND) != 0; }

bool Session::may_open(const Channel& channel) const {
  return std::none_of(channels_.begin(), channels_.end(), [&](const auto& other) { return other.get() != &channel && other->opening(); });
}

std::size_t Session::counted(const Channel* except) const {
  return static_cast<std::size_t>(
      std::count_if(channels_.begin(), channels_.end(), [except](const auto& channel) { return channel.get() != except && channel->counts(); }));
}

bool Session::stale() const {
  char byte = 0;
  return state_ == State::dead || ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

std::string Session::last_words() const { return farewell_.empty() ? last_error(raw_) : farewell_; }

Error Session::broken(const std::string& doing) const {
  return {Errc::lost, fmt::format("the connection to {} broke while {}: {}", params_.label, doing, last_words()), {}};
}

void Session::kill(Error error) {  // NOLINT(performance-unnecessary-value-param): callers hand in members that dying clears
  if (state_ == State::dead) {
    return;
  }
  const bool connecting = state_ != State::ready;
  state_ = State::dead;
  loop_.cancel(timer_);
  watch_.reset();
  const auto keep = weak_from_this().lock();  // none while it is being destroyed
  const auto channels = std::exchange(channels_, {});
  owner_.reset();
  for (const auto& channel : channels) {
    channel->died(error);
  }
  if (connecting) {
    if (auto call = std::exchange(ready_, nullptr)) {
      call(tl::unexpected<Error>(error));
    }
  } else if (auto call = std::exchange(dead_, nullptr); call) {
    call(error);
  }
}

void Session::phase_timeout() {
  const auto keep = shared_from_this();
  timer_ = 0;
  const auto& timeouts = params_.timeouts;
  if (state_ == State::auth) {
    kill({Errc::timeout, fmt::format("{} did not finish the login within {} s (phase auth, {})", params_.label, timeouts.auth.count() / 1000, authenticator_->current()),
          "if an agent asks for a confirmation, answer it; else look at the sshd log of the node"});
    return;
  }
  const double seconds = static_cast<double>(timeouts.handshake.count()) / 1000;
  if (!greeted(raw_)) {
    kill({Errc::timeout, fmt::format("{} accepts the connection but sends no SSH banner within {:g} s (phase banner)", params_.label, seconds),
          "check that it is an SSH port, and that sshd of the node is not stopped or overloaded"});
  } else {
    kill({Errc::timeout, fmt::format("{} did not finish the key exchange within {:g} s (phase kex)", params_.label, seconds), "look at the load and the sshd log of the node"});
  }
}

void Session::handshake() {
  const int rc = libssh2_session_handshake(raw_, socket_.get());
  if (rc == LIBSSH2_ERROR_EAGAIN) {
    phase_ = greeted(raw_) ? "kex" : "banner";
    return;
  }
  if (rc != 0) {
    hung_up_ = rc == LIBSSH2_ERROR_SOCKET_DISCONNECT || rc == LIBSSH2_ERROR_SOCKET_RECV || rc == LIBSSH2_ERROR_SOCKET_SEND || rc == LIBSSH2_ERROR_BANNER_SEND;
    const bool in_kex = greeted(raw_);
    kill({Errc::unreachable, fmt::format("the SSH connection to {} failed in the phase {}: {}", params_.label, in_kex ? "kex" : "banner", last_error(raw_)),
                  in_kex ? "try `ssh -v` to the node, or --ssh=openssh" : "check that it is an SSH port; a node that is just starting, or over its MaxStartups, hangs up like this"});
    return;
  }
  if (auto verified = verify_host_key(); !verified) {
    kill(verified.error());
    return;
  }
  loop_.cancel(timer_);
  timer_ = loop_.after(params_.timeouts.auth, [this] { phase_timeout(); });
  state_ = State::auth;
  phase_ = "auth";
  authenticator_ = std::make_unique<Authenticator>(raw_, params_.label, params_.settings, farewell_);
}

Result<void> Session::verify_host_key() {
  std::size_t length = 0;
  int type = 0;
  const char* key = libssh2_session_hostkey(raw_, &length, &type);
  if (key == nullptr) {
    return fail(Errc::host_key, params_.label + " shows no host key", "try --ssh=openssh");
  }
  const std::string blob(key, length);
  const auto& settings = params_.settings;
  const HostKeyContext context{params_.label, known_host_name(settings.host, settings.port, settings.host_key_alias), settings.host, settings.port, params_.known_hosts};
  const auto verdict = judge_host_key(check_host_key(known_hosts_.get(params_.known_hosts), context.name, blob), params_.policy, context, blob);
  if (!verdict) {
    return tl::unexpected<Error>(verdict.error());
  }
  return *verdict ? known_hosts_.add(params_.known_hosts, context.name, blob, settings.hash_known_hosts) : Result<void>{};
}

void Session::become_ready() {
  loop_.cancel(timer_);
  timer_ = 0;
  authenticator_.reset();
  state_ = State::ready;
  phase_ = "open";
  if (auto call = std::exchange(ready_, nullptr)) {
    call({});
  }
}

void Session::advance() {
  if (state_ == State::handshake) {
    handshake();
  }
  if (state_ == State::auth) {
    switch (authenticator_->step()) {
      case Authenticator::Step::again: break;
      case Authenticator::Step::done: become_ready(); break;
      case Authenticator::Step::failed: kill(authenticator_->error()); break;
    }
  }
}

/// True when it got somewhere.
bool Session::step(const std::shared_ptr<Channel>& channel) {
  const auto result = channel->step(*this);
  if (state_ == State::dead) {
    return false;
  }
  if (result == Channel::Step::finished) {
    channels_.erase(std::remove(channels_.begin(), channels_.end(), channel), channels_.end());
  }
  owner_ = half_sent() && result != Channel::Step::finished ? channel : nullptr;
  return result != Channel::Step::idle;
}

void Session::serve() {
  for (int round = 0; round < k_rounds_per_turn; ++round) {
    if (owner_) {
      step(std::shared_ptr(owner_));
      if (owner_ || state_ == State::dead) {
        return;
      }
    }
    // One recv may have queued packets for several channels, and poll will not speak of them again: go round until nothing moves.
    bool progress = false;
    for (const auto& channel : std::vector(channels_)) {
      progress = step(channel) || progress;
      if (state_ == State::dead || owner_) {
        break;
      }
    }
    if (state_ == State::dead || (!progress && !owner_)) {
      return;
    }
  }
  schedule();  // still busy: let the other sessions have their turn
}

void Session::turn() {
  if (state_ == State::dead) {
    return;
  }
  const auto keep = shared_from_this();
  if (state_ != State::ready) {
    advance();
  }
  if (state_ == State::ready) {
    serve();
  }
  if (state_ != State::dead) {
    arm();
  }
}

void Session::arm() {
  // An idle session is not watched: libssh2 offers nothing to read with but channels; stale() looks before the next use.
  const bool listen = state_ != State::ready || !channels_.empty();
  watch_->want(listen, half_sent());
}

}  // namespace sskj::ssh
