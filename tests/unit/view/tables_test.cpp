#include "sskj/view/tables.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "scenarios.hpp"
#include "streams.hpp"
#include "sskj/view/plan_view.hpp"

namespace sskj::view {
namespace {

using nlohmann::json;

TEST(Profiles, Show_second_names_as_such) {
  const std::array rows{ProfileRow{"pro6000/kimi3", "embedded", "K3 on four nodes", ""}, ProfileRow{"kimi3", "embedded", "", "pro6000/kimi3"}};
  Streams text;
  show_profiles(text.output, {}, rows);
  EXPECT_EQ(text.out, "NAME           SOURCE    DESCRIPTION\npro6000/kimi3  embedded  K3 on four nodes\nkimi3          embedded  = pro6000/kimi3\n");
  Streams document;
  show_profiles(document.output, as(Format::json), rows);
  EXPECT_EQ(json::parse(document.out)["profiles"][1]["alias_of"], "pro6000/kimi3");
}

TEST(Settings, Say_where_each_came_from) {
  const std::array rows{SettingRow{"image", "a:b", "profile", {"x.env", 3, 1}}, SettingRow{"api_port", "30001", "flag", {"--set", 0, 0}}};
  Streams text;
  show_settings(text.output, {}, "x", rows);
  EXPECT_EQ(text.out, "KEY       ORIGIN   WHERE      VALUE\nimage     profile  x.env:3:1  a:b\napi_port  flag     --set      30001\n");
  Streams document;
  show_settings(document.output, as(Format::json), "x", rows);
  EXPECT_EQ(json::parse(document.out)["settings"][0]["line"], 3);
}

TEST(Values, Are_lines_or_one_object) {
  const KeyValues values{{"version", "0.1.0"}, {"libssh2", "1.11.1"}};
  Streams text;
  show_values(text.output, {}, values);
  EXPECT_EQ(text.out, "version:  0.1.0\nlibssh2:  1.11.1\n");
  Streams document;
  show_values(document.output, as(Format::json), values);
  EXPECT_EQ(json::parse(document.out), json::parse(R"({"schema_version":1,"version":"0.1.0","libssh2":"1.11.1"})"));
}

TEST(Documents, Are_passed_on_whole_and_harmless) {
  Streams streams;
  show_document(streams.output, as(Format::ndjson), "{\"b\": \"\xc2\x9b\", \"a\": 1}");
  EXPECT_EQ(streams.out, "{\"b\":\"\\u009b\",\"a\":1}\n");
}

TEST(Notes, Are_silent_with_quiet) {
  Options quiet;
  quiet.verbosity = -1;
  Streams streams;
  show_note(streams.output, quiet, "one");
  show_note(streams.output, {}, "two\x1b");
  EXPECT_EQ(streams.err, "two\\x1b\n");
}

TEST(PlanView, Text_holds_digest_bootstrap_and_steps_and_json_the_plan_alone) {
  const plan::Plan plan = testing::small_plan("start", 2);
  Streams text;
  show_plan(text.output, {}, plan, "sh -c 'bootstrap'\n");
  EXPECT_NE(text.out.find(plan::digest(plan)), std::string::npos);
  EXPECT_NE(text.out.find("#   sh -c 'bootstrap'\n"), std::string::npos);
  EXPECT_NE(text.out.find("start server rank 1"), std::string::npos);
  EXPECT_NE(text.out.find("174.1.60.[5-6]"), std::string::npos);
  Streams document;
  show_plan(document.output, as(Format::json), plan, "bootstrap");
  const auto back = plan::plan_from_json(document.out);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, plan);
}

}  // namespace
}  // namespace sskj::view
