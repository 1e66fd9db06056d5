// Judges of what nodes say about files, containers and locks.
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "judges.hpp"

namespace sskj::recipes {
namespace {

plan::Step on(std::string node) {
  plan::Step step;
  step.id = "x." + node;
  step.node = std::move(node);
  return step;
}

run::StepResult said(std::string out, int status = 0) {
  run::StepResult result;
  result.status = status == 0 ? run::StepStatus::ok : run::StepStatus::failed;
  result.exit_status = status;
  result.out = std::move(out);
  return result;
}

run::StepResult failed(Errc code, std::string message) {
  run::StepResult result;
  result.status = run::StepStatus::failed;
  result.error = Error{code, std::move(message), "hint"};
  return result;
}

const std::string k_files = R"({"files":[{"name":"p","path":"/a b","sha256":"aa","carried":true,"source":""}]})";

TEST(Artifacts, Are_in_place_with_their_sha256_or_fail_as_integrity) {
  EXPECT_TRUE(judge_artifacts(on("n5"), k_files, said("sha256 aa /a b\nend\n")).ok);
  for (const auto* out : {"sha256 bb /a b\nend\n", "missing /a b\nend\n", "strange /a b\nend\n", "unreadable /a b\nend\n", "end\n", "sha256 aa /a b\n", ""}) {
    const auto verdict = judge_artifacts(on("n5"), k_files, said(out));
    EXPECT_FALSE(verdict.ok) << out;
    ASSERT_TRUE(verdict.error) << out;
    EXPECT_EQ(verdict.error->code, Errc::integrity) << out;
  }
}

TEST(Artifacts, Without_a_declared_sha256_must_be_equal_on_all_nodes) {
  const auto a = said("sha256 aa /p\nend\n"), b = said("sha256 bb /p\nend\n");
  EXPECT_TRUE(judge_artifacts_equal({}, "{}", {{"n5", &a}, {"n6", &a}}).ok);
  const auto verdict = judge_artifacts_equal({}, "{}", {{"n5", &a}, {"n6", &a}, {"n7", &b}});
  EXPECT_FALSE(verdict.ok);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].node, "n7");
  EXPECT_EQ(verdict.error->code, Errc::integrity);
}

TEST(Running, Wants_running_unrestarted_containers_of_this_run) {
  const std::string names = R"({"names":["a_node0"]})";
  EXPECT_TRUE(judge_running(on("n5"), names, said("container a_node0 running 0 0 ours\nend\n")).ok);
  for (const auto* out : {"container a_node0 exited 0 137 ours\nend\n", "container a_node0 running 1 0 ours\nend\n", "container a_node0 running 0 0 other\nend\n", "missing a_node0\nend\n",
                          "end\n", "", "container a_node0 running 0 0 ours\n", "container b_node0 running 0 0 ours\nend\n"}) {
    const auto verdict = judge_running(on("n5"), names, said(out));
    EXPECT_FALSE(verdict.ok) << out;
    EXPECT_EQ(verdict.error->code, Errc::not_ready) << out;
  }
}

TEST(Locks, Unreachable_nodes_are_left_out_and_named) {
  const auto good = said("");
  const auto gone = failed(Errc::unreachable, "n6: no route");
  const auto verdict = judge_locks({}, "{}", {{"n5", &good}, {"n6", &gone}});
  EXPECT_TRUE(verdict.ok);
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].node, "n6");
}

TEST(Locks, A_held_lock_ends_the_stop) {
  const auto good = said("");
  const auto held = failed(Errc::locked, "n6: locked by run r1");
  const auto gone = failed(Errc::unreachable, "n7: no route");
  const auto verdict = judge_locks({}, "{}", {{"n5", &good}, {"n7", &gone}, {"n6", &held}});
  EXPECT_FALSE(verdict.ok);
  EXPECT_EQ(verdict.error->code, Errc::locked);
}

TEST(Locks, With_no_node_reachable_the_stop_fails) {
  const auto gone = failed(Errc::unreachable, "n6: no route");
  EXPECT_EQ(judge_locks({}, "{}", {{"n6", &gone}}).error->code, Errc::unreachable);
}

}  // namespace
}  // namespace sskj::recipes
