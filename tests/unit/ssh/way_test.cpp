#include <gtest/gtest.h>

#include "process_backend.hpp"
#include "router.hpp"

namespace sskj::ssh {
namespace {

Options options() {
  Options o;
  o.environment.user = "me";
  return o;
}

Settings to(const std::string& host) {
  Settings s;
  s.host = s.original = host;
  s.user = "me";
  return s;
}

TEST(WayTest, This_machine_by_name_or_own_address_is_local) {
  for (const char* host : {"localhost", "127.0.0.1", "10.0.0.5", "2001:DB8::1"}) {
    EXPECT_EQ(choose_way(options(), to(host), {"127.0.0.1", "10.0.0.5", "2001:db8::1"}).way, Way::local) << host;
  }
  for (const char* host : {"127.0.0.2", "10.0.0.6", "node1"}) {
    EXPECT_EQ(choose_way(options(), to(host), {"127.0.0.1", "10.0.0.5"}).way, Way::ssh2) << host;
  }
}

TEST(WayTest, Port_account_or_jump_host_make_it_a_node_like_others) {
  auto s = to("127.0.0.1");
  s.port = 2222;
  EXPECT_EQ(choose_way(options(), s, {"127.0.0.1"}).way, Way::ssh2);
  s = to("127.0.0.1");
  s.user = "root";
  EXPECT_EQ(choose_way(options(), s, {"127.0.0.1"}).way, Way::ssh2);
  s = to("127.0.0.1");
  s.proxy_jump = "bastion";
  EXPECT_EQ(choose_way(options(), s, {"127.0.0.1"}).way, Way::ssh2);
}

TEST(WayTest, ProxyCommand_needs_the_system_ssh_and_a_flag_wins) {
  auto s = to("node1");
  s.proxy_command = "nc %h %p";
  EXPECT_EQ(choose_way(options(), s, {}).way, Way::openssh);
  auto forced = options();
  forced.way = Way::ssh2;
  EXPECT_EQ(choose_way(forced, s, {}).way, Way::ssh2);
  EXPECT_EQ(choose_way(forced, to("localhost"), {}).way, Way::ssh2);
}

TEST(WayTest, Words_of_the_flag) {
  EXPECT_EQ(parse_way("auto"), Way::automatic);
  EXPECT_EQ(parse_way("openssh"), Way::openssh);
  EXPECT_FALSE(parse_way("telnet"));
}

TEST(OpensshCommand, Never_prompts_and_holds_the_policy) {
  auto o = options();
  o.config_file = "/c";
  o.host_keys = HostKeyPolicy::pinned;
  o.pinned_known_hosts = "/pins";
  const auto argv = openssh_command(o, {"node1", "root", 77, "/key", "a,b", true});
  const auto has = [&](const std::string& word) { return std::find(argv.begin(), argv.end(), word) != argv.end(); };
  for (const char* word : {"BatchMode=yes", "StrictHostKeyChecking=yes", "UserKnownHostsFile=/pins", "GlobalKnownHostsFile=none", "/c", "root", "77", "/key", "a,b"}) {
    EXPECT_TRUE(has(word)) << word;
  }
  o.host_keys = HostKeyPolicy::accept_new;
  EXPECT_NE(std::find(argv.begin(), argv.end(), "-T"), argv.end());
  const auto accepting = openssh_command(o, {"node1", "", 0, "", "", false});
  EXPECT_NE(std::find(accepting.begin(), accepting.end(), "StrictHostKeyChecking=accept-new"), accepting.end());
}

TEST(OpensshErrors, Are_told_apart) {
  EXPECT_EQ(openssh_error("n", "root@n: Permission denied (publickey).\r\n").code, Errc::auth);
  EXPECT_EQ(openssh_error("n", "@@@\nHost key verification failed.\r\n").code, Errc::host_key);
  EXPECT_EQ(openssh_error("n", "ssh: connect to host n port 22: Connection timed out\r\n").code, Errc::timeout);
  EXPECT_EQ(openssh_error("n", "ssh: connect to host n port 22: Connection refused\r\n").code, Errc::unreachable);
  EXPECT_EQ(openssh_error("n", "").code, Errc::unreachable);
  EXPECT_NE(openssh_error("n", "first\r\nlast words\r\n").message.find("last words"), std::string::npos);
}

}  // namespace
}  // namespace sskj::ssh
