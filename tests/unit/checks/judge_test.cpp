// From outputs to verdicts.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sskj/checks/check.hpp"

namespace sskj::checks {
namespace {

using nlohmann::json;

std::string framed(std::initializer_list<std::pair<std::string, std::string>> records) {
  std::string out = "\036sskj-probe-r1-7\036\n";
  for (const auto& [id, text] : records) out += "\036sskj-probe-r1-7 begin " + id + "\036\n" + text + "\n\036sskj-probe-r1-7 end " + id + " 0\036\n";
  return out;
}

run::StepResult result_of(std::string out) {
  run::StepResult result;
  result.status = run::StepStatus::ok;
  result.exit_status = 0;
  result.out = std::move(out);
  return result;
}

plan::Step step_on(std::string node) {
  plan::Step step;
  step.id = "start.preflight." + node;
  step.node = std::move(node);
  return step;
}

const std::string k_docker_ok = "server 28.2.2 1.50\nend\n";

TEST(JudgeNode, All_ok_is_ok_and_skips_are_shown) {
  const auto expectation = json{{"checks", {{{"id", "docker"}, {"expect", json::object()}}}}, {"skipped", {"gpu-idle"}}}.dump();
  const auto verdict = judge_node(step_on("n5"), expectation, result_of(framed({{"docker", k_docker_ok}})));
  EXPECT_TRUE(verdict.ok);
  ASSERT_EQ(verdict.findings.size(), 2U);
  EXPECT_EQ(verdict.findings[0].check, "docker");
  EXPECT_EQ(verdict.findings[0].node, "n5");
  EXPECT_EQ(verdict.findings[1].check, "gpu-idle");
  EXPECT_EQ(verdict.findings[1].status, run::FindingStatus::not_applicable);
}

TEST(JudgeNode, A_missing_record_is_unknown_and_blocks) {
  const auto expectation = json{{"checks", {{{"id", "docker"}, {"expect", json::object()}}}}}.dump();
  for (const auto& out : {std::string(), std::string("Welcome!\n"), framed({{"image", "end\n"}})}) {
    const auto verdict = judge_node(step_on("n5"), expectation, result_of(out));
    EXPECT_FALSE(verdict.ok);
    ASSERT_EQ(verdict.findings.size(), 1U);
    EXPECT_EQ(verdict.findings[0].status, run::FindingStatus::unknown);
    ASSERT_TRUE(verdict.error);
    EXPECT_EQ(verdict.error->code, Errc::preflight);
  }
}

TEST(JudgeNode, An_unheard_of_check_is_unknown) {
  const auto verdict = judge_node(step_on("n5"), R"({"checks":[{"id":"from-the-future","expect":{}}]})", result_of(framed({{"from-the-future", "end\n"}})));
  EXPECT_FALSE(verdict.ok);
}

TEST(JudgeNode, A_warning_does_not_block) {
  const auto expectation = R"({"checks":[{"id":"weights","expect":{"models":["/m"],"total":true}}]})";
  const auto verdict = judge_node(step_on("n5"), expectation, result_of(framed({{"weights", "config /m\nextra x.safetensors\nshards 1 /m\nbytes 1 1 /m\nend\n"}})));
  EXPECT_TRUE(verdict.ok);
  EXPECT_EQ(verdict.findings.front().status, run::FindingStatus::warn);
}

TEST(JudgeNode, The_error_names_the_surest_and_most_severe_finding) {
  const auto expectation = R"({"checks":[{"id":"disk-docker","expect":{"free_kib":100,"free_inodes":1}},{"id":"weights","expect":{"models":["/m"],"total":true}}]})";
  const auto verdict = judge_node(step_on("n5"), expectation,
                                  result_of(framed({{"disk-docker", "root /d\nspace 1 2\ninodes 5 9\nend\n"}, {"weights", "config /m\nshards 1 /m\nbytes 1 2 /m\nend\n"}})));
  ASSERT_TRUE(verdict.error);
  EXPECT_EQ(verdict.error->code, Errc::integrity);
  EXPECT_NE(verdict.error->message.find("n5"), std::string::npos);
  EXPECT_NE(verdict.error->message.find("1 more"), std::string::npos);
  EXPECT_FALSE(verdict.error->hint.empty());
}

TEST(JudgeNode, An_expectation_that_is_none_is_an_internal_error) {
  const auto verdict = judge_node(step_on("n5"), "[]", result_of(""));
  ASSERT_TRUE(verdict.error);
  EXPECT_EQ(verdict.error->code, Errc::internal);
}

const Agreement k_about{"image-id", "the image's id", Errc::integrity, "load one image"};

TEST(Agreement, The_odd_one_out_is_named_with_the_majority) {
  const auto findings = disagreements(k_about, {{"n5", "a"}, {"n6", "a"}, {"n7", "b"}, {"n8", "a"}});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].node, "n7");
  EXPECT_EQ(findings[0].got, "b");
  EXPECT_EQ(findings[0].expected, "a (on n[5-6,8])");
  EXPECT_EQ(findings[0].failure, Errc::integrity);
}

TEST(Agreement, A_tie_shows_both_sides_and_chooses_none) {
  const auto findings = disagreements(k_about, {{"n5", "a"}, {"n6", "a"}, {"n7", "b"}, {"n8", "b"}});
  ASSERT_EQ(findings.size(), 4U);
  for (const auto& one : findings) EXPECT_NE(one.message.find("no majority"), std::string::npos);
}

TEST(Agreement, Equal_values_are_no_finding) { EXPECT_TRUE(disagreements(k_about, {{"n5", "a"}, {"n6", "a"}}).empty()); }

TEST(Agreement, Image_ids_of_all_nodes_are_compared_for_each_image) {
  const std::string a = "sha256:" + std::string(64, 'a'), b = "sha256:" + std::string(64, 'b');
  const auto five = result_of(framed({{"image", "image " + a + " amd64 1 x:1\nimage " + a + " amd64 1 y:1\nend\n"}}));
  const auto six = result_of(framed({{"image", "image " + a + " amd64 1 x:1\nimage " + a + " amd64 1 y:1\nend\n"}}));
  const auto seven = result_of(framed({{"image", "image " + b + " amd64 1 x:1\nimage " + a + " amd64 1 y:1\nend\n"}}));
  const std::vector<run::NodeOutput> nodes = {{"n5", &five}, {"n6", &six}, {"n7", &seven}};
  plan::Stage stage;
  const auto verdict = judge_agreement(stage, R"({"facts":["image-id","weights-bytes"]})", nodes);
  EXPECT_FALSE(verdict.ok);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].node, "n7");
  ASSERT_TRUE(verdict.error);
  EXPECT_EQ(verdict.error->code, Errc::integrity);
  EXPECT_TRUE(judge_agreement(stage, R"({"facts":["image-id"]})", {{"n5", &five}, {"n6", &six}}).ok);
}

}  // namespace
}  // namespace sskj::checks
