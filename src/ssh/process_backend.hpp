// Backends that run a child process: this machine's own sh, and the system's ssh.
#pragma once

#include <string>
#include <vector>

#include "backend.hpp"
#include "gate.hpp"
#include "sskj/ssh/transport.hpp"

namespace sskj::ssh {

/// The node is this machine: the same bootstrap through `sh`, HTTP by a plain socket.
class LocalBackend : public Backend {
 public:
  LocalBackend(net::Loop& loop, const Options& options) : loop_(loop), options_(options) {}
  std::unique_ptr<RunningExec> exec(const run::ExecRequest& request, run::ExecHandlers handlers) override;
  std::unique_ptr<Stream> open_stream(const run::HttpRequest& request, StreamOpened opened) override;

 private:
  net::Loop& loop_;
  const Options& options_;
};

/// The system's ssh with the same bootstrap, for what libssh2 lacks: security keys, GSSAPI, ProxyCommand. One connection per call, unless the user's ssh_config
/// shares them (ControlMaster).
class OpensshBackend : public Backend {
 public:
  OpensshBackend(net::Loop& loop, const Options& options)
      : loop_(loop), options_(options), gate_(loop, options.handshakes, options.handshakes_per_gate) {}
  std::unique_ptr<RunningExec> exec(const run::ExecRequest& request, run::ExecHandlers handlers) override;
  std::unique_ptr<Stream> open_stream(const run::HttpRequest& request, StreamOpened opened) override;

 private:
  net::Loop& loop_;
  const Options& options_;
  Gate gate_;
};

/// `ssh` with the options of a target, up to and without the `--`.
std::vector<std::string> openssh_command(const Options& options, const plan::SshTarget& target);

/// A failure of the system's ssh from its exit status and its own, untranslated words; it has no other way of telling.
Error openssh_error(const std::string& label, const std::string& said);

/// A plain connection from here (local node, --direct).
std::unique_ptr<Stream> open_plain(net::Loop& loop, const Options& options, const std::string& label, const std::string& host, std::uint16_t port, StreamOpened opened);

}  // namespace sskj::ssh
