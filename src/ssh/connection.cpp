#include "connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace sskj::ssh {

namespace {

constexpr int k_max_hops = 8;
/// An sshd over its MaxStartups hangs up before its banner; it is asked again with growing, scattered pauses (about 12 s in all), by fewer at once each time.
constexpr int k_attempts = 10;
constexpr int k_first_pause_ms = 100;
constexpr int k_longest_pause_ms = 2'000;

std::string join_hops(const std::vector<plan::SshTarget>& hops) {
  std::string list;
  for (const auto& hop : hops) {
    list += fmt::format("{}{}{}[{}]{}", list.empty() ? "" : ",", hop.user, hop.user.empty() ? "" : "@", hop.host, hop.port == 0 ? "" : fmt::format(":{}", hop.port));
  }
  return list;
}

int pause_ms(int attempt) {
  const int base = std::min(k_longest_pause_ms, k_first_pause_ms << attempt);
  return base / 2 + static_cast<int>(std::random_device{}() % static_cast<unsigned>(base));
}

}  // namespace

HostKeyPolicy host_key_policy(const Options& options, const Settings& settings) {
  if (options.host_keys) {
    return *options.host_keys;
  }
  // "no" and "off" become accept_new: a changed key is never taken.
  const auto& word = settings.strict_host_key_checking;
  return word == "accept-new" || word == "no" || word == "off" || word == "false" ? HostKeyPolicy::accept_new : HostKeyPolicy::strict;
}

std::vector<std::string> known_hosts_files(const Options& options, const Settings& settings, HostKeyPolicy policy) {
  if (policy == HostKeyPolicy::pinned) {
    return {options.pinned_known_hosts};
  }
  auto files = options.pinned_known_hosts.empty() ? settings.user_known_hosts : std::vector<std::string>{options.pinned_known_hosts};
  files.insert(files.end(), settings.global_known_hosts.begin(), settings.global_known_hosts.end());
  return files;
}

Connection::Connection(Shared& shared, plan::SshTarget target, int depth) : shared_(shared), target_(std::move(target)), depth_(depth) {}

Connection::~Connection() {
  shared_.loop.cancel(timer_);
  if (tunnel_) {
    tunnel_->give_up(shared_.options.timeouts.open);
  }
  session_.reset();  // inner session before the tunnel's own
}

bool Connection::usable() const {
  if (failed_ || !session_ || phase_ != "open") {
    return !failed_;
  }
  return !session_->dead() && !session_->clogged() && !(session_->idle() && session_->stale());
}

std::string Connection::phase() const { return session_ && phase_ != "queue" ? session_->phase() : phase_; }

void Connection::use(Ready ready) {
  waiting_.push_back(std::move(ready));
  if (!begun_) {
    begun_ = true;
    begin();
  } else if (phase_ == "open") {
    shared_.loop.post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        self->deliver();
      }
    });
  }
}

void Connection::deliver() {
  for (auto& ready : std::exchange(waiting_, {})) {
    ready(session_->dead() ? Result<std::shared_ptr<Session>>(fail(Errc::lost, "the connection to " + target_.host + " was closed")) : session_);
  }
}

void Connection::fail_all(Error error) {
  const auto keep = shared_from_this();
  failed_ = true;
  error_ = std::move(error);
  ticket_.reset();
  for (auto& ready : std::exchange(waiting_, {})) {
    ready(tl::unexpected<Error>(error_));
  }
}

void Connection::begin() {
  if (depth_ > k_max_hops) {
    shared_.loop.post([weak = weak_from_this()] {  // the back end may be gone by then
      if (const auto self = weak.lock()) {
        self->fail_all({Errc::usage, fmt::format("more than {} jump hosts lead to {}", k_max_hops, self->target_.host), "look for a loop of ProxyJump in ssh_config"});
      }
    });
    return;
  }
  shared_.resolver.resolve(target_, [weak = weak_from_this()](const Result<Settings>& settings) {
    if (const auto self = weak.lock()) {
      self->resolved(settings);
    }
  });
}

void Connection::resolved(const Result<Settings>& settings) {
  if (!settings) {
    fail_all(settings.error());
    return;
  }
  settings_ = *settings;
  if (!settings_.proxy_command.empty()) {
    fail_all({Errc::usage, fmt::format("ssh_config reaches {} by a ProxyCommand, which only the system's ssh can run", target_.host), "use --ssh=openssh"});
    return;
  }
  auto hops = parse_jump(settings_.proxy_jump);
  if (!hops) {
    fail_all(hops.error());
    return;
  }
  // `Host *` with a ProxyJump names the jump host itself too; OpenSSH takes that for "directly".
  const bool itself = hops->size() == 1 && (hops->front().host == target_.host || hops->front().host == settings_.host) &&
                      (hops->front().port == 0 || hops->front().port == settings_.port);
  if (hops->empty() || itself) {
    directly();
  } else {
    through_jump(*hops);
  }
}

void Connection::through_jump(const std::vector<plan::SshTarget>& hops) {
  phase_ = "jump";
  plan::SshTarget last = hops.back();
  last.jump = join_hops({hops.begin(), hops.end() - 1});
  outer_ = shared_.connection_for(last, depth_ + 1);
  for (const Connection* at = outer_.get(); at != nullptr; at = at->outer_.get()) {
    if (at == this) {
      outer_.reset();
      fail_all({Errc::usage, fmt::format("the jump hosts of {} form a loop, by way of {}", target_.host, last.host), "correct ProxyJump in ssh_config"});
      return;
    }
  }
  outer_->use([weak = weak_from_this(), host = last.host](Result<std::shared_ptr<Session>> session) {
    const auto self = weak.lock();
    if (!self) {
      return;
    }
    if (!session) {
      auto error = session.error();
      error.message = fmt::format("{} is not reachable through the jump host {}: {}", self->target_.host, host, error.message);
      self->fail_all(std::move(error));
      return;
    }
    self->phase_ = "queue";
    self->shared_.gate.ask("jump " + host, [weak, outer = *session](std::unique_ptr<Gate::Ticket> ticket) {
      if (const auto again = weak.lock()) {
        again->ticket_ = std::move(ticket);
        again->connect_outer(outer);
      }
    });
  });
}

void Connection::connect_outer(const std::shared_ptr<Session>& outer) {
  phase_ = "tcp";
  tunnel_ = std::make_shared<Tunnel>(shared_.loop, outer->params().label, settings_.host, settings_.port,
                                     [weak = weak_from_this()](tl::expected<net::Fd, TunnelError> opened) {
                                       const auto self = weak.lock();
                                       if (!self) {
                                         return;
                                       }
                                       self->shared_.loop.cancel(self->timer_);
                                       if (opened) {
                                         self->make_session(std::move(*opened));
                                         return;
                                       }
                                       auto error = opened.error().error;
                                       error.code = error.code == Errc::not_ready ? Errc::unreachable : error.code;
                                       error.message = fmt::format("{} is not reachable through its jump host: {}", self->target_.host, error.message);
                                       self->fail_all(std::move(error));
                                     });
  tunnel_->attach(outer.get());
  outer->add(tunnel_);
  timer_ = shared_.loop.after(shared_.options.timeouts.tcp, [this] {
    tunnel_->give_up(shared_.options.timeouts.open);
    fail_all({Errc::timeout, fmt::format("{}:{} does not answer the jump host within {} s (phase tcp)", settings_.host, settings_.port, shared_.options.timeouts.tcp.count() / 1000),
              "check that the node is up, and its address and port as the jump host sees them"});
  });
}

void Connection::directly() {
  operation_ = net::resolve(shared_.loop, settings_.host, shared_.options.timeouts.resolve, [this](Result<std::vector<std::string>> addresses) {
    if (!addresses) {
      fail_all(addresses.error());
      return;
    }
    phase_ = "queue";
    addresses_ = std::move(*addresses);
    queue();
  });
}

/// What an sshd counts for its MaxStartups: one address and port.
std::string Connection::entrance() const { return fmt::format("{}:{}", addresses_[0], settings_.port); }

void Connection::queue() {
  shared_.gate.ask(entrance(), [weak = weak_from_this()](std::unique_ptr<Gate::Ticket> ticket) {
    if (const auto self = weak.lock()) {
      self->ticket_ = std::move(ticket);
      self->connect_tcp(self->addresses_);
    }
  });
}

void Connection::connect_tcp(std::vector<std::string> addresses) {
  phase_ = "tcp";
  const auto bound = settings_.connect_timeout_s > 0 ? net::Millis(1000L * settings_.connect_timeout_s) : shared_.options.timeouts.tcp;
  operation_ = net::connect_tcp(shared_.loop, std::move(addresses), settings_.port, bound, [this](tl::expected<net::Fd, net::ConnectError> result) { tcp_done(std::move(result)); });
}

void Connection::tcp_done(tl::expected<net::Fd, net::ConnectError> result) {
  if (result) {
    make_session(std::move(*result));
    return;
  }
  const bool timeout = result.error().error == ETIMEDOUT;
  const bool refused = result.error().error == ECONNREFUSED;
  fail_all({timeout ? Errc::timeout : Errc::unreachable, fmt::format("no connection to {} ({}:{}): {} (phase tcp)", target_.host, settings_.host, settings_.port, result.error().message),
            refused ? "check that sshd runs on the node, and its port" : "check that the node is up and its address; from behind a jump host set ProxyJump"});
}

void Connection::make_session(net::Fd socket) {
  const auto policy = host_key_policy(shared_.options, settings_);
  SessionParams params{target_.host, settings_, policy, known_hosts_files(shared_.options, settings_, policy), shared_.options.timeouts};
  session_ = std::make_shared<Session>(shared_.loop, std::move(socket), std::move(params), shared_.known_hosts, [weak = weak_from_this()](Result<void> result) {
    if (const auto self = weak.lock()) {
      self->session_ready(std::move(result));
    }
  });
  phase_ = "handshake";
  session_->start();
}

bool Connection::try_again(const Error& error) {
  if (error.code != Errc::unreachable || !session_->hung_up() || session_->phase() != "banner" || ++attempts_ >= k_attempts || outer_) {
    return false;
  }
  phase_ = "queue";
  shared_.gate.narrow(entrance());
  ticket_.reset();
  timer_ = shared_.loop.after(net::Millis(pause_ms(attempts_ - 1)), [this] {
    timer_ = 0;
    session_.reset();
    queue();
  });
  return true;
}

void Connection::session_ready(Result<void> result) {
  const auto keep = shared_from_this();
  ticket_.reset();
  if (!result) {
    if (!try_again(result.error())) {
      fail_all(result.error());
    }
    return;
  }
  phase_ = "open";
  deliver();
}

}  // namespace sskj::ssh
