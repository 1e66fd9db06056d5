// Keys, certificates, agents, sudo and accounts; over libssh2 against a real sshd.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "connections.hpp"

namespace sskj::test {
namespace {

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

// Accounts -----------------------------------------------------------------------------------------------------------------------------------------

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

}  // namespace
}  // namespace sskj::test
