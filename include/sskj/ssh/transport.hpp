// The SSH transports behind run::Transport: libssh2, this machine itself, and the system's ssh; one router chooses per node.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sskj/net/loop.hpp"
#include "sskj/run/transport.hpp"
#include "sskj/ssh/config.hpp"
#include "sskj/ssh/known_hosts.hpp"

namespace sskj::ssh {

/// Which way to a node. `automatic`: a node that is this machine runs locally; a target with ProxyCommand goes through the system's ssh; all others through libssh2.
/// "This machine": the host is localhost or exactly an address of a local interface, without port, jump host or another account.
enum class Way { automatic, ssh2, openssh, local };
std::optional<Way> parse_way(std::string_view word);  ///< "auto", "ssh2", "openssh", "local"

/// Deadlines of the phases of a connection; each failure names its phase. A call's own deadline holds besides.
struct PhaseTimeouts {
  run::Millis resolve{10'000};   ///< name lookup, `ssh -G`
  run::Millis tcp{7'000};        ///< ConnectTimeout of ssh_config wins
  run::Millis handshake{15'000}; ///< banner and key exchange
  run::Millis auth{15'000};      ///< all keys together
  run::Millis open{10'000};      ///< channel open and exec request
  run::Millis close{5'000};      ///< after a cancel or a passed deadline, until the remote group is gone
};

struct Options {
  Way way = Way::automatic;
  std::optional<HostKeyPolicy> host_keys;    ///< unset: StrictHostKeyChecking of ssh_config (yes, ask: strict; accept-new, no: accept_new), else strict
  std::string pinned_known_hosts;            ///< file for HostKeyPolicy::pinned; with the others it replaces the user's known_hosts files when set
  std::size_t handshakes = 32;               ///< connections being made at once, in total; the application sets --fanout
  std::size_t handshakes_per_gate = 8;       ///< ... to one sshd or through one jump host (MaxStartups is 10:30:100 by default)
  PhaseTimeouts timeouts;
  bool direct_http = false;                  ///< --direct: HTTP by a plain socket from here, not through SSH
  std::string config_file;                   ///< `ssh -F`; empty = the user's and the system's; "none" = no file
  bool use_ssh_config = true;                ///< false: the targets' own fields only
  Environment environment = process_environment();
  std::function<void(const std::string&)> warn;   ///< one-time remarks, e.g. "no ssh program: ssh_config is not read"
};

/// The loop must outlive the transport, and no call of a destroyed transport is answered any more.
std::unique_ptr<run::Transport> make_transport(net::Loop& loop, Options options);

/// How a target resolves, for `sskj ssh explain HOST`.
struct Explanation {
  struct Field {
    std::string name, value;
    std::string origin;   ///< "target" (flag or profile), "ssh_config", "default"
  };
  Way way = Way::ssh2;
  std::string why;        ///< why this way
  std::vector<Field> fields;
  std::vector<std::string> notes;  ///< known_hosts lines with the key's fingerprint, missing identity files, encrypted keys, ...
};
/// `done` is called once, from the loop. Errors: Errc::usage (bad target or ssh_config), Errc::timeout.
void explain(net::Loop& loop, const Options& options, const plan::SshTarget& target, std::function<void(Result<Explanation>)> done);

/// "1.11.1", and whether it is too old for RSA user keys against current OpenSSH (degraded mode). For `sskj version`.
struct LibraryVersion {
  std::string version;
  bool degraded = false;
};
LibraryVersion libssh2_version();

}  // namespace sskj::ssh
