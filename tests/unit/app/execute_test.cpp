#include "execute.hpp"

#include <gtest/gtest.h>

namespace sskj::app {
namespace {

TEST(SshOptions, As_many_connections_are_made_at_once_as_nodes_are_worked_on) {
  for (const std::size_t fanout : {1U, 64U, 1024U}) {
    Request request;
    request.fanout = fanout;
    EXPECT_EQ(ssh_options(request, {}).handshakes, fanout);
  }
  EXPECT_EQ(ssh_options(Request{}, {}).handshakes_per_gate, 8U) << "one sshd is spared whatever the fan-out (MaxStartups)";
}

TEST(SshOptions, Flags_reach_the_transport) {
  Request request;
  request.ssh = "openssh";
  request.host_keys = "accept-new";
  request.direct = true;
  request.ssh_config = "some/config";
  std::string said;
  const auto options = ssh_options(request, [&](const std::string& note) { said = note; });
  EXPECT_EQ(options.way, ssh::Way::openssh);
  EXPECT_EQ(options.host_keys, ssh::HostKeyPolicy::accept_new);
  EXPECT_TRUE(options.direct_http);
  EXPECT_EQ(options.config_file, "some/config");
  options.warn("there is no ssh program");
  EXPECT_EQ(said, "there is no ssh program");
  request.host_keys = "strict";
  EXPECT_EQ(ssh_options(request, {}).host_keys, ssh::HostKeyPolicy::strict);
  EXPECT_EQ(ssh_options(Request{}, {}).host_keys, std::nullopt) << "ssh_config decides where no flag does";
  EXPECT_EQ(ssh_options(Request{}, {}).way, ssh::Way::automatic);
}

}  // namespace
}  // namespace sskj::app
