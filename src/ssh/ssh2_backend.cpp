#include "ssh2_backend.hpp"

#include <fmt/format.h>

#include "exec_channel.hpp"

namespace sskj::ssh {

namespace {

std::string key_of(const plan::SshTarget& target) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", target.host, target.user, target.port, target.identity_file, target.jump);
}

class Ssh2Exec : public RunningExec, public std::enable_shared_from_this<Ssh2Exec> {
 public:
  Ssh2Exec(net::Loop& loop, Ssh2Backend& backend, const Options& options, const run::ExecRequest& request, run::ExecHandlers handlers)
      : loop_(loop), backend_(backend), options_(options), request_(request), handlers_(std::move(handlers)) {}

  void start() {
    connection_ = backend_.connection_for(request_.node->ssh, 0);
    connection_->use([weak = weak_from_this()](Result<std::shared_ptr<Session>> session) {
      if (const auto self = weak.lock()) {
        self->connected(std::move(session));
      }
    });
  }

  void stop(Stop reason) override {
    const bool waiting = !channel_ || !channel_->sent();
    run::Outcome outcome = run::Cancelled{};
    if (reason == Stop::deadline && waiting) {
      const auto phase = channel_ ? "open" : connection_->phase();
      outcome = run::NotRun{{Errc::timeout, fmt::format("{} was not ready for the script in time (phase {})", request_.node->id, phase), "raise the deadline, or see why the node is slow"}};
    } else if (reason == Stop::deadline) {
      outcome = run::TimedOut{{Errc::timeout, fmt::format("the script on {} did not end within {:g} s (phase run)", request_.node->id, static_cast<double>(request_.deadline.count()) / 1000),
                               "its processes were told to stop; look at what it waited for"}};
    }
    if (channel_) {
      channel_->stop(outcome, options_.timeouts.close);
    }
    if (waiting) {
      finish(std::move(outcome));
    }
  }

  /// Whoever asked has gone: the channel ends what runs and answers to no one.
  void drop() {
    handlers_ = {};
    if (channel_) {
      channel_->stop(run::Cancelled{}, options_.timeouts.close);
    }
  }

 private:
  void connected(Result<std::shared_ptr<Session>> session) {
    if (!handlers_.done) {
      return;
    }
    if (!session) {
      finish(run::NotRun{session.error()});
      return;
    }
    ExecChannel::Handlers handlers;
    handlers.output = [weak = weak_from_this()](run::Stream stream, std::string_view bytes) {
      const auto self = weak.lock();
      if (self && self->handlers_.output) {
        self->handlers_.output(stream, bytes);
      }
    };
    handlers.done = [weak = weak_from_this()](run::Outcome outcome) {
      if (const auto self = weak.lock()) {
        self->finish(std::move(outcome));
      }
    };
    handlers.again = [weak = weak_from_this()](const Error& error) {
      if (const auto self = weak.lock()) {
        self->again(error);
      }
    };
    channel_ = std::make_shared<ExecChannel>(loop_, request_.node->id, request_.node->ssh.sudo, request_, std::move(handlers));
    channel_->attach(session->get());
    (*session)->add(channel_);
  }

  /// A kept session turned out dead before anything was sent: connect once more.
  void again(const Error& error) {
    channel_.reset();
    if (std::exchange(reconnected_, true)) {
      finish(run::NotRun{{Errc::unreachable, error.message, error.hint}});
      return;
    }
    start();
  }

  void finish(run::Outcome outcome) {
    auto call = std::exchange(handlers_.done, nullptr);
    handlers_.output = nullptr;
    if (call) {
      call(std::move(outcome));
    }
  }

  net::Loop& loop_;
  Ssh2Backend& backend_;
  const Options& options_;
  run::ExecRequest request_;
  run::ExecHandlers handlers_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<ExecChannel> channel_;
  bool reconnected_ = false;
};

/// What the router holds: dropping it ends the call.
class Ssh2ExecHandle : public RunningExec {
 public:
  explicit Ssh2ExecHandle(std::shared_ptr<Ssh2Exec> exec) : exec_(std::move(exec)) {}
  ~Ssh2ExecHandle() override { exec_->drop(); }
  void stop(Stop reason) override { exec_->stop(reason); }

 private:
  std::shared_ptr<Ssh2Exec> exec_;
};

class StreamOperation : public std::enable_shared_from_this<StreamOperation> {
 public:
  StreamOperation(net::Loop& loop, const Options& options, StreamOpened opened) : loop_(loop), options_(options), opened_(std::move(opened)) {}

  void start(std::shared_ptr<Connection> connection, const run::HttpRequest& request) {
    connection_ = std::move(connection);
    connection_->use([weak = weak_from_this(), label = request.node->id, host = request.host, port = request.port](Result<std::shared_ptr<Session>> session) {
      if (const auto self = weak.lock()) {
        self->connected(std::move(session), label, host, port);
      }
    });
  }
  void give_up() {
    opened_ = nullptr;
    if (tunnel_ && !open_) {
      tunnel_->give_up(options_.timeouts.open);
    }
  }

 private:
  void connected(Result<std::shared_ptr<Session>> session, const std::string& label, const std::string& host, std::uint16_t port) {
    if (!opened_) {
      return;
    }
    if (!session) {
      answer(tl::unexpected<run::HttpOutcome>(run::NotRun{session.error()}));
      return;
    }
    tunnel_ = std::make_shared<Tunnel>(loop_, label, host, port, [weak = weak_from_this()](tl::expected<net::Fd, TunnelError> opened) {
      if (const auto self = weak.lock()) {
        self->opened(std::move(opened));
      }
    });
    tunnel_->attach(session->get());
    (*session)->add(tunnel_);
  }

  void opened(tl::expected<net::Fd, TunnelError> opened) {
    if (opened) {
      open_ = true;
      answer(std::move(*opened));
    } else if (opened.error().kind == TunnelError::Kind::refused) {
      answer(tl::unexpected<run::HttpOutcome>(run::HttpRefused{opened.error().error.message}));
    } else {
      answer(tl::unexpected<run::HttpOutcome>(run::NotRun{opened.error().error}));
    }
  }

  void answer(tl::expected<net::Fd, run::HttpOutcome> result) {
    if (auto call = std::exchange(opened_, nullptr)) {
      call(std::move(result));
    }
  }

  net::Loop& loop_;
  const Options& options_;
  StreamOpened opened_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<Tunnel> tunnel_;
  bool open_ = false;
};

class StreamHandle : public Stream {
 public:
  explicit StreamHandle(std::shared_ptr<StreamOperation> operation) : operation_(std::move(operation)) {}
  ~StreamHandle() override { operation_->give_up(); }

 private:
  std::shared_ptr<StreamOperation> operation_;
};

}  // namespace

Ssh2Backend::Library::Library() { libssh2_init(0); }
Ssh2Backend::Library::~Library() { libssh2_exit(); }

Ssh2Backend::Ssh2Backend(net::Loop& loop, const Options& options) : loop_(loop), options_(options) {
  // Shared is an aggregate, which make_unique of C++20 cannot brace-initialise under clang 14.
  // NOLINTNEXTLINE(modernize-make-unique)
  shared_ = std::unique_ptr<Shared>(new Shared{loop, options_, Resolver(loop, options_), Gate(loop, options.handshakes, options.handshakes_per_gate), {}, {}});
  shared_->connection_for = [this](const plan::SshTarget& target, int depth) { return connection_for(target, depth); };
}

Ssh2Backend::~Ssh2Backend() = default;

std::shared_ptr<Connection> Ssh2Backend::connection_for(const plan::SshTarget& target, int depth) {
  auto& connection = connections_[key_of(target)];
  // One that failed or died is not used again; calls that still run on a clogged one keep it alive themselves.
  if (!connection || !connection->usable()) {
    connection = std::make_shared<Connection>(*shared_, target, depth);
  }
  return connection;
}

std::unique_ptr<RunningExec> Ssh2Backend::exec(const run::ExecRequest& request, run::ExecHandlers handlers) {
  auto exec = std::make_shared<Ssh2Exec>(loop_, *this, options_, request, std::move(handlers));
  exec->start();
  return std::make_unique<Ssh2ExecHandle>(std::move(exec));
}

std::unique_ptr<Stream> Ssh2Backend::open_stream(const run::HttpRequest& request, StreamOpened opened) {
  auto operation = std::make_shared<StreamOperation>(loop_, options_, std::move(opened));
  operation->start(connection_for(request.node->ssh, 0), request);
  return std::make_unique<StreamHandle>(std::move(operation));
}

}  // namespace sskj::ssh
