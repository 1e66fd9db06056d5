#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "sample_plan.hpp"
#include "sskj/core/sha256.hpp"

namespace sskj::plan {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(PlanJson, Round_trip_is_the_identity) {
  const Plan plan = sample_plan();
  const auto again = plan_from_json(to_json(plan));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, plan);
  EXPECT_EQ(to_json(*again), to_json(plan));
}

TEST(PlanJson, Default_plan_round_trips) {
  const auto again = plan_from_json(to_json(Plan{}));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, Plan{});
}

TEST(PlanJson, Is_canonical_with_sorted_keys_and_two_blanks) {
  const std::string text = to_json(sample_plan());
  EXPECT_EQ(json::parse(text).dump(2) + "\n", text);
}

TEST(PlanJson, Digest_is_the_sha256_of_the_json_and_sees_each_byte) {
  Plan plan = sample_plan();
  const std::string before = digest(plan);
  EXPECT_EQ(before, sha256_hex(to_json(plan)));
  std::get<RunScript>(plan.always[0].steps[0].action).script += " ";
  EXPECT_NE(digest(plan), before);
}

TEST(PlanJson, Any_string_that_is_not_utf8_travels_as_base64) {
  Plan plan = sample_plan();
  const auto content = json::parse(to_json(plan))["stages"][0]["steps"][1]["action"]["content"];
  EXPECT_EQ(content, json::parse(R"({"base64": "/wCA"})"));
  std::get<RunScript>(plan.always[0].steps[0].action).script = "echo '\xff'\n";
  const auto again = plan_from_json(to_json(plan));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, plan);
}

TEST(PlanJson, Secrets_appear_as_references_only) {
  const auto action = json::parse(to_json(sample_plan()))["stages"][0]["steps"][2]["action"];
  EXPECT_EQ(action["content"], json::parse(R"({"secret": "from_env:API_KEY"})"));
  EXPECT_EQ(action["sha256"], "");
}

struct BadCase {
  const char* name;
  std::function<void(json&)> damage;
  const char* message;
};

class PlanJsonRefuses : public testing::TestWithParam<BadCase> {};

TEST_P(PlanJsonRefuses, And_names_the_path) {
  json value = json::parse(to_json(sample_plan()));
  GetParam().damage(value);
  const auto result = plan_from_json(value.dump());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::usage);
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, PlanJsonRefuses,
    testing::Values(BadCase{"unknown", [](json& v) { v["stages"][1]["steps"][0]["deadline_m"] = 1; },
                            "$.stages[1].steps[0]: unknown field \"deadline_m\", did you mean \"deadline_ms\"?"},
                    BadCase{"missing", [](json& v) { v["stages"][0].erase("undo"); }, "$.stages[0].undo: missing"},
                    BadCase{"wrong_type", [](json& v) { v["nodes"][1]["ssh"]["port"] = "22"; }, "$.nodes[1].ssh.port: expected an integer, got string"},
                    BadCase{"range", [](json& v) { v["nodes"][1]["ssh"]["port"] = 65536; }, "$.nodes[1].ssh.port: number out of range"},
                    BadCase{"negative", [](json& v) { v["nodes"][1]["ssh"]["port"] = -1; }, "$.nodes[1].ssh.port: number out of range"},
                    BadCase{"fraction", [](json& v) { v["deadline_ms"] = 1.5; }, "$.deadline_ms: expected an integer"},
                    BadCase{"huge", [](json& v) { v["deadline_ms"] = 18446744073709551615ULL; }, "$.deadline_ms: number out of range"},
                    BadCase{"enum", [](json& v) { v["stages"][0]["order"] = "serial"; }, "$.stages[0].order: expected one of \"parallel\", \"one_by_one\""},
                    BadCase{"errc", [](json& v) { v["stages"][0]["steps"][0]["failure"] = "oops"; }, "$.stages[0].steps[0].failure: \"oops\""},
                    BadCase{"kind", [](json& v) { v["stages"][0]["steps"][0]["action"]["type"] = "relay"; }, "$.stages[0].steps[0].action.type: \"relay\""},
                    BadCase{"no_kind", [](json& v) { v["stages"][0]["steps"][0]["action"].erase("type"); }, "$.stages[0].steps[0].action.type: missing"},
                    BadCase{"mode", [](json& v) { v["stages"][0]["steps"][0]["action"]["mode"] = "0648"; }, "action.mode: expected an octal mode"},
                    BadCase{"base64", [](json& v) { v["stages"][0]["steps"][1]["action"]["content"]["base64"] = "*"; }, "content.base64: not well-formed"},
                    BadCase{"array", [](json& v) { v["stages"] = json::object(); }, "$.stages: expected an array"},
                    BadCase{"null", [](json& v) { v["verb"] = nullptr; }, "$.verb: expected a string"},
                    BadCase{"root", [](json& v) { v = 7; }, "$: expected an object"}),
    [](const auto& at) { return std::string(at.param.name); });

TEST(PlanJson, Refuses_what_is_not_json) {
  for (const char* text : {"", "{", "{}x", "\xff"}) {
    const auto result = plan_from_json(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, Errc::usage);
  }
}

TEST(PlanJson, Refuses_a_key_given_twice) {
  const auto result = plan_from_json(R"({"verb": "start", "verb": "stop"})");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("key \"verb\" occurs twice"));
}

TEST(PlanJson, Refuses_more_than_the_bounded_size) {
  const auto result = plan_from_json(std::string(k_max_plan_json + 1, ' '));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("larger than"));
}

}  // namespace
}  // namespace sskj::plan
