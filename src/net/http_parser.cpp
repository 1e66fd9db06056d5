#include "http_parser.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cctype>
#include <utility>

namespace sskj::net {

namespace {

namespace http = boost::beast::http;
using boost::beast::string_view;
using ErrorCode = boost::beast::error_code;

constexpr auto k_enough = boost::system::errc::operation_canceled;

std::string_view view(string_view text) { return {text.data(), text.size()}; }

/// Beast's grammar with our sink behind it.
class Parser : public http::basic_parser<false> {
 public:
  explicit Parser(ResponseParser::Sink& sink) : sink_(sink) {}
  int status() const { return status_; }

 private:
  void on_request_impl(http::verb, string_view, string_view, int, ErrorCode&) override {}
  void on_response_impl(int code, string_view, int, ErrorCode&) override { status_ = code; }
  void on_field_impl(http::field, string_view name, string_view value, ErrorCode&) override {
    std::string lower(view(name));
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    fields_.emplace_back(std::move(lower), std::string(view(value)));
  }
  void on_header_impl(ErrorCode&) override {
    if (status_ >= 200 && sink_.head) {
      sink_.head(status_, fields_);
    }
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(string_view body, ErrorCode& error) override { return take(body, error); }
  void on_chunk_header_impl(std::uint64_t, string_view, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, ErrorCode& error) override { return take(body, error); }
  void on_finish_impl(ErrorCode&) override {}

  std::size_t take(string_view body, ErrorCode& error) {
    if (!sink_.body(view(body))) {
      error = boost::system::errc::make_error_code(k_enough);
    }
    return body.size();
  }

  ResponseParser::Sink& sink_;
  HttpFields fields_;
  int status_ = 0;
};

}  // namespace

struct ResponseParser::Impl {
  Sink sink;
  std::size_t max_head;
  bool head_request;
  std::unique_ptr<Parser> parser;
  std::string pending;  ///< bytes Beast could not use yet: an unfinished head or chunk header, bounded by max_head
  std::string error;

  void renew() {
    parser = std::make_unique<Parser>(sink);
    parser->header_limit(static_cast<std::uint32_t>(max_head));
    parser->body_limit(boost::none);
    parser->eager(true);
    parser->skip(head_request);
  }

  State step();
  State malformed(const std::string& why) {
    error = why;
    return State::malformed;
  }
};

ResponseParser::ResponseParser(Sink sink, std::size_t max_head, bool head_request)
    : impl_(std::make_unique<Impl>(Impl{std::move(sink), max_head, head_request, nullptr, {}, {}})) {
  impl_->renew();
}

ResponseParser::~ResponseParser() = default;

const std::string& ResponseParser::error() const { return impl_->error; }

ResponseParser::State ResponseParser::Impl::step() {
  std::size_t used = 0;
  State state = State::more;
  while (used < pending.size()) {
    ErrorCode code;
    const std::size_t took = parser->put(boost::asio::buffer(pending.data() + used, pending.size() - used), code);
    used += took;
    if (code == boost::system::errc::make_error_code(k_enough)) {
      state = State::enough;
      break;
    }
    if (code && code != http::error::need_more) {
      return malformed(code.message());
    }
    if (parser->is_done()) {
      if (parser->status() >= 200) {
        state = State::complete;
        break;
      }
      renew();  // an interim answer (1xx): the real one follows
      continue;
    }
    if (code == http::error::need_more || took == 0) {
      break;
    }
  }
  pending.erase(0, used);
  if (state == State::more && pending.size() > max_head) {
    return malformed("the head is longer than " + std::to_string(max_head) + " bytes");
  }
  return state;
}

ResponseParser::State ResponseParser::feed(std::string_view bytes) {
  impl_->pending.append(bytes);
  return impl_->step();
}

ResponseParser::State ResponseParser::finish() {
  if (!impl_->parser->got_some() || !impl_->parser->is_header_done()) {
    return State::more;
  }
  ErrorCode code;
  impl_->parser->put_eof(code);
  return code || !impl_->parser->is_done() ? State::more : State::complete;
}

}  // namespace sskj::net
