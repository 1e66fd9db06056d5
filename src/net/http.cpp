#include "sskj/net/http.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "http_parser.hpp"

namespace sskj::net {

namespace {

using Done = tl::expected<HttpAnswer, HttpFailure>;

bool clean(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

/// Empty when a part would break the request's framing.
std::string serialize(const HttpRequest& request) {
  std::string text = request.method + " " + request.target + " HTTP/1.1\r\nHost: " + request.host + "\r\nConnection: close\r\nAccept: */*\r\n";
  bool ok = clean(request.method) && clean(request.target) && clean(request.host) && request.target.find(' ') == std::string::npos;
  for (const auto& [name, value] : request.fields) {
    ok = ok && clean(name) && clean(value);
    text.append(name).append(": ").append(value).append("\r\n");
  }
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT") {
    text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  text.append("\r\n").append(request.body);
  return ok ? text : std::string{};
}

struct Exchange : std::enable_shared_from_this<Exchange> {
  Exchange(Loop& l, Fd fd) : loop(l), connection(std::move(fd)) {}
  Loop& loop;
  Fd connection;
  std::unique_ptr<Watch> watch;
  std::unique_ptr<ResponseParser> parser;
  HttpHandlers handlers;
  HttpAnswer answer;
  std::size_t max_body = 0;
  std::string out;
  std::size_t sent = 0;
  Millis begun{0};
  TimerId timer = 0;
  bool any_bytes = false;

  void start(const HttpRequest& request);
  void ready();
  bool send_some();
  void receive_some();
  bool take_body(std::string_view piece);
  void fed(ResponseParser::State state);
  void failed(HttpFault fault, std::string message);
  void finish(Done result);
  void close() {
    loop.cancel(timer);
    watch.reset();
    connection.reset();
  }
};

void Exchange::finish(Done result) {
  const auto keep = shared_from_this();
  close();
  if (auto call = std::exchange(handlers.done, nullptr)) {
    handlers = {};
    call(std::move(result));
  }
}

void Exchange::failed(HttpFault fault, std::string message) { finish(tl::unexpected<HttpFailure>({fault, std::move(message), any_bytes})); }

bool Exchange::take_body(std::string_view piece) {
  if (handlers.body) {
    return handlers.body(piece);
  }
  const std::size_t room = max_body - std::min(max_body, answer.body.size());
  answer.body.append(piece.substr(0, room));
  answer.truncated = piece.size() > room;
  return !answer.truncated;
}

void Exchange::start(const HttpRequest& request) {
  ResponseParser::Sink sink;
  sink.head = [this](int status, const HttpFields& fields) {
    answer.status = status;
    answer.fields = fields;
    if (handlers.head) {
      handlers.head(status, fields);
    }
  };
  sink.body = [this](std::string_view piece) { return handlers.done != nullptr && take_body(piece); };
  parser = std::make_unique<ResponseParser>(std::move(sink), request.max_head, request.method == "HEAD");
  max_body = request.max_body;
  begun = loop.now();
  out = serialize(request);
  set_nonblocking(connection.get());
  timer = loop.after(request.timeout, [this] { failed(HttpFault::timeout, any_bytes ? "the answer was not complete in time" : "no answer in time"); });
  watch = std::make_unique<Watch>(loop, connection.get(), [this](bool, bool) { ready(); });
  watch->want(true, true);
}

/// False when the exchange ended.
bool Exchange::send_some() {
  while (sent < out.size()) {
    const ssize_t wrote = ::send(connection.get(), out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
    if (wrote > 0) {
      sent += static_cast<std::size_t>(wrote);
    } else if (errno != EINTR) {
      // A server may answer (e.g. 413) and close before it read all: what it said is still to be read.
      if (errno != EAGAIN) {
        sent = out.size();
      }
      return true;
    }
  }
  return true;
}

void Exchange::fed(ResponseParser::State state) {
  switch (state) {
    case ResponseParser::State::more: return;
    case ResponseParser::State::complete:
    case ResponseParser::State::enough:
      answer.elapsed = loop.now() - begun;
      finish(std::move(answer));
      return;
    case ResponseParser::State::malformed: failed(HttpFault::malformed, "what came is not an HTTP answer: " + parser->error()); return;
  }
}

void Exchange::receive_some() {
  std::array<char, 32768> buffer{};
  for (int i = 0; i < 4 && handlers.done; ++i) {
    const ssize_t got = ::recv(connection.get(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
      any_bytes = true;
      fed(parser->feed({buffer.data(), static_cast<std::size_t>(got)}));
    } else if (got < 0 && errno == EAGAIN) {
      return;
    } else if (got == 0 || errno != EINTR) {
      fed(parser->finish());
      if (handlers.done) {
        failed(HttpFault::closed, any_bytes ? "the connection was closed in the middle of the answer" : "the connection was closed without an answer");
      }
      return;
    }
  }
}

void Exchange::ready() {
  const auto keep = shared_from_this();
  if (out.empty()) {
    failed(HttpFault::malformed, "the request holds a control character");
    return;
  }
  if (send_some()) {
    receive_some();
  }
  if (handlers.done) {
    watch->want(true, sent < out.size());
  }
}

class HttpOperation : public Operation {
 public:
  explicit HttpOperation(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  ~HttpOperation() override {
    exchange_->handlers.done = nullptr;
    exchange_->close();
  }

 private:
  std::shared_ptr<Exchange> exchange_;
};

}  // namespace

Handle http_request(Loop& loop, Fd connection, HttpRequest request, HttpHandlers handlers) {  // NOLINT(performance-unnecessary-value-param): the header takes it by value so that a caller may let go of it
  auto exchange = std::make_shared<Exchange>(loop, std::move(connection));
  exchange->handlers = std::move(handlers);
  exchange->start(request);
  return std::make_unique<HttpOperation>(std::move(exchange));
}

}  // namespace sskj::net
