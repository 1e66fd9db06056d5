// What ssh_config says about a target. OpenSSH resolves it (`ssh -G`); here is the reading of its answer, and of which files are in force, both pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/core/result.hpp"
#include "sskj/plan/plan.hpp"

namespace sskj::ssh {

/// The environment a transport works in; taken from the process by the composition root, by tests from a temporary directory.
struct Environment {
  std::string home;                          ///< $HOME; getpwuid is not an option in a static binary
  std::string user;                          ///< account we run as: $USER or $LOGNAME; "root" for uid 0
  std::string path = "/usr/bin:/bin";        ///< $PATH, to find ssh
  std::string agent_socket;                  ///< $SSH_AUTH_SOCK
  std::vector<std::string> variables;        ///< complete environment of children, "NAME=value"; empty = inherit
};
Environment process_environment();

/// One target, resolved. Strings are expanded (~, %d, %h, %n, %p, %r, %u, %%) where OpenSSH leaves that to the reader.
struct Settings {
  std::string host;                          ///< to connect to
  std::string original;                      ///< as the user named it
  std::uint16_t port = 22;
  std::string user;
  std::vector<std::string> identity_files;   ///< also names of files that do not exist
  std::vector<std::string> certificate_files;
  bool identities_only = false;
  std::string identity_agent;                ///< socket; empty = none
  std::vector<std::string> user_known_hosts, global_known_hosts;
  std::string strict_host_key_checking = "ask";
  std::string host_key_alias;
  bool hash_known_hosts = false;
  std::string proxy_jump;                    ///< "user@host:port,..."; empty = none
  std::string proxy_command;                 ///< empty = none; only the system's ssh can run it
  int connect_timeout_s = 0;                 ///< 0 = not set
  bool operator==(const Settings&) const = default;
};

/// `key value` lines of `ssh -G`, keys in lower case, repeated keys in order.
using RawSettings = std::multimap<std::string, std::string, std::less<>>;
RawSettings parse_ssh_g(std::string_view output);

/// Raw settings and the target's own fields (which win) to Settings. Errors (Errc::usage): a port that is none.
Result<Settings> make_settings(const RawSettings& raw, const plan::SshTarget& target, const Environment& environment);

/// One hop of a ProxyJump list: `[user@]host[:port]`, `ssh://user@host:port`, `[v6]:port`.
Result<plan::SshTarget> parse_hop(std::string_view text);
Result<std::vector<plan::SshTarget>> parse_jump(std::string_view list);

/// Does the set of configuration files in force treat every host that matches none of `patterns` alike? Then one `ssh -G` answers for all of them.
struct ConfigScan {
  bool uniform = true;                 ///< false: Match, tokens that depend on the host, CanonicalizeHostname, unreadable Include: ask per host
  std::vector<std::string> patterns;   ///< of Host lines other than `*`
};
/// Lines of one file, which begins in a section that holds for every host if `common`; `include` is handed the words of each Include line and whether its place is common.
/// What a Host section of its own says does not touch the other hosts.
using IncludeFn = std::function<void(const std::string& pattern, bool common)>;
void scan_config(std::string_view text, ConfigScan& scan, const IncludeFn& include, bool common = true);
/// Reads the files in force: `config_file` alone when given ("none" = no file), else ~/.ssh/config and /etc/ssh/ssh_config, with what they include.
ConfigScan scan_config_files(const std::string& config_file, const Environment& environment);
/// The host is matched by a Host line of its own, so that the common answer does not hold for it.
bool has_own_section(const ConfigScan& scan, std::string_view host);

}  // namespace sskj::ssh
