// What a node answers: closed, silent and foreign ports, stopped sshd, forbidden forwarding; and a node that is this machine.
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>

#include <thread>

#include "connections.hpp"

namespace sskj::test {
namespace {

// Ports and phases ---------------------------------------------------------------------------------------------------------------------------------

TEST_F(Connections, Closed_port_is_unreachable) {
  auto node = world.node(world.sshd());
  node.ssh.port = free_port();
  expect_not_run(run(node, world.options()), Errc::unreachable, {"connection refused", "phase tcp"});
}

TEST_F(Connections, Port_that_accepts_and_stays_silent_times_out_in_the_phase_banner) {
  const auto silent = listener();
  auto node = world.node(world.sshd());
  node.ssh.port = silent.second;
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

// Forwarding ---------------------------------------------------------------------------------------------------------------------------------------

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
