#include <gmock/gmock.h>

#include <functional>

#include "sample_plan.hpp"

namespace sskj::plan {
namespace {

using testing::HasSubstr;

struct BadPlan {
  const char* name;
  std::function<void(Plan&)> damage;
  const char* message;
};

template <class T>
T& action(Plan& plan, std::size_t stage, std::size_t step) {
  return std::get<T>(plan.stages.at(stage).steps.at(step).action);
}

class PlanValidate : public testing::TestWithParam<BadPlan> {};

TEST_P(PlanValidate, Refuses) {
  Plan plan = sample_plan();
  ASSERT_TRUE(validate(plan)) << validate(plan).error().message;
  GetParam().damage(plan);
  const auto result = validate(plan);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::usage);
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, PlanValidate,
    testing::Values(
        BadPlan{"version", [](Plan& p) { p.schema_version = 2; }, "reads version 1"},
        BadPlan{"node_twice", [](Plan& p) { p.nodes[1].id = p.nodes[0].id; }, "two nodes"},
        BadPlan{"node_id", [](Plan& p) { p.nodes[1].id = "a\x1b"; }, "printable"},
        BadPlan{"step_twice", [](Plan& p) { p.always[0].steps[0].id = "put.1"; }, "put.1: two steps"},
        BadPlan{"stage_twice", [](Plan& p) { p.always[0].id = "put"; }, "put: two stages"},
        BadPlan{"unknown_node", [](Plan& p) { p.stages[0].undo[0].node = "n9"; }, "node \"n9\" is not in the plan"},
        BadPlan{"watch", [](Plan& p) { p.stages[1].watch[0].action = RunScript{.script = "x"}; }, "a watch must be a script that follows"},
        BadPlan{"empty_script", [](Plan& p) { action<CheckNode>(p, 1, 0).script = ""; }, "the script is empty"},
        BadPlan{"long_script", [](Plan& p) { action<CheckNode>(p, 1, 0).script = std::string(k_max_script + 1, 'x'); }, "at most 65536"},
        BadPlan{"nul_script", [](Plan& p) { action<CheckNode>(p, 1, 0).script = std::string("a\0", 2); }, "NUL"},
        BadPlan{"no_deadline", [](Plan& p) { p.stages[0].steps[0].deadline = Millis{0}; }, "may go without a deadline"},
        BadPlan{"negative", [](Plan& p) { p.stages[0].steps[0].deadline = Millis{-1}; }, "out of range"},
        BadPlan{"relative", [](Plan& p) { action<PutFile>(p, 0, 0).path = "a/b"; }, "must be absolute"},
        BadPlan{"mode", [](Plan& p) { action<PutFile>(p, 0, 0).mode = 010000; }, "mode"},
        BadPlan{"sha256", [](Plan& p) { action<PutFile>(p, 0, 0).content = std::string("other"); }, "does not have the sha256"},
        BadPlan{"secret_mode", [](Plan& p) { action<PutFile>(p, 0, 2).mode = 0640; }, "owner only"},
        BadPlan{"secret_ref", [](Plan& p) { action<PutFile>(p, 0, 2).content = SecretRef{"hunter2"}; }, "from_env:NAME"},
        BadPlan{"redact_ref", [](Plan& p) { p.redact = {SecretRef{"hunter2"}}; }, "from_env:NAME"},
        BadPlan{"secret_sha", [](Plan& p) { action<PutFile>(p, 0, 2).sha256 = "00"; }, "no sha256 of a secret"},
        BadPlan{"template", [](Plan& p) { action<PutFile>(p, 0, 2).secret_template = "KEY="; }, "{secret}"},
        BadPlan{"split_request", [](Plan& p) { action<HttpProbe>(p, 1, 1).target = "/a HTTP/1.1\r\nX: y"; }, "without blanks"},
        BadPlan{"port", [](Plan& p) { action<HttpProbe>(p, 1, 1).port = 0; }, "port is 0"},
        BadPlan{"no_judge", [](Plan& p) { action<HttpProbe>(p, 1, 1).verdict.judge = ""; }, "names no judge"},
        BadPlan{"expectation", [](Plan& p) { p.stages[1].verdict->expectation = "{"; }, "not JSON"},
        BadPlan{"only_if", [](Plan& p) { p.stages[0].only_if_stage = "ready"; }, "no earlier stage"},
        BadPlan{"settles", [](Plan& p) { p.stages[0].settles = {"ready"}; }, "no earlier stage"}),
    [](const auto& at) { return std::string(at.param.name); });

TEST(ExitErrc, Follows_the_documented_table) {
  const std::vector<std::pair<int, Errc>> table{{64, Errc::usage},     {65, Errc::integrity}, {66, Errc::preflight}, {69, Errc::not_ready},
                                                {73, Errc::locked},    {124, Errc::timeout},  {1, Errc::step_failed}, {137, Errc::step_failed},
                                                {70, Errc::step_failed}};
  for (const auto& [status, code] : table) EXPECT_EQ(exit_errc(status), code) << status;
}

}  // namespace
}  // namespace sskj::plan
