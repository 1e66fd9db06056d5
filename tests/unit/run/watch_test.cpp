// Watches: log lines, fatal lines, exits, lost connections.
#include "unit/run/fixture.hpp"

namespace sskj::test {
namespace {

using run::HostClass;

class WatchTest : public RunTest {
 protected:
  WatchTest() {
    nodes({"n1", "n2"});
    auto& ready = stage("ready", {poll("health", "n1", 30min)});
    ready.watch = {follow("log1", "n1"), follow("log2", "n2")};
    ready.undo = {script("undo", "n2")};
    fake_.on_script("n2", "undo", {reply()});
  }
  void health(std::vector<HttpReply> replies) { fake_.on_http("n1", 30000, "/health", std::move(replies)); }
  std::vector<std::string> phases(std::string_view step) {
    std::vector<std::string> names;
    for (const auto* event : log_.all<run::PhaseReported>()) {
      if (event->phase.step == step) names.push_back(event->phase.name);
    }
    return names;
  }
  std::string watched(std::string_view step) {
    std::string bytes;
    for (const auto* event : log_.all<run::StepOutput>()) {
      if (event->step->id == step && event->watch) bytes += event->bytes;
    }
    return bytes;
  }
};

TEST_F(WatchTest, Starts_before_the_steps_and_ends_with_them) {
  health({refused(), answer(200)});
  fake_.on_script("", "log", {reply().out("init\n").forever()});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_TRUE(before("step log1", "step health"));
  EXPECT_TRUE(before("health ok", "log1 ok"));
  EXPECT_TRUE(before("log2 ok", "stage ready ok"));
  EXPECT_EQ(host("n1"), HostClass::ok);
}

TEST_F(WatchTest, Lines_are_split_on_newline_and_return_and_lose_their_colours) {
  health({refused(), answer(200)});
  fake_.on_script("n1", "log1", {reply().out("\x1b[32mweig").out("hts 1/9\x1b[0m\rweights 2/9\r\n\nkv").forever()});
  fake_.on_script("n2", "log2", {reply().forever()});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_THAT(phases("log1"), ElementsAre("weights 1/9", "weights 2/9"));
  EXPECT_EQ(watched("log1"), "\x1b[32mweights 1/9\x1b[0m\rweights 2/9\r\n\nkv") << "the journal keeps raw bytes";
}

TEST_F(WatchTest, A_fatal_line_fails_the_stage_at_once_and_cancels_the_siblings) {
  health({refused()});
  fake_.on_script("n1", "log1", {reply().forever()});
  fake_.on_script("n2", "log2", {reply().out("weights\n", 3s).out("FATAL: CUDA out of memory\n", 5s).forever()});
  EXPECT_EQ(run_all(), ExitCode::not_ready);
  EXPECT_LE(log_.finished()->elapsed, 6s);
  EXPECT_EQ(status("health"), StepStatus::cancelled);
  EXPECT_EQ(status("log1"), StepStatus::cancelled);
  EXPECT_EQ(status("log2"), StepStatus::failed);
  EXPECT_EQ(error("log2").message, "n2: run log2: expected no fatal line in its log, got out of memory: FATAL: CUDA out of memory");
  EXPECT_EQ(error("log2").hint, "use fewer");
  EXPECT_THAT(log_.result("log2")->last_lines, ElementsAre("weights", "FATAL: CUDA out of memory"));
  EXPECT_THAT(log_.stage("ready")->error->message, HasSubstr("n2: run log2"));
  EXPECT_EQ(host("n2"), HostClass::failed);
  EXPECT_EQ(host("n1"), HostClass::skipped);
  EXPECT_EQ(status("undo"), StepStatus::ok);
}

TEST_F(WatchTest, Its_exit_fails_the_stage_whatever_the_status) {
  for (const int exit_status : {0, 1}) {
    SCOPED_TRACE(exit_status);
    fake_ = {};
    log_ = {};
    finishes_ = 0;
    health({refused()});
    fake_.on_script("n2", "undo", {reply()});
    fake_.on_script("n1", "log1", {reply().forever()});
    fake_.on_script("n2", "log2", {reply().err("Killed\nlast words", 1s).after(4s).status(exit_status)});
    EXPECT_EQ(run_all(), ExitCode::not_ready);
    EXPECT_LE(log_.finished()->elapsed, 5s);
    EXPECT_EQ(status("log2"), StepStatus::failed);
    EXPECT_EQ(log_.result("log2")->exit_status, exit_status);
    EXPECT_THAT(log_.result("log2")->last_lines, ElementsAre("Killed", "last words"));
    EXPECT_EQ(host("n2"), HostClass::failed);
  }
}

TEST_F(WatchTest, A_lost_connection_is_no_failure_and_no_line_is_lost_or_doubled) {
  health({refused(), refused(), refused(), refused(), answer(200)});
  fake_.on_script("n1", "log1", {reply().forever()});
  fake_.on_script("n2", "log2",
                  {std::move(lost()).out("init\nwei", 1s).after(2s), not_run(), not_run(Errc::auth),
                   reply().out("init\nweights 1\nwei").out("ghts 2\n").forever()});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_THAT(phases("log2"), ElementsAre("init", "weights 1", "weights 2"));
  EXPECT_EQ(watched("log2"), "init\nweights 1\nweights 2\n");
  EXPECT_EQ(status("log2"), StepStatus::ok);
  EXPECT_EQ(log_.result("log2")->attempts, 4U);
  EXPECT_EQ(host("n2"), HostClass::ok);
  for (const auto& exec : fake_.sent_to("n2")) EXPECT_EQ(exec.script, "log2") << "the same bytes";
}

TEST_F(WatchTest, The_stage_can_end_while_a_watch_is_disconnected) {
  health({refused(), answer(200)});
  fake_.on_script("n1", "log1", {not_run()});
  fake_.on_script("n2", "log2", {reply().forever()});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(status("log1"), StepStatus::cancelled) << "it did not see the end";
  EXPECT_THAT(error("log1").message, HasSubstr("not connected when the stage ended: no route"));
  EXPECT_EQ(status("log2"), StepStatus::ok);
}

TEST_F(WatchTest, The_last_phase_is_part_of_the_message_at_the_deadline) {
  plan_.stages[0].steps[0].deadline = 10s;
  health({refused()});
  drivers_.line_matcher = [](const plan::Step&, std::string_view) {
    run::Phase phase;
    phase.name = "weights";
    phase.done = 37;
    phase.total = 96;
    return phase;
  };
  fake_.on_script("", "log", {reply().out("x\n").forever()});
  EXPECT_EQ(run_all(), ExitCode::not_ready);
  EXPECT_THAT(error("health").message, HasSubstr("expected ok within 10s, got refused, phase weights 37/96"));
}

TEST_F(WatchTest, Watches_do_not_use_up_the_fanout) {
  limits_.fanout = 1;
  health({refused(), answer(200)});
  fake_.on_script("", "log", {reply().forever()});
  EXPECT_EQ(run_all(), ExitCode::done);
}

TEST_F(WatchTest, A_secret_in_a_log_line_is_not_reported) {
  auto first = plan::secret_step("key", "n1", "/k");
  plan::Stage put;
  put.id = "put";
  put.title = "put";
  put.steps = {first};
  plan_.stages.insert(plan_.stages.begin(), put);
  fake_.on_script("n1", "path=/k", {reply()});
  health({refused(), answer(200)});
  fake_.on_script("", "log", {reply().out("server_args api_key='hunter2!'\n").forever()});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_THAT(phases("log1"), ElementsAre("server_args api_key='[secret]'"));
  EXPECT_EQ(watched("log1"), "server_args api_key='[secret]'\n");
}

TEST_F(WatchTest, A_failing_watch_in_a_tolerated_stage_is_data) {
  plan_.stages[0].on_failure = plan::OnFailure::tolerate;
  health({refused()});
  fake_.on_script("n1", "log1", {reply().forever()});
  fake_.on_script("n2", "log2", {reply().after(1s).status(1)});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_FALSE(log_.stage("ready")->ok);
}

TEST_F(WatchTest, A_stage_in_which_no_rank_comes_further_ends_at_its_limit_and_says_where_each_is) {
  plan_.stages.clear();
  auto& ready = stage("ready", {poll("p1", "n1", 10min), poll("p2", "n2", 10min)});
  ready.watch = {follow("w1", "n1"), follow("w2", "n2")};
  ready.no_progress = 60s;
  fake_.on_script("n1", "", {reply().out("weights\n", 50s).out("weights\n", 70s).forever()});
  fake_.on_script("n2", "", {reply().out("rendezvous\n", 5s).forever()});
  fake_.on_http("", 30000, "/health", {refused()});
  EXPECT_EQ(run_all(), ExitCode::not_ready);
  EXPECT_EQ(fake_.now() / 1s, 110) << "the same phase once more is no progress";
  const auto& message = error("p1").message;
  EXPECT_THAT(message, HasSubstr("no rank came further for 1m"));
  EXPECT_THAT(message, HasSubstr("rendezvous: n2; weights: n1"));
}

TEST_F(WatchTest, A_limit_without_progress_that_is_never_reached_says_nothing) {
  plan_.stages.clear();
  auto& ready = stage("ready", {poll("p1", "n1", 10min)});
  ready.watch = {follow("w1", "n1")};
  ready.no_progress = 60s;
  fake_.on_script("n1", "", {reply().out("a\n", 50s).out("b\n", 100s).out("c\n", 150s).forever()});
  std::vector<HttpReply> answers(95, refused());
  answers.push_back(answer(200));
  fake_.on_http("", 30000, "/health", answers);
  EXPECT_EQ(run_all(), ExitCode::done);
}

}  // namespace
}  // namespace sskj::test
