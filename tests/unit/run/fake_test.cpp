// The strict fake keeps the contract of transport.hpp, or the tests over it prove nothing.
#include "unit/run/fixture.hpp"

namespace sskj::test {
namespace {

class Fake : public testing::Test {
 protected:
  Fake() { node_.id = "n1"; }
  run::CallId exec(std::string_view script, Millis deadline = Millis{0}) {
    return fake_.exec({&node_, script, "", {}, deadline}, {[this](run::Stream, std::string_view bytes) { output_ += bytes; },
                                                          [this](run::Outcome outcome) { outcomes_.push_back(std::move(outcome)); }});
  }
  plan::Node node_;
  StrictFakeTransport fake_;
  std::string output_;
  std::vector<run::Outcome> outcomes_;
};

TEST_F(Fake, An_exec_that_no_rule_expects_is_a_fault) {
  fake_.collect_unmatched();
  fake_.on_script("n2", "", {reply()});
  exec("rm -rf /");
  fake_.run_until_idle();
  EXPECT_THAT(fake_.unmatched(), ElementsAre("exec on n1: rm -rf /"));
  EXPECT_EQ(std::get<run::Exited>(outcomes_.at(0)).status, 127);
}

TEST_F(Fake, Handlers_come_from_the_loop_only_and_done_is_last) {
  fake_.on_script("n1", "", {reply().out("a", 1s).out("b", 2s).after(2s).status(3)});
  exec("x");
  EXPECT_THAT(outcomes_, IsEmpty());
  fake_.advance(1s);
  EXPECT_EQ(output_, "a");
  fake_.advance(5s);
  EXPECT_EQ(output_, "ab");
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_EQ(std::get<run::Exited>(outcomes_[0]).status, 3);
  EXPECT_EQ(fake_.now(), 6s);
}

TEST_F(Fake, A_deadline_ends_an_exec_once) {
  fake_.on_script("n1", "", {reply().after(10s)});
  exec("x", 4s);
  fake_.run_until_idle();
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<run::TimedOut>(outcomes_[0]));
  EXPECT_EQ(fake_.now(), 4s);
}

TEST_F(Fake, Cancel_is_answered_and_a_cancelled_timer_vanishes) {
  fake_.on_script("n1", "", {reply().forever()});
  const auto call = exec("x");
  bool fired = false;
  const auto timer = fake_.after(1s, [&fired] { fired = true; });
  fake_.cancel(call);
  fake_.cancel(timer);
  fake_.cancel(12345);
  EXPECT_THAT(outcomes_, IsEmpty());
  fake_.run_until_idle();
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<run::Cancelled>(outcomes_[0]));
  EXPECT_FALSE(fired);
}

}  // namespace
}  // namespace sskj::test
