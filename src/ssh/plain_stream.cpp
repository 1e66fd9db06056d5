#include <fmt/format.h>

#include <cerrno>

#include "process_backend.hpp"
#include "sskj/net/connect.hpp"

namespace sskj::ssh {

namespace {

class PlainStream : public Stream {
 public:
  PlainStream(net::Loop& loop, const Options& options, std::string label, std::string host, std::uint16_t port, StreamOpened opened)
      : loop_(loop), options_(options), label_(std::move(label)), host_(std::move(host)), port_(port), opened_(std::move(opened)) {
    operation_ = net::resolve(loop_, host_, options_.timeouts.resolve, [this](Result<std::vector<std::string>> addresses) { resolved(std::move(addresses)); });
  }

 private:
  void resolved(Result<std::vector<std::string>> addresses) {
    if (!addresses) {
      opened_(tl::unexpected<run::HttpOutcome>(run::NotRun{addresses.error()}));
      return;
    }
    operation_ = net::connect_tcp(loop_, std::move(*addresses), port_, options_.timeouts.tcp, [this](tl::expected<net::Fd, net::ConnectError> result) { connected(std::move(result)); });
  }

  void connected(tl::expected<net::Fd, net::ConnectError> result) {
    if (result) {
      opened_(std::move(*result));
    } else if (result.error().error == ECONNREFUSED) {
      opened_(tl::unexpected<run::HttpOutcome>(run::HttpRefused{fmt::format("nothing answers at {}:{} ({})", host_, port_, label_)}));
    } else {
      const bool timeout = result.error().error == ETIMEDOUT;
      opened_(tl::unexpected<run::HttpOutcome>(run::NotRun{{timeout ? Errc::timeout : Errc::unreachable,
                                                            fmt::format("no connection to {}:{} ({}): {} (phase tcp)", host_, port_, label_, result.error().message),
                                                            "check that this machine reaches the node's address; without --direct the request goes through SSH"}}));
    }
  }

  net::Loop& loop_;
  const Options& options_;
  std::string label_, host_;
  std::uint16_t port_;
  StreamOpened opened_;
  net::Handle operation_;
};

}  // namespace

std::unique_ptr<Stream> open_plain(net::Loop& loop, const Options& options, const std::string& label, const std::string& host, std::uint16_t port, StreamOpened opened) {
  return std::make_unique<PlainStream>(loop, options, label, host, port, std::move(opened));
}

}  // namespace sskj::ssh
