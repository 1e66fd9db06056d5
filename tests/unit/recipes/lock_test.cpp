// Lock and claim, through real shells in a directory of one's own.
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "sskj/core/text.hpp"
#include "support/shell.hpp"

namespace sskj::recipes {
namespace {

namespace fs = std::filesystem;
using ::sskj::testing::Ran;
using ::sskj::testing::run_command;
using ::sskj::testing::run_script;
using ::sskj::testing::write_file;

class Lock : public ::testing::Test {
 protected:
  /// The script of `stage` on the first node, made for a deployment of this name.
  std::string script(const std::string& verb, const std::string& stage, const std::string& name, bool always = false) const {
    auto deployment = testing::small();
    deployment.name = name;
    deployment.profile = name + ".env";
    deployment.state_dir = (temp_.path() / "state").string();
    Request request;
    request.reason = "a test with\na second line";
    const auto plan = testing::plan_of(verb, deployment, request);
    return plan::script_of(always ? plan.always.at(0).steps.at(0) : testing::stage_of(plan, stage).steps.at(0));
  }
  std::string undo(const std::string& name) const {
    auto deployment = testing::small();
    deployment.name = name;
    deployment.state_dir = (temp_.path() / "state").string();
    return plan::script_of(testing::stage_of(testing::plan_of("start", deployment), "lock").undo.at(0));
  }
  Ran as(const std::string& run, const std::string& text) const { return run_script(text, "HOME=" + temp_.path().string() + " SSKJ_RUN=" + run + " SSKJ_PLAN=p1"); }
  Ran take(const std::string& run, const std::string& name = "alpha", const std::string& verb = "start") const { return as(run, script(verb, "lock", name)); }
  Ran release(const std::string& run, const std::string& name = "alpha") const { return as(run, script("start", "", name, true)); }
  bool exists(const std::string& name) const { return fs::exists(temp_.path() / "state" / name); }
  std::string read(const std::string& name) const { return deploy::testing::read_file((temp_.path() / "state" / name).string()).value_or(""); }

  ::sskj::testing::TempDir temp_;
};

TEST_F(Lock, Is_taken_kept_for_the_same_run_and_released) {
  auto ran = take("r1");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_EQ(ran.out, "sskj: changed\n");
  EXPECT_EQ(take("r1").out, "sskj: unchanged\n");
  for (const char* fact : {"version=1\n", "run=r1\n", "plan=p1\n", "deployment=alpha\n", "verb=start\n", "reason=a test with a second line\n", "owner=", "since=20"}) {
    EXPECT_NE(read("lock").find(fact), std::string::npos) << fact << "\n" << read("lock");
  }
  EXPECT_TRUE(exists("lock.beat"));
  EXPECT_EQ(release("r1").out, "sskj: changed\n");
  EXPECT_FALSE(exists("lock"));
  EXPECT_FALSE(exists("lock.beat"));
  EXPECT_TRUE(exists("claim"));
  EXPECT_EQ(release("r1").out, "sskj: unchanged\n");
}

TEST_F(Lock, Of_another_run_refuses_with_73_and_names_the_holder_and_the_way_out) {
  ASSERT_EQ(take("r1").status, 0);
  const auto ran = take("r2");
  EXPECT_EQ(ran.status, 73);
  for (const char* said : {"run r1", "start of alpha", "sskj lock release -p alpha.env"}) EXPECT_NE(ran.out.find(said), std::string::npos) << said << ": " << ran.out;
  EXPECT_EQ(release("r2").out, "sskj: unchanged\n");
  EXPECT_TRUE(exists("lock"));
}

TEST_F(Lock, Twenty_at_once_have_exactly_one_winner) {
  for (int round = 0; round < 5; ++round) {
    const auto body = temp_.path() / "lock.sh";
    write_file(body, script("start", "lock", "alpha"));
    const auto command = "cd " + temp_.path().string() + "; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do ( HOME=" + temp_.path().string() +
                         " SSKJ_RUN=run$i sh lock.sh >/dev/null 2>&1; echo $? >status.$i ) & done; wait; cat status.*";
    const auto statuses = run_command(command).out;
    std::size_t won = 0, lost = 0;
    for (const auto& line : text::split_lines(statuses)) {
      won += line == "0" ? 1U : 0U;
      lost += line == "73" ? 1U : 0U;
    }
    EXPECT_EQ(won, 1U) << statuses;
    EXPECT_EQ(lost, 19U) << statuses;
    EXPECT_EQ(run_command("ls -A " + (temp_.path() / "state").string()).out, "claim\nlock\nlock.beat\n");
    fs::remove_all(temp_.path() / "state");
  }
}

// The claim of a deployment that has containers cannot be tested without a docker engine (tests/e2e does): here docker does not answer, which must count as claimed.
TEST_F(Lock, A_node_claimed_by_another_deployment_is_refused_with_66_and_not_left_locked) {
  ASSERT_EQ(take("r1", "alpha").status, 0);
  ASSERT_EQ(release("r1", "alpha").status, 0);
  const auto ran = run_script("docker() { return 1; }\ntimeout() { return 1; }\n" + script("start", "lock", "beta"), "HOME=" + temp_.path().string() + " SSKJ_RUN=r2");
  EXPECT_EQ(ran.status, 66) << ran.out;
  EXPECT_NE(ran.out.find("claimed by deployment alpha"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("sskj stop -p alpha.env"), std::string::npos) << ran.out;
  EXPECT_FALSE(exists("lock"));
  EXPECT_NE(read("claim").find("deployment=alpha"), std::string::npos);
}

TEST_F(Lock, Stop_takes_the_lock_without_a_claim) {
  EXPECT_EQ(take("r1", "alpha", "stop").status, 0);
  EXPECT_TRUE(exists("lock"));
  EXPECT_FALSE(exists("claim"));
}

TEST_F(Lock, Release_by_force_says_who_held_it) {
  ASSERT_EQ(take("r1").status, 0);
  const auto ran = as("r9", script("lock release", "release", "alpha"));
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(ran.out.find("released: run r1"), std::string::npos) << ran.out;
  EXPECT_FALSE(exists("lock"));
  EXPECT_EQ(as("r9", script("lock release", "release", "alpha")).out, "sskj: unchanged\n");
}

TEST_F(Lock, A_state_directory_that_cannot_be_written_falls_back_to_the_home_directory) {
  write_file(temp_.path() / "state", "a file is in the way");
  EXPECT_EQ(take("r1").status, 0);
  EXPECT_TRUE(fs::exists(temp_.path() / ".sskj" / "lock"));
  EXPECT_EQ(take("r2").status, 73);
  EXPECT_EQ(release("r1").status, 0);
  EXPECT_FALSE(fs::exists(temp_.path() / ".sskj" / "lock"));
}

TEST_F(Lock, Without_the_lock_nothing_is_removed_or_started) {
  ASSERT_EQ(take("r1").status, 0);
  for (const auto* stage : {"drain", "remove", "run"}) {
    const auto ran = as("r2", script("start", stage, "alpha"));
    EXPECT_EQ(ran.status, 73) << stage << ran.out;
    EXPECT_NE(ran.out.find("run r1"), std::string::npos) << ran.out;
  }
  ASSERT_EQ(release("r1").status, 0);
  EXPECT_EQ(as("r2", script("start", "remove", "alpha")).status, 73);
}

TEST_F(Lock, Undo_takes_back_only_a_claim_of_this_run) {
  ASSERT_EQ(take("r1").status, 0);
  const std::string no_containers = "timeout() { return 0; }\n";
  EXPECT_EQ(as("r2", no_containers + undo("alpha")).out, "sskj: unchanged\n");
  EXPECT_TRUE(exists("claim"));
  EXPECT_EQ(as("r1", "timeout() { return 1; }\n" + undo("alpha")).out, "sskj: unchanged\n");
  EXPECT_TRUE(exists("claim"));
  EXPECT_EQ(as("r1", no_containers + undo("alpha")).out, "sskj: changed\n");
  EXPECT_FALSE(exists("claim"));
}

}  // namespace
}  // namespace sskj::recipes
