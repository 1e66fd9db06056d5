// Host keys under each policy: unknown, changed, revoked, hashed, of another type.
#include <gtest/gtest.h>

#include <sstream>

#include "connections.hpp"

namespace sskj::test {
namespace {

class HostKeys : public Connections, public ::testing::WithParamInterface<ssh::HostKeyPolicy> {
 protected:
  ssh::Options policy_options() {
    auto options = world.options();
    options.host_keys = GetParam();
    options.pinned_known_hosts = GetParam() == ssh::HostKeyPolicy::pinned ? world.path("known_hosts") : "";
    return options;
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
    expect_not_run(ran, Errc::host_key, {"not known", fingerprint(server.host_key), "ssh-keyscan -p " + std::to_string(server.port)});
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
                 {"changed", fingerprint(server.host_key), fingerprint(other.host_key), world.path("known_hosts") + ":2", "ssh-keygen -f " + world.path("known_hosts") + " -R"});
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

}  // namespace
}  // namespace sskj::test
