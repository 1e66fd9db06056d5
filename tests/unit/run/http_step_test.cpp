// HttpProbe: one question, polling, reconnecting, deadlines.
#include "unit/run/fixture.hpp"

namespace sskj::test {
namespace {

using run::HostClass;

class HttpStep : public RunTest {
 protected:
  HttpStep() { nodes({"n1", "n2"}); }
};

TEST_F(HttpStep, Asks_as_the_plan_says_with_the_secret_resolved) {
  auto step = plan::http_step("a", "n1");
  std::get<plan::HttpProbe>(step.action).poll_every = Millis{0};
  stage("s", {step});
  fake_.on_http("n1", 30000, "/v1/chat/completions", {answer(200, "the key is hunter2!")});
  EXPECT_EQ(run_all(), ExitCode::done);
  const auto& request = fake_.requests().at(0).request;
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.body, R"({"q": "23*47"})");
  EXPECT_EQ(request.bearer, "hunter2!");
  EXPECT_EQ(request.timeout, 25s);
  EXPECT_EQ(log_.result("a")->http->body, "the key is [secret]");
}

TEST_F(HttpStep, Polls_until_ok_and_reports_progress_on_change_only) {
  stage("s", {poll("a", "n1")});
  fake_.on_http("n1", 30000, "/health", {refused(), refused(), answer(503), answer(503), answer(200)});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(fake_.requests().size(), 5U);
  EXPECT_EQ(log_.result("a")->attempts, 5U);
  EXPECT_EQ(log_.result("a")->http->status, 200);
  std::vector<std::string> progress;
  for (const auto* event : log_.all<run::StepProgress>()) progress.push_back(event->text);
  EXPECT_THAT(progress, ElementsAre("refused", "http 503"));
  EXPECT_EQ(fake_.requests()[3].at - fake_.requests()[2].at, 2s);
}

TEST_F(HttpStep, Refused_and_silent_are_told_apart_for_the_judge) {
  std::vector<Errc> seen;
  drivers_.step_judges["http-200"] = [&seen](const plan::Step&, std::string_view, const run::StepResult& result) {
    run::Verdict verdict;
    verdict.ok = result.http.has_value();
    verdict.again = !verdict.ok;
    if (result.error) seen.push_back(result.error->code);
    return verdict;
  };
  stage("s", {poll("a", "n1")});
  fake_.on_http("n1", 30000, "/health", {refused(), silent(), answer(200)});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_THAT(seen, ElementsAre(Errc::not_ready, Errc::timeout));
}

TEST_F(HttpStep, An_answer_that_is_final_and_wrong_ends_the_poll) {
  stage("s", {poll("a", "n1")});
  fake_.on_http("n1", 30000, "/health", {refused(), answer(404)});
  EXPECT_EQ(run_all(), ExitCode::not_ready);
  EXPECT_EQ(status("a"), StepStatus::failed);
  EXPECT_EQ(fake_.requests().size(), 2U);
}

TEST_F(HttpStep, A_probe_without_polling_does_not_ask_again) {
  stage("s", {poll("a", "n1", 60s, 0s)});
  fake_.on_http("n1", 30000, "/health", {answer(503)});
  EXPECT_EQ(run_all(), ExitCode::not_ready);
  EXPECT_EQ(fake_.requests().size(), 1U);
}

TEST_F(HttpStep, A_poll_ends_at_its_deadline_with_what_was_seen_last) {
  stage("s", {poll("a", "n1", 9s)});
  fake_.on_http("n1", 30000, "/health", {refused()});
  EXPECT_EQ(run_all(), ExitCode::not_ready);
  EXPECT_EQ(log_.finished()->elapsed, 9s);
  EXPECT_EQ(status("a"), StepStatus::timed_out);
  EXPECT_EQ(error("a").code, Errc::not_ready);
  EXPECT_EQ(error("a").message, "n1: run a: expected ok within 9s, got refused");
  EXPECT_EQ(host("n1"), HostClass::timed_out);
}

TEST_F(HttpStep, A_silent_service_is_cut_off_at_the_deadline_not_at_the_request_timeout) {
  stage("s", {poll("a", "n1", 30s)});
  fake_.on_http("n1", 30000, "/health", {silent()});
  EXPECT_EQ(run_all(), ExitCode::not_ready);
  EXPECT_EQ(log_.finished()->elapsed, 30s);
}

TEST_F(HttpStep, A_connection_lost_while_waiting_is_made_again_with_backoff) {
  stage("s", {poll("a", "n1", 120s)});
  fake_.on_http("n1", 30000, "/health", {answer(503), http_lost(), http_not_run(), http_not_run(Errc::auth), http_not_run(), answer(200)});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(status("a"), StepStatus::ok);
  EXPECT_EQ(host("n1"), HostClass::ok);
  std::vector<Millis> pauses;
  for (std::size_t i = 2; i < fake_.requests().size(); ++i) pauses.push_back(fake_.requests()[i].at - fake_.requests()[i - 1].at - 1ms);
  EXPECT_THAT(pauses, ElementsAre(500ms, 1s, 2s, 4s));
}

TEST_F(HttpStep, A_node_unreachable_until_the_deadline_is_unreachable_not_unready) {
  stage("s", {poll("a", "n1", 60s)});
  fake_.on_http("n1", 30000, "/health", {answer(503), http_not_run()});
  EXPECT_EQ(run_all(), ExitCode::unreachable);
  EXPECT_EQ(log_.finished()->elapsed, 60s);
  EXPECT_EQ(status("a"), StepStatus::not_run);
  EXPECT_EQ(host("n1"), HostClass::unreachable);
}

TEST_F(HttpStep, Another_host_key_while_waiting_is_final) {
  stage("s", {poll("a", "n1", 60s)});
  fake_.on_http("n1", 30000, "/health", {answer(503), http_not_run(Errc::host_key)});
  EXPECT_EQ(run_all(), ExitCode::unreachable);
  EXPECT_EQ(fake_.requests().size(), 2U);
}

TEST_F(HttpStep, Without_waiting_unreachable_and_lost_fail_at_once) {
  stage("s", {poll("a", "n1", 60s, 0s), poll("b", "n2", 60s, 0s)});
  fake_.on_http("n1", 30000, "/health", {http_not_run()});
  fake_.on_http("n2", 30000, "/health", {http_lost()});
  EXPECT_EQ(run_all(), ExitCode::unreachable);
  EXPECT_EQ(fake_.requests().size(), 2U);
  EXPECT_EQ(status("a"), StepStatus::not_run);
  EXPECT_EQ(status("b"), StepStatus::lost);
}

TEST_F(HttpStep, A_script_of_a_waiting_stage_waits_for_its_node_too) {
  auto look = check("look", "n1");
  look.deadline = 120s;
  stage("s", {look, poll("a", "n1", 120s)});
  fake_.on_script("n1", "look", {not_run(), not_run(), reply().out("ok")});
  fake_.on_http("n1", 30000, "/health", {answer(200)});
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_EQ(status("look"), StepStatus::ok);
}

TEST_F(HttpStep, A_changed_repetition_is_asked_once) {
  int questions = 0;
  drivers_.step_judges["http-200"] = [&questions](const plan::Step& step, std::string_view, const run::StepResult&) {
    run::Verdict verdict;
    verdict.progress = "cut off";
    verdict.ask_again = std::get<plan::HttpProbe>(step.action);
    verdict.ask_again->body = "max_tokens " + std::to_string(++questions);
    verdict.error = Error{Errc::wrong_answer, "still cut off", ""};
    return verdict;
  };
  stage("s", {poll("a", "n1", 60s, 0s)});
  fake_.on_http("n1", 30000, "/health", {answer(200)});
  EXPECT_EQ(run_all(), ExitCode::wrong_answer);
  ASSERT_EQ(fake_.requests().size(), 2U);
  EXPECT_EQ(fake_.requests()[1].request.body, "max_tokens 1");
  EXPECT_LT(log_.position("a retried: cut off"), log_.lines().size());
}

TEST_F(HttpStep, A_failure_elsewhere_in_the_stage_ends_the_polls) {
  stage("s", {poll("a", "n1", 30min), script("b", "n2")});
  fake_.on_http("n1", 30000, "/health", {refused()});
  fake_.on_script("n2", "", {reply().after(10s).status(1)});
  EXPECT_EQ(run_all(), ExitCode::step_failed);
  EXPECT_LE(log_.finished()->elapsed, 13s);
  EXPECT_EQ(status("a"), StepStatus::cancelled);
  EXPECT_THAT(error("a").message, HasSubstr("given up because of n2: run b"));
  EXPECT_THAT(log_.finished()->all_codes, ElementsAre(ExitCode::step_failed));
}

TEST_F(HttpStep, A_deadline_of_one_poll_leaves_the_others_to_theirs) {
  stage("s", {poll("a", "n1", 10s), poll("b", "n2", 20s)});
  fake_.on_http("", 30000, "/health", {refused()});
  EXPECT_EQ(run_all(), ExitCode::not_ready);
  EXPECT_EQ(status("a"), StepStatus::timed_out);
  EXPECT_EQ(status("b"), StepStatus::timed_out);
}

TEST_F(HttpStep, A_stage_deadline_ends_a_poll_as_not_ready) {
  stage("s", {poll("a", "n1", 60s)}).deadline = 10s;
  fake_.on_http("n1", 30000, "/health", {answer(503)});
  EXPECT_EQ(run_all(), ExitCode::not_ready);
  EXPECT_EQ(log_.finished()->elapsed, 10s);
  EXPECT_THAT(error("a").message, HasSubstr("expected an end within 10s, got http 503"));
}

}  // namespace
}  // namespace sskj::test
