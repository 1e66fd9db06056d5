// The way to a node: jump hosts, and what ssh_config and the profile say of it.
#include <gtest/gtest.h>

#include <sstream>

#include "connections.hpp"

namespace sskj::test {
namespace {

// Jump hosts ---------------------------------------------------------------------------------------------------------------------------------------

std::string hop(const Sshd& server) { return "127.0.0.1:" + std::to_string(server.port); }

TEST_F(Connections, One_and_two_jump_hosts) {
  auto& first = world.sshd();
  auto& second = world.sshd();
  auto& target = world.sshd();
  world.config("Host *\n  IdentityFile " + world.key("ed25519") + "\n");
  auto node = world.node(target);
  node.ssh.jump = hop(first);
  expect_ok(run(node, world.options()));
  node.ssh.jump = hop(first) + "," + hop(second);
  expect_ok(run(node, world.options(), "echo ok"));
  EXPECT_NE(read_file(first.log).find("direct-tcpip"), std::string::npos);
  EXPECT_NE(read_file(second.log).find("direct-tcpip"), std::string::npos);
}

TEST_F(Connections, ProxyJump_of_ssh_config_is_used_and_one_connection_serves_all_behind_it) {
  auto& jump = world.sshd();
  world.config("Host bastion\n  HostName 127.0.0.1\n  Port " + std::to_string(jump.port) + "\nHost inner*\n  HostName 127.0.0.1\n  ProxyJump bastion\nHost *\n  IdentityFile " +
               world.key("ed25519") + "\n");
  auto options = world.options();
  options.way = ssh::Way::ssh2;
  const auto transport = ssh::make_transport(loop, options);
  std::vector<plan::Node> nodes;
  for (int i = 0; i < 8; ++i) {
    nodes.push_back(world.node(world.sshd(), ""));
    nodes.back().ssh.host = "inner" + std::to_string(i);
  }
  std::size_t done = 0;
  const std::string script = "head -c 4000000 /dev/zero; exit 9";
  std::vector<std::size_t> bytes(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    run::ExecRequest request;
    request.node = &nodes[i];
    request.script = script;
    run::ExecHandlers handlers;
    handlers.output = [&bytes, i](run::Stream, std::string_view piece) { bytes[i] += piece.size(); };
    handlers.done = [&](const run::Outcome& outcome) {
      EXPECT_EQ(describe(outcome), "Exited 9");
      ++done;
    };
    transport->exec(request, std::move(handlers));
  }
  ASSERT_TRUE(run_until(loop, [&] { return done == nodes.size(); }));
  EXPECT_EQ(bytes, std::vector<std::size_t>(nodes.size(), 4'000'000));
  const std::string log = read_file(jump.log);
  EXPECT_EQ(log.find("Accepted publickey"), log.rfind("Accepted publickey")) << "more than one connection to the jump host";
}

TEST_F(Connections, Unreachable_target_behind_a_jump_host_names_both) {
  auto& jump = world.sshd();
  world.config("Host *\n  IdentityFile " + world.key("ed25519") + "\n");
  plan::Node node = world.node(jump);
  node.ssh.port = free_port();
  node.ssh.jump = hop(jump);
  expect_not_run(run(node, world.options()), Errc::unreachable, {"jump host", std::to_string(node.ssh.port)});
}

TEST_F(Connections, Failing_jump_host_is_named) {
  auto node = world.node(world.sshd());
  node.ssh.jump = "127.0.0.1:" + std::to_string(free_port());
  expect_not_run(run(node, world.options()), Errc::unreachable, {"through the jump host 127.0.0.1", "connection refused"});
}

TEST_F(Connections, Jump_host_loop_is_refused) {
  world.config("Host a\n  ProxyJump b\nHost b\n  ProxyJump a\n");
  plan::Node node;
  node.id = "a";
  node.ssh.host = "a";
  expect_not_run(run(node, world.options()), Errc::usage, {"loop", "ProxyJump"});
}

// ssh_config ---------------------------------------------------------------------------------------------------------------------------------------

TEST_F(Connections, Alias_with_HostName_User_Port_and_IdentityFile) {
  auto& server = world.sshd();
  world.config("Host gpu-rack\n  HostName 127.0.0.1\n  User root\n  Port " + std::to_string(server.port) + "\n  IdentityFile " + world.key("ecdsa") + "\n");
  plan::Node node;
  node.id = "gpu-rack";
  node.ssh.host = "gpu-rack";
  expect_ok(run(node, world.options()));
  EXPECT_NE(read_file(world.path("known_hosts")).find("[127.0.0.1]:" + std::to_string(server.port)), std::string::npos) << "known by the resolved name, as OpenSSH does";
}

TEST_F(Connections, Profile_fields_win_over_ssh_config) {
  auto& server = world.sshd();
  world.config("Host *\n  Port 1\n  User nobody\n  IdentityFile " + world.key("stranger") + "\n");
  auto node = world.node(server, "ed25519");
  node.ssh.user = "root";
  expect_ok(run(node, world.options()));
}

TEST_F(Connections, HostKeyAlias_is_looked_up) {
  auto& server = world.sshd();
  std::istringstream key(read_file(server.host_key + ".pub"));
  std::string type, blob;
  key >> type >> blob;
  write_file(world.path("known_hosts"), "rack-7 " + type + " " + blob + "\n");
  world.config("Host *\n  HostKeyAlias rack-7\n");
  auto options = world.options();
  options.host_keys = ssh::HostKeyPolicy::strict;
  expect_ok(run(world.node(server), options));
}

TEST_F(Connections, Broken_ssh_config_is_a_usage_error_with_its_line) {
  world.config("Hostt *\n");
  expect_not_run(run(world.node(world.sshd()), world.options()), Errc::usage, {"line 1", "hostt"});
}

TEST_F(Connections, Host_that_looks_like_an_option_is_refused) {
  plan::Node node;
  node.id = node.ssh.host = "-oProxyCommand=touch /tmp/sskj-never";
  expect_not_run(run(node, world.options()), Errc::usage, {"no host name"});
}

TEST_F(Connections, ProxyCommand_goes_through_the_system_ssh_by_itself) {
  auto& server = world.sshd();
  world.config("Host proxied\n  HostName 127.0.0.1\n  Port " + std::to_string(server.port) + "\n  IdentityFile " + world.key("ed25519") +
               "\n  ProxyCommand bash -c 'exec 3<>/dev/tcp/%h/%p; cat <&3 & cat >&3'\n");
  plan::Node node;
  node.id = node.ssh.host = "proxied";
  expect_not_run(run(node, world.options()), Errc::usage, {"ProxyCommand", "--ssh=openssh"});
  auto options = world.options();
  const auto transport = ssh::make_transport(loop, options);  // automatic
  const auto ran = exec(loop, *transport, node, {"echo ok"});
  EXPECT_EQ(ran.out, "ok\n") << describe(ran.outcome);
}

TEST_F(Connections, Without_an_ssh_program_the_profile_fields_count_and_one_warning_is_given) {
  auto options = world.options();
  options.environment.path = world.path("nowhere");
  int warnings = 0;
  options.warn = [&](const std::string& text) {
    ++warnings;
    EXPECT_NE(text.find("no ssh program"), std::string::npos);
  };
  options.pinned_known_hosts = world.path("known_hosts");
  auto node = world.node(world.sshd());
  node.ssh.user = "root";
  options.way = ssh::Way::ssh2;
  const auto transport = ssh::make_transport(loop, options);
  expect_ok(exec(loop, *transport, node, {"echo ok"}));
  auto second = node;
  second.ssh.host = "localhost";
  expect_ok(exec(loop, *transport, second, {"echo ok"}));
  EXPECT_EQ(warnings, 1);
}

}  // namespace
}  // namespace sskj::test
