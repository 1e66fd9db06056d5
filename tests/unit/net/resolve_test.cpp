#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "sskj/net/connect.hpp"

namespace sskj::net {
namespace {

using Addresses = std::vector<std::string>;

TEST(AddressTest, Numeric_addresses_are_told_from_names) {
  for (const char* address : {"10.0.0.1", "::1", "fe80::1", "2001:db8::2"}) {
    EXPECT_TRUE(is_numeric_address(address)) << address;
  }
  for (const char* name : {"node1", "10.0.0", "10.0.0.256", "", "1.2.3.4.5", "localhost"}) {
    EXPECT_FALSE(is_numeric_address(name)) << name;
  }
  EXPECT_EQ(canonical_address("2001:DB8:0:0::1"), "2001:db8::1");
}

TEST(AddressTest, Own_addresses_hold_the_loopback_one_and_not_all_of_its_net) {
  const auto own = own_addresses();
  EXPECT_NE(std::find(own.begin(), own.end(), "127.0.0.1"), own.end());
  EXPECT_EQ(std::find(own.begin(), own.end(), "127.0.9.9"), own.end());
}

TEST(ParseTest, Getent_lines_become_addresses_once_each) {
  EXPECT_EQ(parse_getent("10.1.2.3       STREAM node1\n10.1.2.3       DGRAM\nfe80::1 STREAM\nrubbish STREAM\n"), (Addresses{"10.1.2.3", "fe80::1"}));
  EXPECT_EQ(parse_getent(""), Addresses{});
}

TEST(ParseTest, Hosts_file_is_searched_by_any_of_its_names) {
  const std::string hosts = "127.0.0.1 localhost\n# 10.0.0.9 node1\n10.0.0.1\tnode1 Node1.rack # first\r\n10.0.0.2 node2\n10.0.0.3 node1\n";
  EXPECT_EQ(parse_hosts(hosts, "node1"), (Addresses{"10.0.0.1", "10.0.0.3"}));
  EXPECT_EQ(parse_hosts(hosts, "NODE1.RACK"), Addresses{"10.0.0.1"});
  EXPECT_EQ(parse_hosts(hosts, "first"), Addresses{});
}

Result<Addresses> ask(const std::string& name) {
  Loop loop;
  std::optional<Result<Addresses>> answer;
  const auto handle = resolve(loop, name, Millis(30'000), [&](Result<Addresses> addresses) {
    answer = std::move(addresses);
    loop.stop();
  });
  loop.run();
  return *answer;
}

TEST(ResolveTest, Numeric_and_localhost_need_nobody) {
  EXPECT_EQ(*ask("10.9.8.7"), Addresses{"10.9.8.7"});
  EXPECT_EQ(*ask("localhost"), (Addresses{"127.0.0.1", "::1"}));
}

TEST(ResolveTest, Unknown_name_is_unreachable_and_an_option_is_a_name) {
  for (const char* name : {"no-such-host.invalid", "--help"}) {
    const auto answer = ask(name);
    ASSERT_FALSE(answer) << name;
    EXPECT_EQ(answer.error().code, Errc::unreachable);
  }
}

struct Listener {
  explicit Listener(bool listening) : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length);
    port = ntohs(address.sin_port);
    if (listening) {
      ::listen(fd.get(), 4);
    }
  }
  Fd fd;
  std::uint16_t port = 0;
};

tl::expected<Fd, ConnectError> connect(const Addresses& addresses, std::uint16_t port) {
  Loop loop;
  std::optional<tl::expected<Fd, ConnectError>> answer;
  const auto handle = connect_tcp(loop, addresses, port, Millis(30'000), [&](tl::expected<Fd, ConnectError> result) {
    answer = std::move(result);
    loop.stop();
  });
  loop.run();
  return std::move(*answer);
}

TEST(ConnectTest, Takes_the_first_address_that_answers) {
  const Listener listener(true);
  const auto connected = connect({"::1", "127.0.0.1"}, listener.port);
  ASSERT_TRUE(connected);
  int nodelay = 0;
  socklen_t length = sizeof nodelay;
  ::getsockopt(connected->get(), IPPROTO_TCP, 1, &nodelay, &length);
  EXPECT_NE(nodelay, 0);
}

TEST(ConnectTest, Refused_is_told) {
  const Listener bound(false);
  const auto refused = connect({"127.0.0.1"}, bound.port);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error, ECONNREFUSED);
  EXPECT_EQ(refused.error().message, "connection refused");
}

TEST(ConnectTest, No_address_is_an_error) { EXPECT_FALSE(connect({}, 22)); }

}  // namespace
}  // namespace sskj::net
