#include "router.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sskj/net/connect.hpp"
#include "sskj/ssh/bootstrap.hpp"

namespace sskj::ssh {

namespace {

bool is_loopback_name(std::string_view host) { return host == "localhost" || host == "0.0.0.0" || host == "::1" || host == "::" || host.starts_with("127."); }

net::HttpRequest wire_request(const run::HttpRequest& request, run::Millis left) {
  net::HttpRequest wire;
  const bool v6 = request.host.find(':') != std::string::npos;
  wire.method = request.method;
  wire.target = request.target;
  wire.host = fmt::format("{}{}{}:{}", v6 ? "[" : "", request.host, v6 ? "]" : "", request.port);
  wire.fields.emplace_back("User-Agent", "sskj");
  if (!request.body.empty()) {
    wire.fields.emplace_back("Content-Type", "application/json");
  }
  if (!request.bearer.empty()) {
    wire.fields.emplace_back("Authorization", "Bearer " + request.bearer);
  }
  wire.body = request.body;
  wire.timeout = left;
  wire.max_body = request.max_body;
  return wire;
}

}  // namespace

WayChoice choose_way(const Options& options, const Settings& settings, const std::vector<std::string>& own_addresses) {
  if (options.way != Way::automatic) {
    return {options.way, "chosen by --ssh"};
  }
  const std::string canonical = net::canonical_address(settings.host);
  const bool own = settings.host == "localhost" || (!canonical.empty() && std::find(own_addresses.begin(), own_addresses.end(), canonical) != own_addresses.end());
  if (own && settings.port == 22 && settings.user == options.environment.user && settings.proxy_jump.empty() && settings.proxy_command.empty()) {
    return {Way::local, "its address is one of this machine"};
  }
  if (!settings.proxy_command.empty()) {
    return {Way::openssh, "ssh_config sets a ProxyCommand for it"};
  }
  return {Way::ssh2, "the default"};
}

Router::Router(net::Loop& loop, Options options)
    : loop_(loop), options_(std::move(options)), own_addresses_(net::own_addresses()), ssh2_(loop, options_), local_(loop, options_), openssh_(loop, options_) {}

Router::~Router() {
  for (const auto& [id, timer] : timers_) {
    loop_.cancel(timer);
  }
  for (const auto& [id, call] : execs_) {
    loop_.cancel(call.deadline);
  }
  for (const auto& [id, call] : https_) {
    loop_.cancel(call.deadline);
  }
}

Backend& Router::backend(Way way) {
  switch (way) {
    case Way::local: return local_;
    case Way::openssh: return openssh_;
    case Way::ssh2:
    case Way::automatic: break;
  }
  return ssh2_;
}

void Router::with_backend(const plan::SshTarget& target, Chosen chosen) {
  if (options_.way != Way::automatic) {
    loop_.post([this, alive = std::weak_ptr(alive_), chosen = std::move(chosen)] {
      if (!alive.expired()) {
        chosen(&backend(options_.way));
      }
    });
    return;
  }
  ssh2_.resolver().resolve(target, [this, chosen = std::move(chosen)](const Result<Settings>& settings) {
    chosen(settings ? Result<Backend*>(&backend(choose_way(options_, *settings, own_addresses_).way)) : tl::unexpected<Error>(settings.error()));
  });
}

run::CallId Router::after(run::Millis delay, std::function<void()> fire) {
  const run::CallId id = ++last_;
  timers_[id] = loop_.after(delay, [this, id, fire = std::move(fire)] {
    timers_.erase(id);
    fire();
  });
  return id;
}

void Router::cancel(run::CallId call) {
  if (const auto timer = timers_.find(call); timer != timers_.end()) {
    loop_.cancel(timer->second);
    timers_.erase(timer);
  } else if (https_.count(call) != 0) {
    end_http(call, run::Cancelled{});
  } else if (execs_.count(call) != 0) {
    stop_exec(call, Stop::cancelled);
  }
}

run::CallId Router::exec(const run::ExecRequest& request, run::ExecHandlers handlers) {
  const run::CallId id = ++last_;
  auto& call = execs_[id];
  call.request = request;
  call.handlers = std::move(handlers);
  if (request.deadline.count() > 0) {
    call.deadline = loop_.after(request.deadline, [this, id] { stop_exec(id, Stop::deadline); });
  }
  with_backend(request.node->ssh, [this, id](const Result<Backend*>& chosen) { start_exec(id, chosen); });
  return id;
}

void Router::start_exec(run::CallId id, Result<Backend*> backend) {
  const auto at = execs_.find(id);
  if (at == execs_.end() || !at->second.handlers.done) {
    return;
  }
  if (!backend || at->second.request.script.size() > k_max_script) {
    end_exec(id, run::NotRun{backend ? Error{Errc::internal, fmt::format("a script of {} bytes is over the limit of {}", at->second.request.script.size(), k_max_script), {}}
                                     : backend.error()});
    return;
  }
  run::ExecHandlers handlers;
  handlers.output = [this, id](run::Stream stream, std::string_view bytes) {
    const auto call = execs_.find(id);
    if (call != execs_.end() && call->second.handlers.output) {
      call->second.handlers.output(stream, bytes);
    }
  };
  handlers.done = [this, id](run::Outcome outcome) { end_exec(id, std::move(outcome)); };
  auto running = (*backend)->exec(at->second.request, std::move(handlers));
  if (const auto again = execs_.find(id); again != execs_.end()) {
    again->second.running = std::move(running);
  }
}

void Router::stop_exec(run::CallId id, Stop reason) {
  const auto at = execs_.find(id);
  if (at == execs_.end()) {
    return;
  }
  if (at->second.running) {
    at->second.running->stop(reason);
  } else {
    end_exec(id, reason == Stop::cancelled
                     ? run::Outcome(run::Cancelled{})
                     : run::NotRun{{Errc::timeout, fmt::format("{} was not ready for the script in time (phase resolve)", at->second.request.node->id), "raise the deadline"}});
  }
}

/// The answer is posted: backends call from inside their own work, and whoever is answered may end everything.
void Router::end_exec(run::CallId id, run::Outcome outcome) {
  const auto at = execs_.find(id);
  if (at == execs_.end() || !at->second.handlers.done) {
    return;
  }
  loop_.cancel(at->second.deadline);
  auto done = std::exchange(at->second.handlers.done, nullptr);
  at->second.handlers.output = nullptr;
  loop_.post([this, alive = std::weak_ptr(alive_), id, done = std::move(done), outcome = std::move(outcome)]() mutable {
    if (!alive.expired()) {
      execs_.erase(id);
      done(std::move(outcome));
    }
  });
}

run::CallId Router::http(const run::HttpRequest& request, std::function<void(run::HttpOutcome)> done) {
  const run::CallId id = ++last_;
  auto& call = https_[id];
  call.request = request;
  call.done = std::move(done);
  call.begun = loop_.now();
  call.deadline = loop_.after(request.timeout, [this, id] {
    const auto at = https_.find(id);
    const bool connected = at->second.exchange != nullptr;
    const Error error{Errc::timeout,
                      fmt::format("{} on {}: {} within {:g} s", at->second.request.target, at->second.request.node->id, connected ? "no complete answer" : "no connection",
                                  static_cast<double>(at->second.request.timeout.count()) / 1000),
                      {}};
    end_http(id, connected ? run::HttpOutcome(run::TimedOut{error}) : run::NotRun{error});
  });
  with_backend(request.node->ssh, [this, id](const Result<Backend*>& chosen) { start_http(id, chosen); });
  return id;
}

std::string Router::direct_host(const run::HttpRequest& request) const {
  if (!is_loopback_name(request.host)) {
    return request.host;
  }
  return request.node->data_address.empty() ? request.node->ssh.host : request.node->data_address;
}

void Router::start_http(run::CallId id, Result<Backend*> backend) {
  const auto at = https_.find(id);
  if (at == https_.end() || !at->second.done) {
    return;
  }
  if (!backend) {
    end_http(id, run::NotRun{backend.error()});
    return;
  }
  auto& request = at->second.request;
  auto opened_fn = [this, id](tl::expected<net::Fd, run::HttpOutcome> stream) { opened(id, std::move(stream)); };
  if (options_.direct_http && *backend != &local_) {
    at->second.stream = open_plain(loop_, options_, request.node->id, direct_host(request), request.port, std::move(opened_fn));
  } else {
    at->second.stream = (*backend)->open_stream(request, std::move(opened_fn));
  }
}

void Router::opened(run::CallId id, tl::expected<net::Fd, run::HttpOutcome> stream) {
  const auto at = https_.find(id);
  if (at == https_.end() || !at->second.done) {
    return;
  }
  if (!stream) {
    end_http(id, std::move(stream.error()));
    return;
  }
  auto& call = at->second;
  const auto left = std::max(run::Millis(1), call.request.timeout - (loop_.now() - call.begun));
  net::HttpHandlers handlers;
  handlers.done = [this, id](tl::expected<net::HttpAnswer, net::HttpFailure> answer) { answered(id, std::move(answer)); };
  // The router's own deadline ends the call; the client's is one step behind it.
  call.exchange = net::http_request(loop_, std::move(*stream), wire_request(call.request, left + run::Millis(1000)), std::move(handlers));
}

void Router::answered(run::CallId id, tl::expected<net::HttpAnswer, net::HttpFailure> answer) {
  const auto at = https_.find(id);
  if (at == https_.end() || !at->second.done) {
    return;
  }
  if (answer) {
    end_http(id, run::HttpResponse{answer->status, std::move(answer->body), answer->truncated, loop_.now() - at->second.begun});
    return;
  }
  const auto& failure = answer.error();
  if (failure.fault == net::HttpFault::closed && !failure.any_bytes &&
      at->second.stream->explain_close([this, id](run::HttpOutcome outcome) { end_http(id, std::move(outcome)); })) {
    return;
  }
  const Error error{Errc::lost, fmt::format("{} on {} port {}: {}", at->second.request.target, at->second.request.node->id, at->second.request.port, failure.message), {}};
  end_http(id, run::Lost{error});
}

void Router::end_http(run::CallId id, run::HttpOutcome outcome) {
  const auto at = https_.find(id);
  if (at == https_.end() || !at->second.done) {
    return;
  }
  loop_.cancel(at->second.deadline);
  auto done = std::exchange(at->second.done, nullptr);
  loop_.post([this, alive = std::weak_ptr(alive_), id, done = std::move(done), outcome = std::move(outcome)]() mutable {
    if (!alive.expired()) {
      https_.erase(id);
      done(std::move(outcome));
    }
  });
}

}  // namespace sskj::ssh
