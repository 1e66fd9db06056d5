// The verdict over all nodes of a stage.
#include "unit/run/fixture.hpp"

namespace sskj::test {
namespace {

using run::HostClass;
using run::NodeOutput;

class StageVerdict : public RunTest {
 protected:
  StageVerdict() {
    nodes({"n1", "n2"});
    auto a = check("a", "n1"), b = check("b", "n2");
    a.on_failure = b.on_failure = plan::OnFailure::tolerate;
    stage("s", {a, b}).verdict = plan::Judgement{"same", R"({"x":1})"};
    stage("t", {script("later", "n1")});
    drivers_.stage_judges["same"] = [this](const plan::Stage& stage, std::string_view expectation, const std::vector<NodeOutput>& outputs) {
      EXPECT_EQ(stage.id, "s");
      EXPECT_EQ(expectation, R"({"x":1})");
      for (const auto& output : outputs) seen_.push_back(output.node + "=" + output.result->out);
      return verdict_;
    };
    fake_.on_script("n1", "a", {reply().out("ok 1").after(1s)});
    fake_.on_script("n2", "b", {reply().out("2")});
    fake_.accept_everything();
  }
  std::vector<std::string> seen_;
  run::Verdict verdict_;
};

TEST_F(StageVerdict, Sees_every_output_in_plan_order_and_decides_over_tolerated_failures) {
  verdict_.ok = true;
  verdict_.reports = {{"status", R"({"state":"ready"})"}};
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_THAT(seen_, ElementsAre("n1=ok 1", "n2=2"));
  EXPECT_TRUE(before("report status", "stage s ok"));
  EXPECT_EQ(status("later"), StepStatus::ok);
  EXPECT_EQ(host("n2"), HostClass::ok);
}

TEST_F(StageVerdict, Not_ok_fails_the_stage_with_its_error_and_the_nodes_that_failed) {
  verdict_.error = Error{Errc::integrity, "the nodes do not hold the same image", "sskj sync"};
  EXPECT_EQ(run_all(), ExitCode::integrity);
  EXPECT_EQ(log_.stage("s")->error->message, "the nodes do not hold the same image");
  EXPECT_TRUE(log_.stage("t")->skipped);
  EXPECT_EQ(host("n1"), HostClass::ok);
  EXPECT_EQ(host("n2"), HostClass::failed);
}

TEST_F(StageVerdict, Without_an_error_of_its_own_the_first_failing_finding_is_it_and_names_the_node) {
  verdict_.findings = {{"image", run::FindingStatus::fail, "n1", "id a", "id b", "another image", "pull", Errc::preflight}};
  EXPECT_EQ(run_all(), ExitCode::preflight);
  EXPECT_EQ(log_.stage("s")->error->message, "another image");
  EXPECT_TRUE(before("finding image n1 fail", "stage s failed"));
  EXPECT_EQ(host("n1"), HostClass::failed);
}

TEST_F(StageVerdict, An_unknown_judge_is_a_fault_of_ours) {
  drivers_.stage_judges.clear();
  EXPECT_EQ(run_all(), ExitCode::internal);
}

TEST_F(StageVerdict, Is_not_asked_after_an_interrupt) {
  begin();
  fake_.advance(500ms);
  executor_->request_cancel(ExitCode::interrupted);
  fake_.run_until_idle();
  EXPECT_THAT(seen_, IsEmpty());
  EXPECT_EQ(code_, ExitCode::interrupted);
}

TEST_F(StageVerdict, A_tolerated_stage_that_fails_sets_no_exit_code) {
  plan_.stages[0].on_failure = plan::OnFailure::tolerate;
  verdict_.error = Error{Errc::drift, "differs", ""};
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_FALSE(log_.stage("s")->ok);
  EXPECT_EQ(status("later"), StepStatus::ok);
  EXPECT_EQ(host("n2"), HostClass::ok);
}

}  // namespace
}  // namespace sskj::test
