// Judging answers: the cases of tests/data/answers/smoke.json.
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "judges.hpp"

namespace sskj::recipes {
namespace {

plan::Step question(const std::string& expectation) {
  plan::HttpProbe probe;
  probe.port = 30000;
  probe.method = "POST";
  probe.target = "/v1/chat/completions";
  probe.body = R"({"max_tokens":128,"model":"m"})";
  probe.verdict = {"smoke", expectation};
  plan::Step step;
  step.id = "smoke";
  step.node = "n5";
  step.action = probe;
  return step;
}

run::StepResult answered(int status, std::string body) {
  run::StepResult result;
  result.step = "smoke";
  result.node = "n5";
  result.http = run::HttpResponse{status, std::move(body), false, plan::Millis{1234}};
  return result;
}

std::string word(const run::Verdict& verdict) {
  if (verdict.ok) return "ok";
  if (verdict.ask_again) return "again";
  if (!verdict.error) return "nothing";
  return verdict.error->code == Errc::wrong_answer ? "wrong" : std::string(to_string(verdict.error->code));
}

TEST(Smoke, Answers_are_judged_as_recorded) {
  const auto cases = Json::parse(deploy::testing::read_file(std::string(SSKJ_SOURCE_DIR) + "/tests/data/answers/smoke.json").value());
  ASSERT_GT(cases.size(), 25U);
  for (const auto& one : cases) {
    const auto expectation = Json{{"expect", one["expect"]}, {"retried", one["retried"]}, {"max_tokens_retry", 2048}}.dump();
    const auto verdict = judge_smoke(question(expectation), expectation, answered(one["status"], one["body"]));
    EXPECT_EQ(word(verdict), one["verdict"]) << one["name"];
    if (verdict.error) {
      EXPECT_NE(verdict.error->message.find(one["says"].get<std::string>()), std::string::npos) << one["name"] << ": " << verdict.error->message;
    }
  }
}

TEST(Smoke, A_cut_off_answer_is_asked_again_once_with_the_larger_limit) {
  const auto expectation = Json{{"expect", "1081"}, {"retried", false}, {"max_tokens_retry", 2048}}.dump();
  const auto body = R"({"choices":[{"message":{"content":"hm"},"finish_reason":"length"}]})";
  const auto first = judge_smoke(question(expectation), expectation, answered(200, body));
  ASSERT_TRUE(first.ask_again);
  EXPECT_EQ(Json::parse(first.ask_again->body)["max_tokens"], 2048);
  EXPECT_EQ(Json::parse(first.ask_again->body)["model"], "m");
  const auto second = judge_smoke(question(expectation), first.ask_again->verdict.expectation, answered(200, body));
  EXPECT_FALSE(second.ask_again);
  EXPECT_EQ(word(second), "wrong");
}

TEST(Smoke, No_answer_is_not_a_wrong_one) {
  for (const auto code : {Errc::not_ready, Errc::timeout, Errc::lost}) {
    run::StepResult result;
    result.error = Error{code, "n5: something", ""};
    EXPECT_EQ(word(judge_smoke(question("{}"), "{}", result)), "not_ready");
  }
}

TEST(Smoke, The_report_holds_answer_and_decision) {
  auto models = answered(200, "{}");
  models.step = "models";
  models.status = run::StepStatus::ok;
  auto ask = answered(200, R"({"choices":[{"message":{"content":"It is 1,081.","reasoning_content":"23*47"},"finish_reason":"stop"}]})");
  ask.status = run::StepStatus::ok;
  const auto expectation = Json{{"model", "m"}, {"question", "q"}, {"expected", "1081"}, {"models_step", "models"}, {"ask_step", "smoke"}}.dump();
  const auto verdict = report_smoke({}, expectation, {{"n5", &models}, {"n5", &ask}});
  ASSERT_EQ(verdict.reports.size(), 1U);
  EXPECT_EQ(verdict.reports[0].kind, "smoke");
  const auto report = Json::parse(verdict.reports[0].json);
  EXPECT_EQ(report, (Json{{"schema_version", 1}, {"model", "m"}, {"models_ok", true}, {"question", "q"}, {"answer", "It is 1,081."}, {"reasoning", "23*47"},
                          {"finish_reason", "stop"}, {"expected", "1081"}, {"correct", true}, {"elapsed_ms", 1234}}));
}

TEST(Smoke, The_report_of_a_failure_is_never_correct) {
  run::StepResult models, ask;
  models.step = "models";
  models.status = run::StepStatus::failed;
  ask.step = "smoke";
  ask.status = run::StepStatus::skipped;
  const auto expectation = Json{{"model", "m"}, {"question", "q"}, {"expected", "1081"}, {"models_step", "models"}, {"ask_step", "smoke"}}.dump();
  const auto report = Json::parse(report_smoke({}, expectation, {{"n5", &models}, {"n5", &ask}}).reports.at(0).json);
  EXPECT_EQ(report["correct"], nullptr) << "not asked is not wrong";
  EXPECT_EQ(report["models_ok"], nullptr) << "not asked is not no";
  EXPECT_TRUE(report["answer"].is_null());
}

run::Verdict health(std::optional<int> status, Errc code = Errc::not_ready) {
  run::StepResult result;
  if (status) {
    result.http = run::HttpResponse{*status, "", false, plan::Millis{1}};
  } else {
    result.error = Error{code, "x", ""};
  }
  return judge_health({}, R"({"path":"/health"})", result);
}

TEST(Health, Is_decided_by_status_code_only) {
  EXPECT_TRUE(health(200).ok);
  for (const auto& [status, code] : std::vector<std::pair<std::optional<int>, Errc>>{{std::nullopt, Errc::not_ready}, {std::nullopt, Errc::timeout}, {std::nullopt, Errc::lost}, {503, {}}, {500, {}}, {502, {}}}) {
    const auto verdict = health(status, code);
    EXPECT_FALSE(verdict.ok);
    EXPECT_TRUE(verdict.again) << status.value_or(0);
    EXPECT_FALSE(verdict.progress.empty());
  }
  EXPECT_EQ(health(std::nullopt).progress, "loading");
  EXPECT_EQ(health(503).progress, "warm-up");
  for (const int status : {301, 401, 403, 404, 405}) {
    EXPECT_FALSE(health(status).again) << status;
    EXPECT_FALSE(health(status).ok) << status;
  }
}

run::Verdict warm(int status, const std::string& body) { return judge_warm({}, "{}", answered(status, body)); }

TEST(Warm, Needs_a_finished_answer) {
  EXPECT_TRUE(warm(200, R"({"choices":[{"message":{"content":""},"finish_reason":"length"}]})").ok);
  EXPECT_TRUE(warm(200, R"({"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]})").ok);
  for (const auto* body : {"", "<html>", "{}", R"({"error":{"message":"x"}})", R"({"choices":[{"message":{"content":"x"},"finish_reason":"abort"}]})", R"({"choices":[{"message":{"content":"x"},"finish_reason":null}]})"}) {
    EXPECT_FALSE(warm(200, body).ok) << body;
    EXPECT_TRUE(warm(200, body).error) << body;
  }
  EXPECT_FALSE(warm(500, R"({"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]})").ok);
}

TEST(Models, Must_name_the_model) {
  const auto judge = [](int status, const std::string& body) { return judge_models({}, R"({"model":"kimi-k3"})", answered(status, body)); };
  EXPECT_TRUE(judge(200, R"({"object":"list","data":[{"id":"kimi-k3","object":"model"}]})").ok);
  EXPECT_FALSE(judge(200, R"({"object":"list","data":[{"id":"kimi-k3-lora"}]})").ok);
  for (const auto* body : {"", "[]", "{}", R"({"data":"kimi-k3"})", R"({"data":["kimi-k3"]})", R"({"data":[{"id":7}]})"}) EXPECT_FALSE(judge(200, body).ok) << body;
  EXPECT_FALSE(judge(401, "").ok);
}

}  // namespace
}  // namespace sskj::recipes
