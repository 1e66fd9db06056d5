// ResponseParser: HTTP/1.x responses, incrementally, over Beast's parser. Pure: bytes in, pieces out.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sskj/net/http.hpp"

namespace sskj::net {

class ResponseParser {
 public:
  struct Sink {
    std::function<void(int status, const HttpFields& fields)> head;
    std::function<bool(std::string_view piece)> body;  ///< false: enough
  };
  enum class State { more, complete, enough, malformed };

  ResponseParser(Sink sink, std::size_t max_head, bool head_request);
  ~ResponseParser();
  ResponseParser(const ResponseParser&) = delete;
  ResponseParser& operator=(const ResponseParser&) = delete;

  State feed(std::string_view bytes);
  /// The peer ended the connection: complete when the answer is delimited by that, `more` when something is missing.
  State finish();
  const std::string& error() const;  ///< set when malformed

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sskj::net
