// Issue 2 point 4: keys, agents, jump hosts, aliases, host keys, silent ports, forbidden forwarding, sudo; over libssh2 against a real sshd.
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "sskj/net/fd.hpp"
#include "world.hpp"

namespace sskj::test {
namespace {

class Connections : public ::testing::Test {
 protected:
  Ran run(const plan::Node& node, ssh::Options options, const std::string& script = "echo ok") {
    options.way = ssh::Way::ssh2;
    const auto transport = ssh::make_transport(loop, std::move(options));
    return exec(loop, *transport, node, {script});
  }
  void expect_ok(const Ran& ran) {
    EXPECT_EQ(ran.status(), 0) << describe(ran.outcome);
    EXPECT_EQ(ran.out, "ok\n");
  }
  /// NotRun of a category, with each text in its message or hint.
  void expect_not_run(const Ran& ran, Errc code, const std::vector<std::string>& texts) {
    ASSERT_TRUE(ran.is<run::NotRun>()) << describe(ran.outcome);
    EXPECT_EQ(ran.error().code, code) << describe(ran.outcome);
    for (const auto& text : texts) {
      EXPECT_NE((ran.error().message + " " + ran.error().hint).find(text), std::string::npos) << "no `" << text << "` in: " << describe(ran.outcome);
    }
  }

  net::Loop loop;
  World world;
};

// Keys ---------------------------------------------------------------------------------------------------------------------------------------------

class KeyTypes : public Connections, public ::testing::WithParamInterface<std::string> {};

TEST_P(KeyTypes, User_key_of_each_type_logs_in) { expect_ok(run(world.node(world.sshd(), GetParam()), world.options())); }

TEST_P(KeyTypes, Agent_key_of_each_type_logs_in) {
  auto options = world.options();
  options.environment.agent_socket = world.agent({GetParam()});
  world.config("");
  auto node = world.node(world.sshd(), "");
  write_file(world.path("config"), "Host *\n  UserKnownHostsFile " + world.path("known_hosts") + "\n  IdentityFile " + world.path("none") + "\n");
  expect_ok(run(node, options));
}

TEST_P(KeyTypes, Host_key_of_each_type_is_verified) {
  auto& server = world.sshd("", GetParam());
  world.known_host(server);
  auto options = world.options();
  options.host_keys = ssh::HostKeyPolicy::strict;
  expect_ok(run(world.node(server), options));
}

INSTANTIATE_TEST_SUITE_P(Types, KeyTypes, ::testing::Values("ed25519", "rsa", "ecdsa"), [](const auto& type) { return type.param; });

TEST_F(Connections, Certificate_beside_the_key_logs_in) {
  world.key("ed25519");
  const std::string stranger = world.key("stranger");  // not in authorized_keys: only its certificate counts
  run_tool({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", world.path("ca")});
  run_tool({"ssh-keygen", "-q", "-s", world.path("ca"), "-I", "test", "-n", "root", stranger + ".pub"});
  auto& server = world.sshd("TrustedUserCAKeys " + world.path("ca.pub"));
  expect_ok(run(world.node(server, "stranger"), world.options()));
}

TEST_F(Connections, Encrypted_key_in_an_agent_logs_in) {
  auto node = world.node(world.sshd(), "encrypted");
  auto options = world.options();
  options.environment.agent_socket = world.agent({"encrypted"});
  write_file(world.path("config"), "Host *\n  UserKnownHostsFile " + world.path("known_hosts") + "\n");
  expect_ok(run(node, options));
}

TEST_F(Connections, Encrypted_key_without_an_agent_fails_at_once_and_names_the_command) {
  auto node = world.node(world.sshd(), "encrypted");
  const auto begun = loop.now();
  const auto ran = run(node, world.options());
  expect_not_run(ran, Errc::auth, {"is encrypted and not in an agent", "ssh-add " + world.path("id_encrypted"), "ssh-copy-id -i"});
  EXPECT_LT(loop.now() - begun, net::Millis(5000));
}

TEST_F(Connections, Key_the_node_does_not_know_is_an_auth_error_with_ssh_copy_id) {
  auto& server = world.sshd();
  expect_not_run(run(world.node(server, "stranger"), world.options()), Errc::auth, {"refused the login", "ssh-copy-id -i " + world.path("id_stranger.pub"), std::to_string(server.port)});
}

TEST_F(Connections, Password_only_server_is_an_auth_error) {
  auto& server = world.sshd("PubkeyAuthentication no\nPasswordAuthentication yes");
  expect_not_run(run(world.node(server), world.options()), Errc::auth, {"refused the login"});
}

TEST_F(Connections, Seven_agent_keys_do_not_use_up_the_attempts_of_the_right_one) {
  auto node = world.node(world.sshd(), "rsa");
  std::vector<std::string> keys;
  for (int i = 0; i < 6; ++i) {
    run_tool({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", world.path("id_extra" + std::to_string(i))});
    keys.push_back("extra" + std::to_string(i));
  }
  keys.push_back("rsa");
  auto options = world.options();
  options.environment.agent_socket = world.agent(keys);
  write_file(world.path("config"), "Host *\n  UserKnownHostsFile " + world.path("known_hosts") + "\n");
  expect_ok(run(node, options));
}

TEST_F(Connections, Too_many_agent_keys_say_so) {
  world.key("ed25519");
  auto node = world.node(world.sshd("MaxAuthTries 3"), "");
  std::vector<std::string> keys;
  for (int i = 0; i < 5; ++i) {
    run_tool({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", world.path("id_extra" + std::to_string(i))});
    keys.push_back("extra" + std::to_string(i));
  }
  auto options = world.options();
  options.environment.agent_socket = world.agent(keys);
  write_file(world.path("config"), "Host *\n  UserKnownHostsFile " + world.path("known_hosts") + "\n");
  expect_not_run(run(node, options), Errc::auth, {"MaxAuthTries", "IdentitiesOnly"});
}

TEST_F(Connections, IdentitiesOnly_keeps_other_agent_keys_back) {
  world.key("ed25519");
  auto& server = world.sshd();
  auto options = world.options();
  options.environment.agent_socket = world.agent({"ed25519"});
  write_file(world.path("config"), "Host *\n  IdentitiesOnly yes\n  IdentityFile " + world.key("stranger") + "\n  UserKnownHostsFile " + world.path("known_hosts") + "\n");
  expect_not_run(run(world.node(server, ""), options), Errc::auth, {"id_stranger"});
}

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

// Host keys ----------------------------------------------------------------------------------------------------------------------------------------

class HostKeys : public Connections, public ::testing::WithParamInterface<ssh::HostKeyPolicy> {
 protected:
  ssh::Options policy_options() {
    auto options = world.options();
    options.host_keys = GetParam();
    options.pinned_known_hosts = GetParam() == ssh::HostKeyPolicy::pinned ? world.path("known_hosts") : "";
    return options;
  }
  std::string fingerprint(const Sshd& server) {
    const std::string line = run_tool({"ssh-keygen", "-lf", server.host_key + ".pub"});
    const auto begin = line.find("SHA256:");
    return line.substr(begin, line.find(' ', begin) - begin);
  }
};

TEST_P(HostKeys, Unknown_key) {
  auto& server = world.sshd();
  const auto ran = run(world.node(server), policy_options());
  const std::string known = read_file(world.path("known_hosts"));
  if (GetParam() == ssh::HostKeyPolicy::accept_new) {
    expect_ok(ran);
    EXPECT_EQ(known.find("[127.0.0.1]:" + std::to_string(server.port) + " ssh-ed25519 "), 0U) << known;
    expect_ok(run(world.node(server), policy_options()));
    EXPECT_EQ(read_file(world.path("known_hosts")), known) << "added once";
  } else {
    expect_not_run(ran, Errc::host_key, {"not known", fingerprint(server), "ssh-keyscan -p " + std::to_string(server.port)});
    EXPECT_EQ(known, "");
  }
}

TEST_P(HostKeys, Changed_key_is_refused_with_file_and_line) {
  auto& server = world.sshd();
  auto& other = world.sshd();
  write_file(world.path("known_hosts"), "# comment\n");
  std::istringstream key(read_file(other.host_key + ".pub"));
  std::string type, blob;
  key >> type >> blob;
  write_file(world.path("known_hosts"), "# comment\n[127.0.0.1]:" + std::to_string(server.port) + " " + type + " " + blob + "\n");
  expect_not_run(run(world.node(server), policy_options()), Errc::host_key,
                 {"changed", fingerprint(server), fingerprint(other), world.path("known_hosts") + ":2", "ssh-keygen -f " + world.path("known_hosts") + " -R"});
}

TEST_P(HostKeys, Revoked_key_is_refused_though_another_line_has_it) {
  auto& server = world.sshd();
  world.known_host(server);
  const std::string line = read_file(world.path("known_hosts"));
  write_file(world.path("known_hosts"), line + "@revoked * " + line.substr(line.find(' ') + 1));
  expect_not_run(run(world.node(server), policy_options()), Errc::host_key, {"revoked", world.path("known_hosts") + ":2"});
}

TEST_P(HostKeys, Known_key_is_taken_also_hashed) {
  auto& server = world.sshd();
  world.known_host(server);
  run_tool({"ssh-keygen", "-q", "-H", "-f", world.path("known_hosts")});
  EXPECT_EQ(read_file(world.path("known_hosts")).find("|1|"), 0U);
  expect_ok(run(world.node(server), policy_options()));
}

TEST_P(HostKeys, Name_known_by_another_type_of_key_is_not_taken_for_new) {
  auto& server = world.sshd("", "ed25519");
  auto& other = world.sshd("", "rsa");
  std::istringstream key(read_file(other.host_key + ".pub"));
  std::string type, blob;
  key >> type >> blob;
  write_file(world.path("known_hosts"), "[127.0.0.1]:" + std::to_string(server.port) + " " + type + " " + blob + "\n");
  expect_not_run(run(world.node(server), policy_options()), Errc::host_key, {"but is known by RSA"});
}

INSTANTIATE_TEST_SUITE_P(Policies, HostKeys, ::testing::Values(ssh::HostKeyPolicy::strict, ssh::HostKeyPolicy::accept_new, ssh::HostKeyPolicy::pinned),
                         [](const auto& policy) { return policy.param == ssh::HostKeyPolicy::strict ? "strict" : policy.param == ssh::HostKeyPolicy::pinned ? "pinned" : "accept_new"; });

TEST_F(Connections, StrictHostKeyChecking_of_ssh_config_decides_when_no_flag_does) {
  auto& server = world.sshd();
  auto options = world.options();
  options.host_keys.reset();
  expect_not_run(run(world.node(server), options), Errc::host_key, {"not known"});  // the default is ask, and nobody can be asked
  world.config("Host *\n  StrictHostKeyChecking accept-new\n");
  expect_ok(run(world.node(server), options));
}

TEST_F(Connections, Key_type_that_is_known_is_asked_for_first) {
  run_tool({"ssh-keygen", "-q", "-t", "rsa", "-N", "", "-f", world.path("second_host_key")});
  auto& server = world.sshd("HostKey " + world.path("second_host_key"));  // offers RSA and ed25519; ed25519 is the usual choice
  std::istringstream key(read_file(world.path("second_host_key.pub")));
  std::string type, blob;
  key >> type >> blob;
  write_file(world.path("known_hosts"), "[127.0.0.1]:" + std::to_string(server.port) + " " + type + " " + blob + "\n");
  auto options = world.options();
  options.host_keys = ssh::HostKeyPolicy::strict;
  expect_ok(run(world.node(server), options));
}

// Ports and phases ---------------------------------------------------------------------------------------------------------------------------------

TEST_F(Connections, Closed_port_is_unreachable) {
  auto node = world.node(world.sshd());
  node.ssh.port = free_port();
  expect_not_run(run(node, world.options()), Errc::unreachable, {"connection refused", "phase tcp"});
}

TEST_F(Connections, Port_that_accepts_and_stays_silent_times_out_in_the_phase_banner) {
  const net::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length);
  auto node = world.node(world.sshd());
  node.ssh.port = ntohs(address.sin_port);
  auto options = world.options();
  options.timeouts.handshake = run::Millis(400);
  expect_not_run(run(node, options), Errc::timeout, {"phase banner", "sends no SSH banner"});
  options.timeouts.handshake = run::Millis(30'000);
  options.way = ssh::Way::ssh2;
  const auto transport = ssh::make_transport(loop, options);
  const auto ran = exec(loop, *transport, node, {"true", {}, run::Millis(500)});
  expect_not_run(ran, Errc::timeout, {"phase banner"});
}

TEST_F(Connections, Stopped_sshd_times_out_in_a_named_phase) {
  auto& server = world.sshd();
  server.process->signal(SIGSTOP);
  auto options = world.options();
  options.timeouts.handshake = run::Millis(500);
  expect_not_run(run(world.node(server), options), Errc::timeout, {"phase banner"});
  server.process->signal(SIGCONT);
}

TEST_F(Connections, Name_that_does_not_exist_is_unreachable) {
  auto node = world.node(world.sshd());
  node.ssh.host = "no-such-host.invalid";
  expect_not_run(run(node, world.options()), Errc::unreachable, {"no-such-host.invalid has no address"});
}

TEST_F(Connections, Text_before_the_banner_is_skipped) { expect_ok(run(world.node(world.sshd("Banner /etc/hostname")), world.options())); }

TEST_F(Connections, HTTP_server_on_the_port_is_not_retried_for_long) {
  httplib::Server http;
  const int port = http.bind_to_any_port("127.0.0.1");
  std::thread thread([&] { http.listen_after_bind(); });
  auto node = world.node(world.sshd());
  node.ssh.port = static_cast<std::uint16_t>(port);
  const auto ran = run(node, world.options());
  http.stop();
  thread.join();
  ASSERT_TRUE(ran.is<run::NotRun>()) << describe(ran.outcome);
}

// Forwarding, sudo, accounts -----------------------------------------------------------------------------------------------------------------------

TEST_F(Connections, Forbidden_forwarding_names_the_direct_flag_and_direct_works) {
  httplib::Server http_server;
  http_server.Get("/health", [](const httplib::Request&, httplib::Response& response) { response.set_content("fine", "text/plain"); });
  const int port = http_server.bind_to_any_port("127.0.0.1");
  std::thread thread([&] { http_server.listen_after_bind(); });
  const auto node = world.node(world.sshd("AllowTcpForwarding no"));
  run::HttpRequest request;
  request.node = &node;
  request.port = static_cast<std::uint16_t>(port);
  request.target = "/health";
  auto options = world.options();
  for (const auto way : {ssh::Way::ssh2, ssh::Way::openssh}) {
    options.way = way;
    const auto transport = ssh::make_transport(loop, options);
    const auto outcome = http(loop, *transport, request);
    ASSERT_TRUE(std::holds_alternative<run::NotRun>(outcome)) << describe(outcome);
    EXPECT_NE(std::get<run::NotRun>(outcome).error.hint.find("--direct"), std::string::npos) << describe(outcome);
    EXPECT_NE(std::get<run::NotRun>(outcome).error.message.find("AllowTcpForwarding"), std::string::npos) << describe(outcome);
  }
  options.direct_http = true;
  const auto direct = ssh::make_transport(loop, options);
  EXPECT_EQ(describe(http(loop, *direct, request)), "HTTP 200 fine");
  http_server.stop();
  thread.join();
}

/// An account with sudo rights, made for the test and removed after it.
class SudoAccount {
 public:
  SudoAccount(World& world, bool nopasswd) {
    run_tool({"useradd", "-M", "-s", "/bin/sh", "-p", "x", k_name});
    if (nopasswd) {
      write_file(k_rules, std::string(k_name) + " ALL=(ALL) NOPASSWD: ALL\n", 0440);
    } else {
      write_file(k_rules, std::string(k_name) + " ALL=(ALL) ALL\n", 0440);
    }
    ::chmod(world.path("").c_str(), 0755);
    ::chmod(world.path("authorized_keys").c_str(), 0644);
  }
  ~SudoAccount() {
    ::unlink(k_rules);
    run_tool({"userdel", k_name});
  }
  SudoAccount(const SudoAccount&) = delete;
  SudoAccount& operator=(const SudoAccount&) = delete;
  static constexpr char k_name[] = "sskj-test-user";
  static constexpr char k_rules[] = "/etc/sudoers.d/sskj-test-user";
};

bool can_make_accounts() { return ::getuid() == 0 && ::access("/usr/bin/sudo", X_OK) == 0 && ::access("/etc/sudoers.d", W_OK) == 0; }

TEST_F(Connections, Sudo_runs_the_script_as_root) {
  if (!can_make_accounts()) {
    GTEST_SKIP() << "needs root and sudo to make an account with sudo rights: apt-get install sudo, and run as root";
  }
  auto node = world.node(world.sshd());
  const SudoAccount account(world, true);
  node.ssh.user = SudoAccount::k_name;
  EXPECT_EQ(run(node, world.options(), "id -un").out, std::string(SudoAccount::k_name) + "\n");
  node.ssh.sudo = true;
  EXPECT_EQ(run(node, world.options(), "id -un; echo $SSKJ_RUN").out, "root\nrun-1\n");
  EXPECT_EQ(run(node, world.options(), "exit 7").status(), 7);
}

TEST_F(Connections, Sudo_that_asks_for_a_password_is_not_run_and_says_so) {
  if (!can_make_accounts()) {
    GTEST_SKIP() << "needs root and sudo to make an account with sudo rights: apt-get install sudo, and run as root";
  }
  auto node = world.node(world.sshd());
  const SudoAccount account(world, false);
  node.ssh.user = SudoAccount::k_name;
  node.ssh.sudo = true;
  expect_not_run(run(node, world.options()), Errc::auth, {"sudo -n", "password is required", "NOPASSWD"});
}

TEST_F(Connections, Account_without_a_shell_is_not_run) {
  if (!can_make_accounts()) {
    GTEST_SKIP() << "needs root to make an account: run as root";
  }
  auto node = world.node(world.sshd());
  const SudoAccount account(world, true);
  run_tool({"usermod", "-s", "/usr/sbin/nologin", SudoAccount::k_name});
  node.ssh.user = SudoAccount::k_name;
  expect_not_run(run(node, world.options()), Errc::auth, {"does not run commands", "not available"});
}

// This machine -------------------------------------------------------------------------------------------------------------------------------------

TEST_F(Connections, Node_that_is_this_machine_needs_no_ssh) {
  auto options = world.options();
  const auto transport = ssh::make_transport(loop, options);
  for (const std::string host : {"localhost", "127.0.0.1", "::1"}) {
    plan::Node node;
    node.id = node.ssh.host = host;
    const auto ran = exec(loop, *transport, node, {"tr '\\0' ' ' </proc/$PPID/cmdline | head -c 5; ps -o comm= -p $(ps -o ppid= -p $PPID)"});
    EXPECT_EQ(ran.status(), 0) << host << ": " << describe(ran.outcome);
    EXPECT_EQ(ran.out.find("sshd"), std::string::npos) << ran.out;
  }
}

TEST_F(Connections, Own_address_with_a_port_or_another_account_goes_through_ssh) {
  auto& server = world.sshd();
  auto options = world.options();
  const auto transport = ssh::make_transport(loop, options);
  EXPECT_EQ(exec(loop, *transport, world.node(server), {"echo ok"}).out, "ok\n");
  EXPECT_NE(read_file(server.log).find("Accepted publickey"), std::string::npos);
}

}  // namespace
}  // namespace sskj::test
