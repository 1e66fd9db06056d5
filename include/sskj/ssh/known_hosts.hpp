// known_hosts: our own reader, matcher and appender. libssh2's ignores @revoked, loses lines after a malformed one, and takes a second key type for a match or a
// change by turns (measured; reference libssh2 section 4). Pure, but for load_known_hosts and append_known_host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/core/diagnostic.hpp"
#include "sskj/core/result.hpp"

namespace sskj::ssh {

enum class Marker { none, cert_authority, revoked };

/// One line of a known_hosts file.
struct KnownHost {
  Marker marker = Marker::none;
  std::string patterns;   ///< as written: comma list with wildcards and negation, or |1|salt|hash
  std::string type;       ///< "ssh-ed25519", ...
  std::string blob;       ///< decoded key
  SourceRef at;
};

struct KnownHosts {
  std::vector<KnownHost> entries;
  Diagnostics problems;   ///< lines that were skipped, with file:line
};

/// Reads one file's text; CRLF and trailing comments are fine, a malformed line is a warning and the rest counts.
void parse_known_hosts(std::string_view text, const std::string& file, KnownHosts& into);
/// Reads the files in order; one that does not exist is no problem.
KnownHosts load_known_hosts(const std::vector<std::string>& files);

/// The name a host key is looked up under: HostKeyAlias if set, else `host`, or `[host]:port` when the port is not 22; lower case.
std::string known_host_name(std::string_view host, std::uint16_t port, std::string_view alias = {});

/// Does a pattern field (also hashed) name this host? Negated patterns win.
bool matches_host(std::string_view patterns, std::string_view name);

enum class KeyVerdict { match, unknown, changed, revoked };

struct KeyCheck {
  KeyVerdict verdict = KeyVerdict::unknown;
  std::optional<KnownHost> entry;   ///< the matching, conflicting or revoking line
  bool other_type = false;          ///< unknown, but the name is known with a key of another type (`entry`)
};

/// revoked > match > changed (an entry of the same type differs) > unknown. `name` as known_host_name gives it; with a port other than 22 and without
/// an entry of its own the plain host's entries count too, as OpenSSH does.
KeyCheck check_host_key(const KnownHosts& hosts, std::string_view name, std::string_view blob);

/// Key type a public key blob names in its first field; empty when malformed.
std::string key_type(std::string_view blob);
/// "SHA256:..." exactly as `ssh-keygen -lf` prints it.
std::string fingerprint(std::string_view blob);
/// "ED25519", "ECDSA", "RSA" as ssh-keygen names the type.
std::string key_type_label(std::string_view type);

/// Comma list for LIBSSH2_METHOD_HOSTKEY: algorithms of the types known for this name first, then the rest. It restricts as well as orders, so all are named.
std::string host_key_preference(const KnownHosts& hosts, std::string_view name);

/// What a new key means. Never "off": a changed or revoked key is refused under each of them.
enum class HostKeyPolicy {
  strict,      ///< only keys that are in the known_hosts files
  accept_new,  ///< the key of a name that has none yet is added; a name known with another type of key counts as known
  pinned,      ///< as strict, and the user's and system's files do not count, only the given one
};

struct HostKeyContext {
  std::string node;                ///< as the user calls it
  std::string name;                ///< as looked up: known_host_name()
  std::string host;                ///< for ssh-keyscan
  std::uint16_t port = 22;
  std::vector<std::string> files;  ///< searched; the first takes new keys
};

/// true: go on and add the key first; false: go on. Errors (Errc::host_key) name the fingerprint, the file:line that speaks against it and the repairing command.
Result<bool> judge_host_key(const KeyCheck& check, HostKeyPolicy policy, const HostKeyContext& context, std::string_view blob);

/// Appends one line (`name` plain, or hashed when `hash`), creating file (0600) and directory (0700); one write under flock. Errors: Errc::host_key.
Result<void> append_known_host(const std::string& file, std::string_view name, std::string_view blob, bool hash);

}  // namespace sskj::ssh
