#include "sskj/net/http.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>

namespace sskj::net {
namespace {

using Answer = tl::expected<HttpAnswer, HttpFailure>;

/// One exchange over a socketpair whose other end has said `reply` already and then closed, if `close`.
struct Exchange {
  explicit Exchange(const std::string& reply, bool close = true) {
    auto [ours, theirs] = socket_pair();
    peer = std::move(theirs);
    connection = std::move(ours);
    EXPECT_EQ(::send(peer.get(), reply.data(), reply.size(), 0), static_cast<ssize_t>(reply.size()));
    if (close) {
      ::shutdown(peer.get(), SHUT_WR);
    }
  }
  Answer run(HttpRequest request, HttpHandlers handlers = {}) {
    std::optional<Answer> answer;
    handlers.done = [&](Answer a) {
      answer = std::move(a);
      loop.stop();
    };
    const auto handle = http_request(loop, std::move(connection), std::move(request), std::move(handlers));
    EXPECT_FALSE(answer.has_value()) << "not from inside the call";
    loop.run();
    return std::move(*answer);
  }
  std::string sent() const {
    std::array<char, 65536> buffer{};
    const ssize_t got = ::recv(peer.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  }
  Loop loop;
  Fd connection, peer;
};

TEST(HttpRequestTest, Is_written_as_HTTP_1_1_with_its_fields_and_body) {
  Exchange exchange("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  HttpRequest request;
  request.method = "POST";
  request.target = "/v1/x?y=1";
  request.host = "10.0.0.1:8000";
  request.fields = {{"Authorization", "Bearer s"}};
  request.body = "{}";
  const auto answer = exchange.run(request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "ok");
  EXPECT_EQ(exchange.sent(),
            "POST /v1/x?y=1 HTTP/1.1\r\nHost: 10.0.0.1:8000\r\nConnection: close\r\nAccept: */*\r\nAuthorization: Bearer s\r\nContent-Length: 2\r\n\r\n{}");
}

TEST(HttpRequestTest, Values_cannot_break_the_framing) {
  for (const auto& bad : std::vector<std::string>{"a\r\nX: y", "a\nb", std::string("a\0b", 3)}) {
    Exchange exchange("");
    HttpRequest request;
    request.fields = {{"Authorization", bad}};
    const auto answer = exchange.run(request);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().fault, HttpFault::malformed);
    EXPECT_EQ(exchange.sent(), "") << "nothing is sent";
  }
}

TEST(HttpAnswerTest, Longer_than_allowed_is_cut_and_marked) {
  Exchange exchange("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + std::string(100, 'x'));
  HttpRequest request;
  request.max_body = 10;
  const auto answer = exchange.run(request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, std::string(10, 'x'));
  EXPECT_TRUE(answer->truncated);
}

TEST(HttpAnswerTest, Streams_piece_by_piece_to_a_body_handler) {
  Exchange exchange("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\ndata1\n\r\n6\r\ndata2\n\r\n", false);
  HttpHandlers handlers;
  int status = 0;
  std::string seen;
  handlers.head = [&](int code, const HttpFields&) { status = code; };
  handlers.body = [&](std::string_view piece) {
    seen.append(piece);
    return seen.find("data2") == std::string::npos;  // enough, though the stream goes on
  };
  const auto answer = exchange.run({}, std::move(handlers));
  ASSERT_TRUE(answer);
  EXPECT_EQ(status, 200);
  EXPECT_EQ(seen, "data1\ndata2\n");
  EXPECT_EQ(answer->body, "");
}

TEST(HttpFailureTest, Closed_without_an_answer_is_told_from_a_broken_one) {
  auto failure = Exchange("").run({});
  ASSERT_FALSE(failure);
  EXPECT_EQ(failure.error().fault, HttpFault::closed);
  EXPECT_FALSE(failure.error().any_bytes);
  failure = Exchange("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf").run({});
  ASSERT_FALSE(failure);
  EXPECT_EQ(failure.error().fault, HttpFault::closed);
  EXPECT_TRUE(failure.error().any_bytes);
}

TEST(HttpFailureTest, What_is_no_HTTP_is_malformed) {
  const auto failure = Exchange("SSH-2.0-OpenSSH\r\n").run({});
  ASSERT_FALSE(failure);
  EXPECT_EQ(failure.error().fault, HttpFault::malformed);
}

TEST(HttpFailureTest, Silence_ends_at_the_deadline) {
  HttpRequest request;
  request.timeout = Millis(1);
  const auto failure = Exchange("", false).run(request);
  ASSERT_FALSE(failure);
  EXPECT_EQ(failure.error().fault, HttpFault::timeout);
}

TEST(HttpHandleTest, Destroying_it_ends_the_exchange_and_closes_the_connection) {
  Exchange exchange("", false);
  HttpHandlers handlers;
  handlers.done = [](const Answer&) { ADD_FAILURE() << "answered after its end"; };
  auto handle = http_request(exchange.loop, std::move(exchange.connection), {}, std::move(handlers));
  handle.reset();
  char byte = 0;
  EXPECT_EQ(::recv(exchange.peer.get(), &byte, 1, 0), 0);
  exchange.loop.post([&] { exchange.loop.stop(); });
  exchange.loop.run();
}

}  // namespace
}  // namespace sskj::net
