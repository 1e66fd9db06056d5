#include "sskj/ssh/transport.hpp"

#include <libssh2.h>

#include "router.hpp"

namespace sskj::ssh {

std::optional<Way> parse_way(std::string_view word) {
  if (word == "auto") {
    return Way::automatic;
  }
  if (word == "ssh2") {
    return Way::ssh2;
  }
  if (word == "openssh") {
    return Way::openssh;
  }
  return word == "local" ? std::optional(Way::local) : std::nullopt;
}

std::unique_ptr<run::Transport> make_transport(net::Loop& loop, Options options) { return std::make_unique<Router>(loop, std::move(options)); }

LibraryVersion libssh2_version() {
  // The library that is linked decides, not the header.
  return {::libssh2_version(0), ::libssh2_version(0x010b01) == nullptr};
}

}  // namespace sskj::ssh
