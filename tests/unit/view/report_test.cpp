#include "sskj/view/report.hpp"

#include <gtest/gtest.h>

namespace sskj::view {
namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(StatusReport, What_is_not_known_is_never_shown_as_good) {
  const std::string text = report_text("status", R"({"groups":[{"name":"g","ranks":[{"rank":0,"node":"n1"}]}]})", false);
  EXPECT_TRUE(has(text, "unknown")) << text;
  EXPECT_FALSE(has(text, "ready")) << text;
  EXPECT_FALSE(has(text, "ok")) << text;
  EXPECT_TRUE(has(text, "endpoint: -")) << text;
}

TEST(StatusReport, Takes_members_of_any_type) {
  for (const char* document : {"{}", "[]", "null", "3", R"({"groups":3,"lock":[],"problems":{"a":1}})", R"({"groups":[3,{"ranks":"x"},{"ranks":[null,[],{"rank":{},"diff":[1]}]}]})",
                           R"({"problems":[1,null,{"message":2,"hint":[]}]})"}) {
    EXPECT_FALSE(report_text("status", document, false).empty()) << document;
    EXPECT_FALSE(report_text("smoke", document, true).empty()) << document;
  }
}

TEST(SmokeReport, Tells_correct_wrong_cut_off_and_unknown_apart) {
  EXPECT_TRUE(has(report_text("smoke", R"({"correct":true,"answer":"1081"})", false), "verdict:   correct\n"));
  EXPECT_TRUE(has(report_text("smoke", R"({"correct":false,"finish_reason":"stop"})", false), "verdict:   wrong\n"));
  EXPECT_TRUE(has(report_text("smoke", R"({"correct":false,"finish_reason":"length"})", false), "cut off"));
  EXPECT_TRUE(has(report_text("smoke", R"({"correct":"yes"})", false), "verdict:   unknown\n"));
  EXPECT_TRUE(has(report_text("smoke", R"({"model":"k3","models_ok":false})", false), "not in /v1/models"));
}

TEST(OtherReports, Are_indented_json_and_broken_ones_one_printable_line) {
  EXPECT_EQ(report_text("bench", R"({"b":1,"a":[2]})", false), "{\n  \"a\": [\n    2\n  ],\n  \"b\": 1\n}\n");
  EXPECT_EQ(report_text("bench", "{\x1b", false), "bench: unreadable report: {\\x1b\n");
}

TEST(ReportKinds, Are_listed) {
  ASSERT_EQ(report_kinds().size(), 3U);
  EXPECT_EQ(report_kinds()[0].kind, "status");
  EXPECT_EQ(report_kinds()[1].kind, "smoke");
  EXPECT_EQ(report_kinds()[2].kind, "lock");
}

TEST(ReportText, Lock_says_per_node_who_holds_it_and_whether_its_run_is_alive) {
  const std::string text = report_text("lock", R"({"nodes":[{"node":"n1","lock":{"owner":"root","client":"10.0.0.1","verb":"start","deployment":"kimi","run":"r1","since":"2026-01-01T00:00:00Z","age":9,"beat_age":2,"stale":false},
    "claim":{"deployment":"kimi"}},{"node":"n2","lock":{"run":"r0","stale":true},"claim":null},{"node":"n3","lock":null,"claim":null}],"not_asked":["n4"]})", false);
  EXPECT_NE(text.find("root from 10.0.0.1: start of kimi (run r1, since 2026-01-01T00:00:00Z, 9 s ago, last beat 2 s ago)"), std::string::npos) << text;
  EXPECT_NE(text.find("(run r0, since -, its run is gone: the next start or stop takes the lock over)"), std::string::npos) << text;
  EXPECT_NE(text.find("n4    unknown     unknown"), std::string::npos) << text;
}

}  // namespace
}  // namespace sskj::view
