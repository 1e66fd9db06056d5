#include "process_backend.hpp"

#include <fmt/format.h>

#include <array>

#include "outcome.hpp"
#include "process_exec.hpp"
#include "sskj/core/text.hpp"

namespace sskj::ssh {

namespace {

constexpr std::size_t k_max_said = 4096;
constexpr int k_openssh_failed = 255;

std::string signal_name(int signal) { return signal == 0 ? "" : std::to_string(signal); }

/// The last line of what ssh said: the cause comes last.
std::string last_line(std::string_view said) {
  const auto lines = text::split_lines(text::trim(said));
  return lines.empty() ? "" : text::printable(lines.back());
}

struct Words {
  std::string_view part;
  Errc code;
  std::string_view hint;
};

// OpenSSH's messages are not translated; first match counts.
constexpr std::array<Words, 8> k_openssh_words{{
    {"Host key verification failed", Errc::host_key, "see `ssh -v` to the node; a new key: --known-hosts-policy accept-new"},
    {"REMOTE HOST IDENTIFICATION HAS CHANGED", Errc::host_key, "if the node was reinstalled: ssh-keygen -R HOST"},
    {"Permission denied", Errc::auth, "ssh-add your key, or ssh-copy-id it to the node"},
    {"Too many authentication failures", Errc::auth, "name the right key with IdentityFile and IdentitiesOnly"},
    {"timed out", Errc::timeout, "check that the node is up and its address"},
    {"Could not resolve hostname", Errc::unreachable, "check the spelling, or write the address"},
    {"Connection refused", Errc::unreachable, "check that sshd runs on the node, and its port"},
    {"Bad configuration option", Errc::usage, "correct ssh_config"},
}};

/// `ssh -W`: its stdin and stdout are one end of a socketpair.
class ForwardStream : public Stream {
 public:
  ForwardStream(net::Loop& loop, const Options& options, const run::HttpRequest& request) : loop_(loop), label_(request.node->id), where_(fmt::format("{}:{}", request.host, request.port)) {
    command_ = openssh_command(options, request.node->ssh);
    command_.insert(command_.end(), {"-W", fmt::format("[{}]:{}", request.host, request.port), "--", request.node->ssh.host});
    env_ = options.environment.variables;
  }

  void start(StreamOpened opened) {
    loop_.post([this, alive = std::weak_ptr(alive_), opened = std::move(opened)] {
      if (!alive.expired()) {
        opened(spawn());
      }
    });
  }

  bool explain_close(std::function<void(run::HttpOutcome)> done) override {
    explain_ = std::move(done);
    if (ended_) {
      loop_.post([this, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) {
          explain();
        }
      });
    }
    return true;
  }

 private:
  tl::expected<net::Fd, run::HttpOutcome> spawn() {
    auto [ours, its] = net::socket_pair();
    net::ProcessSpec spec;
    spec.argv = command_;
    spec.env = env_;
    spec.stdio_fd = its.get();
    net::ProcessHandlers handlers;
    handlers.output = [this](int, std::string_view bytes) { said_.append(bytes.substr(0, k_max_said - std::min(k_max_said, said_.size()))); };
    handlers.exited = [this](net::ExitStatus) {
      ended_ = true;
      explain();
    };
    auto process = net::Process::spawn(loop_, spec, std::move(handlers));
    if (!process || !ours) {
      return tl::unexpected<run::HttpOutcome>(run::NotRun{process ? Error{Errc::internal, "no descriptor left", {}} : process.error()});
    }
    process_ = std::move(*process);
    return std::move(ours);
  }

  void explain() {
    auto call = std::exchange(explain_, nullptr);
    if (!call) {
      return;
    }
    if (said_.find("open failed: connect failed") != std::string::npos) {
      call(run::HttpRefused{fmt::format("nothing answers at {} as seen from {}", where_, label_)});
    } else if (said_.find("administratively prohibited") != std::string::npos) {
      call(run::NotRun{{Errc::unreachable, fmt::format("sshd on {} does not forward connections to {} (AllowTcpForwarding or PermitOpen)", label_, where_),
                        "use --direct if this machine reaches the node's ports, or allow it: AllowTcpForwarding yes in sshd_config of the node"}});
    } else if (said_.empty()) {
      call(run::Lost{{Errc::lost, fmt::format("{} ({}) closed the connection without an answer", where_, label_), {}}});
    } else {
      call(run::NotRun{openssh_error(label_, said_)});
    }
  }

  net::Loop& loop_;
  std::string label_, where_, said_;
  std::vector<std::string> command_, env_;
  std::function<void(run::HttpOutcome)> explain_;
  bool ended_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  std::unique_ptr<net::Process> process_;
};

}  // namespace

Error openssh_error(const std::string& label, const std::string& said) {
  for (const auto& [part, code, hint] : k_openssh_words) {
    if (said.find(part) != std::string::npos) {
      return {code, fmt::format("ssh to {} failed: {}", label, last_line(said)), std::string(hint)};
    }
  }
  return {Errc::unreachable, fmt::format("ssh to {} failed: {}", label, last_line(said)), fmt::format("see: ssh -v {}", label)};
}

std::vector<std::string> openssh_command(const Options& options, const plan::SshTarget& target) {
  std::vector<std::string> argv{"ssh", "-T", "-e", "none"};
  const auto option = [&](const std::string& text) { argv.insert(argv.end(), {"-o", text}); };
  if (!options.config_file.empty()) {
    argv.insert(argv.end(), {"-F", options.config_file});
  } else if (!options.use_ssh_config) {
    argv.insert(argv.end(), {"-F", "none"});
  }
  option("BatchMode=yes");
  option("ServerAliveInterval=15");
  option("ConnectTimeout=" + std::to_string(std::max<long>(1, static_cast<long>(options.timeouts.tcp.count()) / 1000)));
  if (options.host_keys) {
    option(*options.host_keys == HostKeyPolicy::accept_new ? "StrictHostKeyChecking=accept-new" : "StrictHostKeyChecking=yes");
  }
  if (!options.pinned_known_hosts.empty()) {
    option("UserKnownHostsFile=" + options.pinned_known_hosts);
    if (options.host_keys == HostKeyPolicy::pinned) {
      option("GlobalKnownHostsFile=none");
    }
  }
  if (!target.user.empty()) {
    argv.insert(argv.end(), {"-l", target.user});
  }
  if (target.port != 0) {
    argv.insert(argv.end(), {"-p", std::to_string(target.port)});
  }
  if (!target.identity_file.empty()) {
    argv.insert(argv.end(), {"-i", target.identity_file});
  }
  if (!target.jump.empty()) {
    argv.insert(argv.end(), {"-J", target.jump});
  }
  return argv;
}

std::unique_ptr<RunningExec> LocalBackend::exec(const run::ExecRequest& request, run::ExecHandlers handlers) {
  std::vector<std::string> argv{"sh", "-c", std::string(bootstrap_script())};
  const bool sudo = request.node->ssh.sudo;
  if (sudo) {
    argv.insert(argv.begin(), {"sudo", "-n", "--"});
  }
  ProcessPlan plan;
  plan.argv = std::move(argv);
  plan.end = [label = request.node->id, sudo](const Decoder& decoder, net::ExitStatus status) {
    return no_trailer(label, sudo, decoder, {status.code, signal_name(status.signal)});
  };
  return exec_process(loop_, options_, std::move(plan), request, std::move(handlers));
}

std::unique_ptr<Stream> LocalBackend::open_stream(const run::HttpRequest& request, StreamOpened opened) {
  return open_plain(loop_, options_, request.node->id, request.host, request.port, std::move(opened));
}

std::unique_ptr<RunningExec> OpensshBackend::exec(const run::ExecRequest& request, run::ExecHandlers handlers) {
  auto argv = openssh_command(options_, request.node->ssh);
  const bool sudo = request.node->ssh.sudo;
  argv.insert(argv.end(), {"--", request.node->ssh.host, bootstrap_command(sudo)});
  ProcessPlan plan;
  plan.argv = std::move(argv);
  plan.gate = &gate_;
  plan.entrance = request.node->ssh.host + ":" + std::to_string(request.node->ssh.port);
  plan.end = [label = request.node->id, sudo](const Decoder& decoder, net::ExitStatus status) -> run::Outcome {
    if (!decoder.started() && status.code == k_openssh_failed) {
      return run::NotRun{openssh_error(label, decoder.noise())};
    }
    return no_trailer(label, sudo, decoder, {status.code, signal_name(status.signal)});
  };
  return exec_process(loop_, options_, std::move(plan), request, std::move(handlers));
}

std::unique_ptr<Stream> OpensshBackend::open_stream(const run::HttpRequest& request, StreamOpened opened) {
  auto stream = std::make_unique<ForwardStream>(loop_, options_, request);
  stream->start(std::move(opened));
  return stream;
}

}  // namespace sskj::ssh
