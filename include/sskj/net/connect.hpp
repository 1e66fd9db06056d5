// Names to addresses and TCP connections, without the C library's resolver: a static glibc may crash inside foreign NSS modules, so names are asked of a
// `getent` child (design section 12).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "sskj/core/result.hpp"
#include "sskj/net/fd.hpp"
#include "sskj/net/loop.hpp"

namespace sskj::net {

/// IPv4 or IPv6 literal.
bool is_numeric_address(std::string_view text);
/// Addresses of this machine's interfaces in canonical text (127.0.0.1 and ::1 included, the rest of 127/8 not).
std::vector<std::string> own_addresses();
/// Canonical text of a numeric address; empty when it is none.
std::string canonical_address(std::string_view text);

/// Lines of `getent ahosts` to addresses in order, without duplicates. Pure.
std::vector<std::string> parse_getent(std::string_view output);
/// Addresses of `name` in text of the form of /etc/hosts. Pure.
std::vector<std::string> parse_hosts(std::string_view hosts, std::string_view name);

/// Numeric addresses of `name`: itself when numeric, 127.0.0.1 and ::1 for localhost, else `getent ahosts`; /etc/hosts where there is no getent.
/// Errors: Errc::unreachable (no such name), Errc::timeout.
Handle resolve(Loop& loop, const std::string& name, Millis deadline, std::function<void(Result<std::vector<std::string>>)> done);

/// Why no connection came about.
struct ConnectError {
  int error = 0;         ///< errno of the last attempt; ETIMEDOUT when the deadline passed
  std::string message;   ///< e.g. "connection refused"
};
using ConnectDone = std::function<void(tl::expected<Fd, ConnectError>)>;

/// Tries numeric addresses in order until one answers; the deadline is for all of them together. The socket is non-blocking, close-on-exec, TCP_NODELAY, with
/// SO_KEEPALIVE and TCP_USER_TIMEOUT 30 s so that a dead peer is noticed by the kernel (reference: keepalives of libssh2 can wedge a session).
Handle connect_tcp(Loop& loop, std::vector<std::string> addresses, std::uint16_t port, Millis deadline, ConnectDone done);

}  // namespace sskj::net
