// HTTP/1.1 client: one request on one already connected descriptor (a socket, or a socketpair that is pumped into an SSH channel).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "sskj/net/fd.hpp"
#include "sskj/net/loop.hpp"

namespace sskj::net {

using HttpFields = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";
  std::string host;                      ///< value of the Host field
  HttpFields fields;                     ///< further fields; values with control characters are refused (malformed)
  std::string body;                      ///< sent with Content-Length when not empty or the method is POST/PUT
  Millis timeout{25'000};                ///< for everything, until the last body byte
  std::size_t max_body = 4U << 20;       ///< bytes kept of the body, when no body handler is set
  std::size_t max_head = 64U << 10;      ///< bytes of the status line and fields
};

struct HttpAnswer {
  int status = 0;
  HttpFields fields;                     ///< names in lower case
  std::string body;                      ///< empty when a body handler took it
  bool truncated = false;                ///< longer than max_body: cut there, the rest not read
  Millis elapsed{0};
};

enum class HttpFault {
  timeout,
  closed,      ///< the peer ended the connection before the answer was complete
  malformed,   ///< what came is not HTTP/1.x, or over the bounds
};

struct HttpFailure {
  HttpFault fault = HttpFault::closed;
  std::string message;       ///< one clause, e.g. "the connection was closed before an answer"
  bool any_bytes = false;    ///< something had been received
};

struct HttpHandlers {
  std::function<void(int status, const HttpFields& fields)> head;  ///< optional
  std::function<bool(std::string_view piece)> body;                ///< optional: takes the decoded body piece by piece; false ends the call as if complete
  std::function<void(tl::expected<HttpAnswer, HttpFailure>)> done; ///< once, last
};

/// Sends `Connection: close`. The descriptor is closed at the end or when the handle is destroyed.
Handle http_request(Loop& loop, Fd connection, HttpRequest request, HttpHandlers handlers);

}  // namespace sskj::net
