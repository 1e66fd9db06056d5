#include "support/plan_bytes.hpp"

#include "unit/plan/sample_plan.hpp"

namespace sskj::test {
namespace {

TEST(PlanBytes, What_the_transport_receives_is_what_the_dry_run_shows) { EXPECT_TRUE(sends_exactly_its_json(plan::sample_plan())); }

TEST(PlanBytes, An_invalid_plan_is_refused) {
  plan::Plan plan = plan::sample_plan();
  plan.stages[0].steps[0].node = "elsewhere";
  EXPECT_FALSE(sends_exactly_its_json(plan));
}

}  // namespace
}  // namespace sskj::test
