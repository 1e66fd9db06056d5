// What every transport must do alike: local, libssh2 and the system's ssh, against real processes and a real sshd.
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>

#include <fstream>
#include <thread>

#include "sskj/ssh/bootstrap.hpp"
#include "world.hpp"

namespace sskj::test {
namespace {

class TransportContract : public ::testing::TestWithParam<ssh::Way> {
 protected:
  static void SetUpTestSuite() { world = std::make_unique<World>(); server = &world->sshd(); }
  static void TearDownTestSuite() { world.reset(); }

  void SetUp() override {
    node = world->node(*server);
    auto options = world->options();
    options.way = GetParam();
    if (GetParam() == ssh::Way::local) {
      node.ssh = {};
      node.ssh.host = "localhost";
    }
    transport = ssh::make_transport(loop, options);
  }

  Ran run(const std::string& script, const std::string& input = {}) { return exec(loop, *transport, node, {script, input}); }

  static inline std::unique_ptr<World> world;
  static inline Sshd* server = nullptr;
  net::Loop loop;
  plan::Node node;
  std::unique_ptr<run::Transport> transport;
};

TEST_P(TransportContract, Runs_a_script_and_tells_its_streams_apart) {
  const auto ran = run("echo out; echo err >&2");
  EXPECT_EQ(ran.status(), 0) << describe(ran.outcome);
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.err, "err\n");
}

TEST_P(TransportContract, Passes_every_kind_of_exit_status) {
  for (const int status : {0, 1, 42, 126, 127, 255}) {
    EXPECT_EQ(run("exit " + std::to_string(status)).status(), status);
  }
  EXPECT_EQ(run("kill -9 $$").status(), 128 + SIGKILL);
  EXPECT_EQ(run("kill -15 $$").status(), 128 + SIGTERM);
}

TEST_P(TransportContract, Sets_the_variables_and_locale_of_the_run) {
  EXPECT_EQ(run("printf '%s|' \"$SSKJ_RUN\" \"$SSKJ_PLAN\" \"$SSKJ_SINCE\" \"$LC_ALL\"").out, "run-1|digest-1|2026-01-02T03:04:05Z|C|");
}

TEST_P(TransportContract, Values_never_become_shell_text) {
  Call call{"printf '%s' \"$SSKJ_RUN\"", {}};
  call.vars.run = "a'b\"c $(touch /tmp/sskj-never) `id` ;|&";
  EXPECT_EQ(exec(loop, *transport, node, call).out, call.vars.run);
}

TEST_P(TransportContract, Script_without_input_reads_an_empty_stdin) {
  const auto ran = run("cat; echo end");
  EXPECT_EQ(ran.out, "end\n");
  EXPECT_EQ(ran.status(), 0);
}

TEST_P(TransportContract, Script_gets_exactly_its_input) {
  std::string input;
  for (int i = 0; i < 70'000; ++i) {
    input += static_cast<char>(i % 256);
  }
  const auto ran = run("cat", input);
  EXPECT_EQ(ran.status(), 0) << describe(ran.outcome);
  EXPECT_EQ(ran.out, input);
}

TEST_P(TransportContract, Script_may_leave_its_input_unread) {
  const auto ran = run("head -c 3", std::string(5'000'000, 'x'));
  EXPECT_EQ(ran.status(), 0) << describe(ran.outcome);
  EXPECT_EQ(ran.out, "xxx");
}

TEST_P(TransportContract, Script_of_64_KiB_is_run) {
  std::string script = "X=0\n";
  while (script.size() < ssh::k_max_script - 30) {
    script += "X=$((X+1)) # padding\n";
  }
  const auto lines = std::count(script.begin(), script.end(), '\n') - 1;
  EXPECT_EQ(run(script + "echo $X").out, std::to_string(lines) + "\n");
}

TEST_P(TransportContract, Script_over_64_KiB_is_not_run) {
  EXPECT_TRUE(run("true #" + std::string(ssh::k_max_script, 'x')).is<run::NotRun>());
}

TEST_P(TransportContract, Quotes_newlines_and_UTF8_arrive_unharmed) {
  const std::string text = "a 'b' \"c\" $HOME `x` ; {{ }} \xe4\xbd\xa0\xe5\xa5\xbd\nnext \\ line";
  EXPECT_EQ(run("cat <<'END'\n" + text + "\nEND").out, text + "\n");
}

TEST_P(TransportContract, Six_megabytes_on_stderr_do_not_block) {
  const auto ran = run("head -c 6000000 /dev/zero >&2; echo done");
  EXPECT_EQ(ran.err_bytes, 6'000'000U);
  EXPECT_EQ(ran.out, "done\n");
  EXPECT_EQ(ran.status(), 0) << describe(ran.outcome);
}

TEST_P(TransportContract, Three_megabytes_on_both_streams_at_once) {
  const auto ran = run("head -c 3000000 /dev/zero >&2 & head -c 3000000 /dev/zero; wait");
  EXPECT_EQ(ran.out_bytes, 3'000'000U);
  EXPECT_EQ(ran.err_bytes, 3'000'000U);
}

TEST_P(TransportContract, Bytes_like_a_trailer_are_output_unless_they_hold_the_key) {
  const auto ran = run("printf '\\036sskj:0123456789abcdef7)' >&2; exit 3");
  EXPECT_EQ(ran.err, "\x1esskj:0123456789abcdef7)");
  EXPECT_EQ(ran.status(), 3);
}

TEST_P(TransportContract, Deadline_stops_the_remote_processes) {
  Call call{"echo $$; sleep 1000 & echo $!; wait", {}, run::Millis(700)};
  const auto ran = exec(loop, *transport, node, call);
  ASSERT_TRUE(ran.is<run::TimedOut>()) << describe(ran.outcome);
  EXPECT_EQ(ran.error().code, Errc::timeout);
  EXPECT_NE(ran.error().message.find("phase run"), std::string::npos);
  std::istringstream pids(ran.out);
  for (pid_t pid = 0; pids >> pid;) {
    EXPECT_TRUE(wait_until([pid] { return !process_exists(pid); })) << pid;
  }
}

TEST_P(TransportContract, Cancel_stops_the_remote_processes_even_those_that_ignore_TERM) {
  run::ExecRequest request;
  request.node = &node;
  request.script = "trap '' TERM; echo $$; sleep 1000 & echo $!; echo ready; while :; do sleep 1000; done";
  std::string out;
  bool done = false;
  run::Outcome outcome = run::Lost{};
  run::ExecHandlers handlers;
  handlers.output = [&](run::Stream, std::string_view bytes) { out.append(bytes); };
  handlers.done = [&](run::Outcome o) {
    outcome = std::move(o);
    done = true;
  };
  const auto id = transport->exec(request, std::move(handlers));
  ASSERT_TRUE(run_until(loop, [&] { return out.find("ready") != std::string::npos; }));
  transport->cancel(id);
  EXPECT_FALSE(done) << "not from inside the call";
  ASSERT_TRUE(run_until(loop, [&] { return done; }));
  EXPECT_TRUE(std::holds_alternative<run::Cancelled>(outcome)) << describe(outcome);
  std::istringstream pids(out);
  for (pid_t pid = 0; pids >> pid;) {
    EXPECT_TRUE(wait_until([pid] { return !process_exists(pid); })) << pid;
  }
}

TEST_P(TransportContract, Destroying_the_transport_stops_the_remote_processes) {
  run::ExecRequest request;
  request.node = &node;
  request.script = "echo $$; exec sleep 1000";
  std::string out;
  run::ExecHandlers handlers;
  handlers.output = [&](run::Stream, std::string_view bytes) { out.append(bytes); };
  handlers.done = [&](const run::Outcome&) { ADD_FAILURE() << "answered after its end"; };
  transport->exec(request, std::move(handlers));
  ASSERT_TRUE(run_until(loop, [&] { return out.find('\n') != std::string::npos; }));
  transport.reset();
  const pid_t pid = std::stoi(out);
  EXPECT_TRUE(wait_until([pid] { return !process_exists(pid); }));
}

TEST_P(TransportContract, Child_that_keeps_the_streams_open_does_not_hold_up_the_result) {
  const auto ran = run("sleep 1000 & echo $!; exit 5");
  EXPECT_EQ(ran.status(), 5) << describe(ran.outcome);
  ::kill(std::stoi(ran.out), SIGKILL);
}

TEST_P(TransportContract, Detached_work_survives) {
  const auto ran = run("setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo $!; exit 0");
  const pid_t pid = std::stoi(ran.out);
  EXPECT_EQ(run("true").status(), 0);
  EXPECT_TRUE(process_exists(pid));
  ::kill(pid, SIGKILL);
}

TEST_P(TransportContract, Many_calls_of_one_node_at_once) {
  std::vector<std::string> outs(20);
  std::vector<std::string> scripts;
  for (int i = 0; i < 20; ++i) {
    scripts.push_back("echo " + std::to_string(i));
  }
  std::size_t done = 0;
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    run::ExecRequest request;
    request.node = &node;
    request.script = scripts[i];
    run::ExecHandlers handlers;
    handlers.output = [&outs, i](run::Stream stream, std::string_view bytes) {
      if (stream == run::Stream::out) {
        outs[i].append(bytes);
      }
    };
    handlers.done = [&](const run::Outcome& outcome) {
      EXPECT_TRUE(std::holds_alternative<run::Exited>(outcome)) << describe(outcome);
      ++done;
    };
    transport->exec(request, std::move(handlers));
  }
  ASSERT_TRUE(run_until(loop, [&] { return done == scripts.size(); }));
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    EXPECT_EQ(outs[i], std::to_string(i) + "\n");
  }
}

TEST_P(TransportContract, Hundred_megabytes_out_without_keeping_them) {
  const auto before = read_file("/proc/self/statm");
  Call call{"head -c 100000000 /dev/zero", {}, run::Millis(60'000), false};
  const auto ran = exec(loop, *transport, node, call);
  EXPECT_EQ(ran.out_bytes, 100'000'000U) << describe(ran.outcome);
  const auto pages = [](const std::string& statm) { return std::stol(statm.substr(statm.find(' ') + 1)); };
  EXPECT_LT((pages(read_file("/proc/self/statm")) - pages(before)) * 4, 32 * 1024) << "KiB more resident than before";
}

TEST_P(TransportContract, Hundred_megabytes_in_with_back_pressure) {
  const std::string input(100'000'000, 'z');
  Call call{"sleep 1; wc -c", input, run::Millis(60'000)};
  const auto ran = exec(loop, *transport, node, call);
  EXPECT_EQ(ran.out, "100000000\n") << describe(ran.outcome);
}

// HTTP ---------------------------------------------------------------------------------------------------------------------------------------------

class HttpContract : public TransportContract {
 protected:
  void SetUp() override {
    TransportContract::SetUp();
    http_server.Get("/health", [](const httplib::Request&, httplib::Response& response) { response.status = 200; });
    http_server.Get("/bearer", [](const httplib::Request& request, httplib::Response& response) { response.set_content(request.get_header_value("Authorization"), "text/plain"); });
    http_server.Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content(request.get_header_value("Content-Type") + "|" + request.body, "text/plain");
    });
    http_server.Get("/big", [](const httplib::Request&, httplib::Response& response) { response.set_content(std::string(3'000'000, 'b'), "text/plain"); });
    http_server.Get("/chunked", [](const httplib::Request&, httplib::Response& response) {
      response.set_chunked_content_provider("text/plain", [n = 0](std::size_t, httplib::DataSink& sink) mutable {
        const std::string piece = "piece" + std::to_string(n) + ";";
        sink.write(piece.data(), piece.size());
        if (++n == 3) {
          sink.done();
        }
        return true;
      });
    });
    http_server.Get("/slow", [](const httplib::Request&, httplib::Response& response) {
      std::this_thread::sleep_for(std::chrono::seconds(3));
      response.status = 200;
    });
    port = static_cast<std::uint16_t>(http_server.bind_to_any_port("127.0.0.1"));
    thread = std::thread([this] { http_server.listen_after_bind(); });
    http_server.wait_until_ready();
  }
  void TearDown() override {
    http_server.stop();
    thread.join();
  }

  run::HttpRequest request(const std::string& target) {
    run::HttpRequest r;
    r.node = &node;
    r.port = port;
    r.target = target;
    return r;
  }
  run::HttpOutcome ask(const run::HttpRequest& r) { return http(loop, *transport, r); }
  run::HttpResponse response(const run::HttpRequest& r) {
    const auto outcome = ask(r);
    const auto* answer = std::get_if<run::HttpResponse>(&outcome);
    EXPECT_NE(answer, nullptr) << describe(outcome);
    return answer == nullptr ? run::HttpResponse{} : *answer;
  }

  httplib::Server http_server;
  std::uint16_t port = 0;
  std::thread thread;
};

TEST_P(HttpContract, Empty_200_is_an_answer) {
  const auto answer = response(request("/health"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "");
}

TEST_P(HttpContract, Status_and_body_of_an_error_come_back) { EXPECT_EQ(response(request("/nowhere")).status, 404); }

TEST_P(HttpContract, Body_is_posted_as_JSON) {
  auto r = request("/echo");
  r.method = "POST";
  r.body = R"({"a":1})";
  EXPECT_EQ(response(r).body, R"(application/json|{"a":1})");
}

TEST_P(HttpContract, Bearer_is_sent) {
  auto r = request("/bearer");
  r.bearer = "s3cret";
  EXPECT_EQ(response(r).body, "Bearer s3cret");
}

TEST_P(HttpContract, Chunked_body_is_put_together) { EXPECT_EQ(response(request("/chunked")).body, "piece0;piece1;piece2;"); }

TEST_P(HttpContract, Long_body_is_cut_and_marked) {
  auto r = request("/big");
  r.max_body = 1000;
  const auto answer = response(r);
  EXPECT_EQ(answer.body.size(), 1000U);
  EXPECT_TRUE(answer.truncated);
  r.max_body = 4'000'000;
  EXPECT_EQ(response(r).body.size(), 3'000'000U);
}

TEST_P(HttpContract, Nothing_listening_is_refused_not_unreachable) {
  auto r = request("/");
  r.port = free_port();
  const auto outcome = ask(r);
  EXPECT_TRUE(std::holds_alternative<run::HttpRefused>(outcome)) << describe(outcome);
}

TEST_P(HttpContract, Slow_answer_times_out) {
  auto r = request("/slow");
  r.timeout = run::Millis(1500);
  const auto outcome = ask(r);
  EXPECT_TRUE(std::holds_alternative<run::TimedOut>(outcome)) << describe(outcome);
}

TEST_P(HttpContract, Cancelled_request_says_so) {
  auto r = request("/slow");
  bool done = false;
  run::HttpOutcome outcome = run::HttpRefused{};
  const auto id = transport->http(r, [&](run::HttpOutcome o) {
    outcome = std::move(o);
    done = true;
  });
  transport->cancel(id);
  ASSERT_TRUE(run_until(loop, [&] { return done; }));
  EXPECT_TRUE(std::holds_alternative<run::Cancelled>(outcome)) << describe(outcome);
}

TEST_P(HttpContract, Requests_go_on_while_a_log_is_followed) {
  run::ExecRequest follow;
  follow.node = &node;
  follow.script = "i=0; while :; do echo line $i; i=$((i+1)); sleep 0.02; done";
  std::string log;
  run::ExecHandlers handlers;
  handlers.output = [&](run::Stream, std::string_view bytes) { log.append(bytes); };
  bool ended = false;
  handlers.done = [&](const run::Outcome&) { ended = true; };
  const auto id = transport->exec(follow, std::move(handlers));
  ASSERT_TRUE(run_until(loop, [&] { return !log.empty(); }));
  for (int i = 0; i < 10; ++i) {
    const auto before = log.size();
    EXPECT_EQ(response(request("/health")).status, 200);
    ASSERT_TRUE(run_until(loop, [&] { return log.size() > before; })) << "the log stopped";
  }
  EXPECT_FALSE(ended);
  transport->cancel(id);
  ASSERT_TRUE(run_until(loop, [&] { return ended; }));
}

std::string way_name(const ::testing::TestParamInfo<ssh::Way>& way) {
  return way.param == ssh::Way::local ? "local" : way.param == ssh::Way::ssh2 ? "ssh2" : "openssh";
}
constexpr auto k_ways = {ssh::Way::local, ssh::Way::ssh2, ssh::Way::openssh};
INSTANTIATE_TEST_SUITE_P(Ways, TransportContract, ::testing::ValuesIn(k_ways), way_name);
INSTANTIATE_TEST_SUITE_P(Ways, HttpContract, ::testing::ValuesIn(k_ways), way_name);

}  // namespace
}  // namespace sskj::test
