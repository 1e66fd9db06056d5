// Order, barriers, budgets, conditions, undo, exit codes.
#include "unit/run/fixture.hpp"

namespace sskj::test {
namespace {

class Executor : public RunTest {};

TEST_F(Executor, Start_returns_at_once_and_calls_back_from_the_loop) {
  nodes({"n1"});
  stage("s", {script("a", "n1")});
  fake_.accept_everything();
  begin();
  EXPECT_THAT(log_.lines(), IsEmpty());
  fake_.run_until_idle();
  EXPECT_EQ(code_, ExitCode::done);
}

TEST_F(Executor, Stages_are_barriers_and_steps_of_a_node_run_in_list_order) {
  nodes({"n1", "n2"});
  stage("s", {script("a", "n1"), script("b", "n2"), script("c", "n1")});
  stage("t", {script("d", "n2")});
  fake_.on_script("n1", "", {reply().after(5s)});
  fake_.accept_everything();
  EXPECT_EQ(run_all(), ExitCode::done);
  EXPECT_THAT(scripts_of("n1"), ElementsAre("a", "c"));
  EXPECT_THAT(scripts_of("n2"), ElementsAre("b", "d"));
  EXPECT_TRUE(before("c ok", "stage s ok"));
  EXPECT_TRUE(before("stage s ok", "step d"));
  EXPECT_EQ(fake_.sent_to("n2")[1].at, 10s);
}

}  // namespace
}  // namespace sskj::test
