#include <fmt/format.h>

#include "sskj/core/shell.hpp"
#include "sskj/ssh/known_hosts.hpp"

namespace sskj::ssh {

namespace {

std::string forget_command(const HostKeyContext& context, const std::string& file) {
  return fmt::format("ssh-keygen -f {} -R {}", shell::quote(file), shell::quote(context.name));
}

std::string learn_command(const HostKeyContext& context) {
  const std::string port = context.port == 22 ? "" : fmt::format("-p {} ", context.port);
  return fmt::format("ssh-keyscan {}{} >> {}", port, shell::quote(context.host), shell::quote(context.files.empty() ? "~/.ssh/known_hosts" : context.files[0]));
}

std::string line_of(const KnownHost& entry) { return fmt::format("{} {} in {}", key_type_label(entry.type), fingerprint(entry.blob), to_string(entry.at)); }

}  // namespace

Result<bool> judge_host_key(const KeyCheck& check, HostKeyPolicy policy, const HostKeyContext& context, std::string_view blob) {
  const std::string offered = fmt::format("{} {}", key_type_label(key_type(blob)), fingerprint(blob));
  switch (check.verdict) {
    case KeyVerdict::match: return false;
    case KeyVerdict::revoked:
      return fail(Errc::host_key, fmt::format("{} shows the host key {}, which is revoked by {}", context.node, offered, to_string(check.entry->at)),
                  "do not connect; the node needs a new host key (ssh-keygen -A there), and whoever revoked this one knows why");
    case KeyVerdict::changed:
      return fail(Errc::host_key, fmt::format("the host key of {} changed: expected {}, got {}", context.node, line_of(*check.entry), offered),
                  fmt::format("if the node was reinstalled: {}, then connect again; if not, somebody may be in between", forget_command(context, check.entry->at.file)));
    case KeyVerdict::unknown: break;
  }
  if (check.other_type) {
    return fail(Errc::host_key, fmt::format("{} shows the host key {}, but is known by {}", context.node, offered, line_of(*check.entry)),
                fmt::format("compare with `ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub` on the node, then: {}", learn_command(context)));
  }
  if (policy == HostKeyPolicy::accept_new) {
    return true;
  }
  return fail(Errc::host_key, fmt::format("the host key of {} is not known: {}", context.node, offered),
              fmt::format("compare the fingerprint with the node's, then: {}; or let sskj add it: --known-hosts-policy accept-new", learn_command(context)));
}

}  // namespace sskj::ssh
