// What breaks in the field: limits, timeouts and deaths of the server, the script and the connection; over libssh2 (reference libssh2 section 14).
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>
#include <sys/socket.h>

#include <thread>

#include "world.hpp"

namespace sskj::test {
namespace {

class Resilience : public ::testing::Test {
 protected:
  std::unique_ptr<run::Transport> transport(ssh::Options options) {
    options.way = ssh::Way::ssh2;
    return ssh::make_transport(loop, std::move(options));
  }
  struct Started {
    std::string out;
    bool done = false;
    run::Outcome outcome = run::Cancelled{};
    run::CallId id = 0;
  };
  std::shared_ptr<Started> start(run::Transport& over, const plan::Node& node, const std::string& script, std::string_view input = {}) {
    auto started = std::make_shared<Started>();
    scripts.push_back(std::make_unique<std::string>(script));
    run::ExecRequest request;
    request.node = &node;
    request.script = *scripts.back();
    request.input = input;
    run::ExecHandlers handlers;
    handlers.output = [started](run::Stream, std::string_view bytes) { started->out.append(bytes); };
    handlers.done = [started](run::Outcome outcome) {
      started->outcome = std::move(outcome);
      started->done = true;
    };
    started->id = over.exec(request, std::move(handlers));
    return started;
  }

  net::Loop loop;
  World world;
  std::vector<std::unique_ptr<std::string>> scripts;
};

TEST_F(Resilience, MaxSessions_1_queues_further_calls_of_the_node) {
  const auto node = world.node(world.sshd("MaxSessions 1"));
  const auto over = transport(world.options());
  std::vector<std::shared_ptr<Started>> calls;
  for (int i = 0; i < 5; ++i) {
    calls.push_back(start(*over, node, "sleep 0.1; echo " + std::to_string(i)));
  }
  for (int i = 0; i < 5; ++i) {
    const auto& call = calls[static_cast<std::size_t>(i)];
    ASSERT_TRUE(run_until(loop, [&] { return call->done; }));
    EXPECT_EQ(describe(call->outcome), "Exited 0");
    EXPECT_EQ(call->out, std::to_string(i) + "\n");
  }
}

TEST_F(Resilience, MaxSessions_1_leaves_room_for_HTTP_beside_a_followed_log) {
  httplib::Server server;
  server.Get("/health", [](const httplib::Request&, httplib::Response& response) { response.status = 200; });
  const int port = server.bind_to_any_port("127.0.0.1");
  std::thread thread([&] { server.listen_after_bind(); });
  const auto node = world.node(world.sshd("MaxSessions 1"));
  const auto over = transport(world.options());
  const auto follow = start(*over, node, "while :; do echo x; sleep 0.05; done");
  ASSERT_TRUE(run_until(loop, [&] { return !follow->out.empty(); }));
  run::HttpRequest request;
  request.node = &node;
  request.port = static_cast<std::uint16_t>(port);
  request.target = "/health";
  EXPECT_EQ(describe(http(loop, *over, request)), "HTTP 200 ");
  over->cancel(follow->id);
  ASSERT_TRUE(run_until(loop, [&] { return follow->done; }));
  server.stop();
  thread.join();
}

TEST_F(Resilience, MaxSessions_0_is_said) {
  const auto node = world.node(world.sshd("MaxSessions 0"));
  const auto over = transport(world.options());
  const auto ran = exec(loop, *over, node, {"true"});
  ASSERT_TRUE(ran.is<run::NotRun>()) << describe(ran.outcome);
  EXPECT_NE(ran.error().hint.find("MaxSessions"), std::string::npos) << describe(ran.outcome);
}

TEST_F(Resilience, Channel_that_the_server_times_out_is_lost_not_ok) {
  const auto node = world.node(world.sshd("ChannelTimeout session:*=2s"));
  const auto over = transport(world.options());
  const auto ran = exec(loop, *over, node, {"sleep 8; echo never"});
  EXPECT_TRUE(ran.is<run::Lost>()) << describe(ran.outcome);
  EXPECT_EQ(exec(loop, *over, node, {"echo again"}).out, "again\n");
}

TEST_F(Resilience, Rekeying_in_the_middle_of_streams_both_ways) {
  const auto node = world.node(world.sshd("RekeyLimit 256K"));
  const auto over = transport(world.options());
  const std::string input(16'000'000, 'r');
  const auto ran = exec(loop, *over, node, {"cat", input, run::Millis(60'000)});
  EXPECT_EQ(ran.status(), 0) << describe(ran.outcome);
  EXPECT_EQ(ran.out.size(), input.size());
  EXPECT_TRUE(ran.out == input);
}

TEST_F(Resilience, MaxStartups_2_is_met_by_asking_again) {
  auto& server = world.sshd("MaxStartups 2");
  // One sshd under twelve names, so that each node has a connection of its own.
  std::vector<plan::Node> nodes;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "alias" + std::to_string(i);
    world.config("Host " + name + "\n  HostName 127.0.0.1\n  Port " + std::to_string(server.port) + "\n");
    nodes.push_back(world.node(server));
    nodes.back().id = nodes.back().ssh.host = name;
    nodes.back().ssh.port = 0;
  }
  const auto over = transport(world.options());
  std::vector<std::shared_ptr<Started>> calls;
  for (const auto& node : nodes) {
    calls.push_back(start(*over, node, "echo ok"));
  }
  for (const auto& call : calls) {
    ASSERT_TRUE(run_until(loop, [&] { return call->done; }));
    EXPECT_EQ(call->out, "ok\n") << describe(call->outcome);
  }
}

TEST_F(Resilience, Server_that_says_why_and_hangs_up_later_is_asked_again) {
  // An sshd over its MaxStartups writes a line and closes; on a loaded machine the line arrives well before the end.
  const auto door = listener();
  std::vector<net::Fd> turned_away;
  net::Watch watch(loop, door.first.get(), [&](bool, bool) {
    const auto& guest = turned_away.emplace_back(::accept4(door.first.get(), nullptr, nullptr, SOCK_CLOEXEC));
    constexpr std::string_view line = "Exceeded MaxStartups\r\n";
    EXPECT_EQ(::send(guest.get(), line.data(), line.size(), MSG_NOSIGNAL), static_cast<ssize_t>(line.size()));
    loop.after(net::Millis(50), [&, last = turned_away.size() - 1] { turned_away[last].reset(); });
    watch.want(true, false);
  });
  watch.want(true, false);
  Sshd server;
  server.port = door.second;
  const auto node = world.node(server);
  const auto over = transport(world.options());
  const auto call = start(*over, node, "echo never");
  ASSERT_TRUE(run_until(loop, [&] { return call->done || turned_away.size() == 3; }));
  EXPECT_FALSE(call->done) << describe(call->outcome);
}

TEST_F(Resilience, Server_killed_in_the_middle_of_a_stream_is_lost) {
  auto& server = world.sshd();
  const auto node = world.node(server);
  const auto over = transport(world.options());
  const auto call = start(*over, node, "echo $$; exec cat /dev/zero >&2");
  ASSERT_TRUE(run_until(loop, [&] { return call->out.size() > 1'000'000; }));
  for (const pid_t pid : server.sessions()) {
    ::kill(pid, SIGKILL);
  }
  ASSERT_TRUE(run_until(loop, [&] { return call->done; }));
  EXPECT_TRUE(std::holds_alternative<run::Lost>(call->outcome)) << describe(call->outcome);
  const pid_t script = std::stoi(call->out);
  EXPECT_TRUE(wait_until([&] { return !process_exists(script); })) << "the watchdog did not stop the script";
}

TEST_F(Resilience, Session_that_died_unnoticed_is_replaced_without_a_word) {
  auto& server = world.sshd();
  const auto node = world.node(server);
  const auto over = transport(world.options());
  EXPECT_EQ(exec(loop, *over, node, {"echo one"}).out, "one\n");
  for (const pid_t pid : server.sessions()) {
    ::kill(pid, SIGKILL);
  }
  ASSERT_TRUE(wait_until([&] { return server.sessions().empty(); }));
  EXPECT_EQ(exec(loop, *over, node, {"echo two"}).out, "two\n");
}

TEST_F(Resilience, One_connection_serves_all_calls_of_a_node) {
  auto& server = world.sshd();
  const auto node = world.node(server);
  const auto over = transport(world.options());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(exec(loop, *over, node, {"echo x"}).out, "x\n");
  }
  const std::string log = read_file(server.log);
  EXPECT_EQ(log.find("Accepted publickey"), log.rfind("Accepted publickey"));
}

TEST_F(Resilience, Bootstrap_shell_killed_is_lost) {
  const auto node = world.node(world.sshd());
  const auto over = transport(world.options());
  const auto ran = exec(loop, *over, node, {"kill -9 $PPID; sleep 1"});
  EXPECT_TRUE(ran.is<run::Lost>()) << describe(ran.outcome);
  EXPECT_NE(ran.error().message.find("KILL"), std::string::npos) << describe(ran.outcome);
}

TEST_F(Resilience, Connection_cut_in_the_middle_of_the_input_never_gives_the_script_an_end) {
  auto& server = world.sshd();
  const auto node = world.node(server);
  const std::string input(100'000'000, 'i');
  const std::string marker = world.path("finished");
  auto over = transport(world.options());
  const auto call = start(*over, node, "echo $$; cat >/dev/null; touch " + marker, input);
  ASSERT_TRUE(run_until(loop, [&] { return !call->out.empty(); }));
  over.reset();
  const pid_t script = std::stoi(call->out);
  EXPECT_TRUE(wait_until([&] { return !process_exists(script); }));
  EXPECT_EQ(::access(marker.c_str(), F_OK), -1) << "the script took a cut input for a whole one";
}

TEST_F(Resilience, Cancel_before_the_connection_is_there_is_answered_at_once) {
  auto& server = world.sshd();
  server.process->signal(SIGSTOP);
  const auto node = world.node(server);
  const auto over = transport(world.options());
  const auto call = start(*over, node, "echo never");
  bool waited = false;
  loop.after(net::Millis(200), [&] { waited = true; });
  ASSERT_TRUE(run_until(loop, [&] { return waited; }));
  over->cancel(call->id);
  const auto begun = loop.now();
  ASSERT_TRUE(run_until(loop, [&] { return call->done; }));
  EXPECT_TRUE(std::holds_alternative<run::Cancelled>(call->outcome)) << describe(call->outcome);
  EXPECT_LT(loop.now() - begun, net::Millis(1000));
  server.process->signal(SIGCONT);
}

TEST_F(Resilience, Cancel_of_one_call_leaves_the_others_of_the_session) {
  const auto node = world.node(world.sshd());
  const auto over = transport(world.options());
  const auto first = start(*over, node, "while :; do echo a; sleep 0.02; done");
  const auto second = start(*over, node, "while :; do echo b; sleep 0.02; done");
  ASSERT_TRUE(run_until(loop, [&] { return !first->out.empty() && !second->out.empty(); }));
  over->cancel(first->id);
  ASSERT_TRUE(run_until(loop, [&] { return first->done; }));
  const auto before = second->out.size();
  ASSERT_TRUE(run_until(loop, [&] { return second->out.size() > before + 10; }));
  EXPECT_FALSE(second->done);
  over->cancel(second->id);
  ASSERT_TRUE(run_until(loop, [&] { return second->done; }));
}

TEST_F(Resilience, Noise_of_the_login_shell_is_not_output) {
  // A ForceCommand stands for login files that talk: it says something on both streams, then runs what was asked for.
  write_file(world.path("login"), "#!/bin/sh\necho Welcome to rack 7\necho do not feed the GPUs >&2\nexec sh -c \"$SSH_ORIGINAL_COMMAND\"\n", 0755);
  const auto node = world.node(world.sshd("ForceCommand " + world.path("login")));
  const auto over = transport(world.options());
  const auto ran = exec(loop, *over, node, {"echo clean; exit 3"});
  EXPECT_EQ(ran.out, "clean\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.status(), 3) << describe(ran.outcome);
}

TEST_F(Resilience, Forced_command_that_ignores_ours_is_not_run) {
  const auto node = world.node(world.sshd("ForceCommand echo only backups here; exit 1"));
  const auto over = transport(world.options());
  const auto ran = exec(loop, *over, node, {"echo never"});
  ASSERT_TRUE(ran.is<run::NotRun>()) << describe(ran.outcome);
  EXPECT_NE(ran.error().message.find("only backups here"), std::string::npos) << describe(ran.outcome);
}

TEST_F(Resilience, Slow_reader_and_slow_network_lose_nothing) {
  const auto node = world.node(world.sshd());
  const auto over = transport(world.options());
  const std::string input(20'000'000, 's');
  const auto first = exec(loop, *over, node, {"while dd bs=65536 count=16 iflag=fullblock 2>/dev/null | wc -c | grep -vq '^0$'; do sleep 0.01; done; echo end", input, run::Millis(60'000)});
  EXPECT_EQ(first.out, "end\n") << describe(first.outcome);
}

class LoginShells : public Resilience, public ::testing::WithParamInterface<std::string> {};

TEST_P(LoginShells, Bootstrap_works_whatever_the_login_shell) {
  const std::string shell = "/usr/bin/" + GetParam();
  if (::access(shell.c_str(), X_OK) != 0) {
    GTEST_SKIP() << "needs " << GetParam() << ": apt-get install " << GetParam();
  }
  // As sshd does for an account with this shell: SHELL -c COMMAND.
  const auto node = world.node(world.sshd("ForceCommand exec " + shell + " -c \"$SSH_ORIGINAL_COMMAND\""));
  const auto over = transport(world.options());
  EXPECT_EQ(exec(loop, *over, node, {"echo $SSKJ_RUN; exit 4"}).out, "run-1\n");
  EXPECT_EQ(exec(loop, *over, node, {"exit 4"}).status(), 4);
  EXPECT_EQ(exec(loop, *over, node, {"wc -c", "12345"}).out, "5\n");
}

INSTANTIATE_TEST_SUITE_P(Shells, LoginShells, ::testing::Values("sh", "bash", "dash", "zsh", "fish", "tcsh"), [](const auto& shell) { return shell.param; });

}  // namespace
}  // namespace sskj::test
