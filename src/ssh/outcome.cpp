#include "outcome.hpp"

#include <fmt/format.h>

#include "sskj/core/text.hpp"

namespace sskj::ssh {

namespace {

constexpr std::size_t k_max_quoted = 300;

std::string how(const ProcessEnd& end) {
  return end.signal.empty() ? fmt::format("exit status {}", end.status) : fmt::format("signal {}", end.signal);
}

std::string said(const Decoder& decoder) {
  const std::string noise = text::printable(text::trim(std::string_view(decoder.noise()).substr(0, k_max_quoted)));
  return noise.empty() ? "" : fmt::format(": {}", noise);
}

}  // namespace

run::Outcome no_trailer(const std::string& label, bool sudo, const Decoder& decoder, const ProcessEnd& end) {
  if (decoder.started() || (end.status == 0 && end.signal.empty())) {
    return run::Lost{{Errc::lost, fmt::format("the connection to {} ended without the script's exit status ({})", label, how(end)),
                      "look on the node whether the script still runs or finished; repeat the command"}};
  }
  if (sudo) {
    return run::NotRun{{Errc::auth, fmt::format("sudo -n on {} does not let the script run ({}){}", label, how(end), said(decoder)),
                        "allow it without a password (NOPASSWD in /etc/sudoers.d), or use an account that needs no sudo"}};
  }
  return run::NotRun{{Errc::auth, fmt::format("the login shell of the account on {} does not run commands ({}){}", label, how(end), said(decoder)),
                      "check the account's shell and its login files on the node"}};
}

}  // namespace sskj::ssh
