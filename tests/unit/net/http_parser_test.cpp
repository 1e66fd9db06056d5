#include "http_parser.hpp"

#include <gtest/gtest.h>

namespace sskj::net {
namespace {

using State = ResponseParser::State;

struct Parsed {
  State state = State::more;
  int status = 0;
  std::string body, error;
  HttpFields fields;
  int heads = 0;
};

/// Feeds `text` in pieces of `step` bytes, then the end of the connection if it is still open for more.
Parsed parse(const std::string& text, std::size_t step, bool head_request = false, std::size_t max_head = 4096) {
  Parsed parsed;
  ResponseParser::Sink sink;
  sink.head = [&](int status, const HttpFields& fields) {
    parsed.status = status;
    parsed.fields = fields;
    ++parsed.heads;
  };
  sink.body = [&](std::string_view piece) {
    parsed.body.append(piece);
    return true;
  };
  ResponseParser parser(sink, max_head, head_request);
  for (std::size_t at = 0; at < text.size() && parsed.state == State::more; at += step) {
    parsed.state = parser.feed(std::string_view(text).substr(at, step));
  }
  if (parsed.state == State::more) {
    parsed.state = parser.finish();
  }
  parsed.error = parser.error();
  return parsed;
}

struct ReadCase {
  std::string name, text;
  int status;
  std::string body;
  bool head_request = false;
};

class Answers : public ::testing::TestWithParam<ReadCase> {};

TEST_P(Answers, Are_read_whatever_the_pieces) {
  const auto& answer = GetParam();
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, std::size_t{7}, answer.text.size()}) {
    const auto parsed = parse(answer.text, step, answer.head_request);
    EXPECT_EQ(parsed.state, State::complete) << "step " << step << " " << parsed.error;
    EXPECT_EQ(parsed.status, answer.status);
    EXPECT_EQ(parsed.body, answer.body);
    EXPECT_EQ(parsed.heads, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Answers,
    ::testing::Values(ReadCase{"content_length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"},
                      ReadCase{"empty", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, ""},
                      ReadCase{"until_close", "HTTP/1.0 200 OK\r\n\r\nall there is", 200, "all there is"},
                      ReadCase{"no_content", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
                      ReadCase{"unavailable", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nno", 503, "no"},
                      ReadCase{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\n\r\n", 200, "hello, world"},
                      ReadCase{"chunked_with_trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-T: 1\r\n\r\n", 200, "a"},
                      ReadCase{"interim_then_final", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx", 201, "x"},
                      ReadCase{"head_request", "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", 200, "", true}),
    [](const auto& answer) { return answer.param.name; });

TEST(ResponseParserFields, Come_in_lower_case_and_order) {
  const auto parsed = parse("HTTP/1.1 200 OK\r\nX-One: 1\r\nCONTENT-length: 0\r\n\r\n", 2);
  const HttpFields expected{{"x-one", "1"}, {"content-length", "0"}};
  EXPECT_EQ(parsed.fields, expected);
}

TEST(ResponseParserErrors, Malformed_answers_are_refused_with_a_reason) {
  for (const std::string text : {"SSH-2.0-OpenSSH_9.2\r\n", "garbage\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
                                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "HTTP/1.1 200 OK\r\nbroken field\r\n\r\n"}) {
    const auto parsed = parse(text, text.size());
    EXPECT_EQ(parsed.state, State::malformed) << text;
    EXPECT_FALSE(parsed.error.empty()) << text;
  }
}

TEST(ResponseParserErrors, Answer_that_breaks_off_wants_more) {
  for (const std::string text : {"HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"}) {
    EXPECT_EQ(parse(text, text.size()).state, State::more) << text;
  }
}

TEST(ResponseParserErrors, Head_is_bounded) {
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\nX: " + std::string(10'000, 'x') + "\r\nContent-Length: 0\r\n\r\n", 1000).state, State::malformed);
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\nX: " + std::string(10'000, 'x'), 1000).state, State::malformed);
}

TEST(ResponseParserStop, Sink_that_has_enough_ends_it) {
  ResponseParser::Sink sink;
  std::string body;
  sink.body = [&](std::string_view piece) {
    body.append(piece);
    return body.find("stop") == std::string::npos;
  };
  ResponseParser parser(sink, 4096, false);
  EXPECT_EQ(parser.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ndata\r\n"), State::more);
  EXPECT_EQ(body, "data");
  EXPECT_EQ(parser.feed("4\r\nstop\r\n4\r\nmore\r\n"), State::enough);
}

}  // namespace
}  // namespace sskj::net
