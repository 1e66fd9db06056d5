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
  /// A lock counts as stale after two seconds instead of twenty, so that a test can wait for it.
  static std::string quick(std::string text, const std::string& seconds = "2") {
    const auto at = text.find("\nstale=20\n");
    EXPECT_NE(at, std::string::npos) << text;
    return at == std::string::npos ? text : text.replace(at, 10, "\nstale=" + seconds + "\n");
  }
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
  Ran take(const std::string& run, const std::string& name = "alpha", const std::string& verb = "start") const { return as(run, quick(script(verb, "lock", name))); }
  /// Beats ten times a second for five seconds, in the background.
  std::string heart(const std::string& run, const std::string& name = "alpha") const {
    const auto body = temp_.path() / ("beat." + run);
    write_file(body, beat(name));
    return "( for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do HOME=" + temp_.path().string() + " SSKJ_RUN=" + run + " sh " + body.string() +
           " || exit; sleep 0.2; done ) >/dev/null 2>&1 &\n";
  }
  /// So many runs take the lock at once by lock.sh; whoever gets it keeps it alive until the others have an answer. Prints their statuses.
  std::string race(int count) const {
    const auto home = temp_.path().string();
    write_file(temp_.path() / "beat.sh", beat());
    return "cd " + home + "; rm -f status.* over; export HOME=" + home + "; for i in $(seq " + std::to_string(count) +
           "); do ( export SSKJ_RUN=run$i; sh lock.sh >out.$i 2>&1; s=$?; echo $s >status.$i; [ $s != 0 ] || for k in $(seq 100); do [ ! -e over ] || break; sh beat.sh; sleep 0.2; "
           "done ) & done; for k in $(seq 150); do [ $(ls status.* 2>/dev/null | wc -l) = " + std::to_string(count) + " ] && break; sleep 0.1; done; : >over; wait; cat status.*";
  }
  std::string beat(const std::string& name = "alpha") const {
    auto deployment = testing::small();
    deployment.name = name;
    deployment.state_dir = (temp_.path() / "state").string();
    return plan::script_of(testing::plan_of("start", deployment).heartbeat->steps.at(0));
  }
  /// `take` while the run `alive` holds the lock and its heart beats.
  Ran take_against(const std::string& alive, const std::string& run, const std::string& name = "alpha") const {
    const auto body = temp_.path() / "take.sh";
    write_file(body, quick(script("start", "lock", name)));
    return run_command(heart(alive) + "HOME=" + temp_.path().string() + " SSKJ_RUN=" + run + " sh " + body.string() + " 2>&1; status=$?; kill $! 2>/dev/null; exit $status");
  }
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
  const auto ran = take_against("r1", "r2");
  EXPECT_EQ(ran.status, 73);
  for (const char* said : {"run r1", "start of alpha", "sskj lock release -p alpha.env"}) EXPECT_NE(ran.out.find(said), std::string::npos) << said << ": " << ran.out;
  EXPECT_EQ(release("r2").out, "sskj: unchanged\n");
  EXPECT_TRUE(exists("lock"));
}

TEST_F(Lock, Twenty_at_once_have_exactly_one_winner) {
  for (int round = 0; round < 3; ++round) {
    const auto body = temp_.path() / "lock.sh";
    write_file(body, quick(script("start", "lock", "alpha"), "10"));  // twenty shells at once on a busy machine take seconds
    const auto statuses = run_command(race(20)).out;
    std::size_t won = 0, lost = 0;
    for (const auto& line : text::split_lines(statuses)) {
      won += line == "0" ? 1U : 0U;
      lost += line == "73" ? 1U : 0U;
    }
    EXPECT_EQ(won, 1U) << statuses;
    EXPECT_EQ(lost, 19U) << statuses;
    EXPECT_EQ(run_command("ls -A " + (temp_.path() / "state").string()).out, "audit.log\nclaim\nlock\nlock.beat\n");
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

TEST_F(Lock, Of_a_run_that_is_gone_is_taken_over_without_a_manual_step_and_the_audit_says_so) {
  ASSERT_EQ(take("r1").status, 0);
  const auto ran = take("r2");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_NE(read("lock").find("run=r2\n"), std::string::npos);
  const auto lines = text::split_lines(read("audit.log"));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[0].find(" run=r1 verb=start deployment=alpha owner="), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find(" took-over=r1 "), std::string::npos) << lines[1];
  const auto robbed = as("r1", beat());
  EXPECT_EQ(robbed.status, 73);
  EXPECT_NE(robbed.out.find("taken over by run r2"), std::string::npos) << robbed.out;
  EXPECT_EQ(as("r2", beat()).status, 0);
}

TEST_F(Lock, From_before_the_machine_was_booted_is_taken_over_at_once) {
  ASSERT_EQ(take("r1").status, 0);
  write_file(temp_.path() / "state" / "lock.beat", "another-boot 99999999\n");
  EXPECT_EQ(run_command("sed -i s/^boot=.*/boot=another/ " + (temp_.path() / "state" / "lock").string()).status, 0);
  EXPECT_EQ(as("r2", script("start", "lock", "alpha")).status, 0);  // with the real limit: it must not wait
}

TEST_F(Lock, Just_taken_beside_a_beat_that_an_older_run_left_is_not_stale) {
  ASSERT_EQ(take("r1").status, 0);
  write_file(temp_.path() / "state" / "lock.beat", "another-boot 5\n");
  const auto ran = as("r9", script("lock status", "holders", "alpha"));
  EXPECT_EQ(ran.out.find("lock beat_age=999999\n"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("lock stale"), std::string::npos) << ran.out;
}

TEST_F(Lock, A_stale_one_has_one_taker_too) {
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(take("r1").status, 0);
    write_file(temp_.path() / "state" / "lock.beat", "another-boot 5\n");
    EXPECT_EQ(run_command("sed -i s/^boot=.*/boot=another/ " + (temp_.path() / "state" / "lock").string()).status, 0);
    write_file(temp_.path() / "lock.sh", quick(script("start", "lock", "alpha"), "10"));
    const auto statuses = run_command(race(8)).out;
    EXPECT_EQ(statuses.size(), 7 * 3 + 2U) << statuses;
    EXPECT_NE(statuses.find("0\n"), std::string::npos) << statuses;
    fs::remove_all(temp_.path() / "state");
  }
}

TEST_F(Lock, That_somebody_released_ends_the_heart_of_its_run) {
  ASSERT_EQ(take("r1").status, 0);
  ASSERT_EQ(as("r9", script("lock release", "release", "alpha")).status, 0);
  const auto ran = as("r1", beat());
  EXPECT_EQ(ran.status, 73);
  EXPECT_NE(ran.out.find("released by somebody else"), std::string::npos) << ran.out;
  EXPECT_FALSE(exists("lock.beat"));
}

// Whoever sets the machine's clock must not free a lock or keep a dead one.
TEST_F(Lock, Ages_are_read_from_no_clock_that_can_be_set) {
  for (const auto& text : {script("start", "lock", "alpha"), beat(), script("status", "status", "alpha"), script("lock status", "holders", "alpha")}) {
    EXPECT_EQ(text.find("date +%s"), std::string::npos);
    EXPECT_EQ(text.find("stat -c"), std::string::npos);
    EXPECT_NE(text.find("/proc/uptime"), std::string::npos);
  }
}

TEST_F(Lock, Status_says_who_holds_the_node_since_when_and_whether_the_run_is_alive) {
  ASSERT_EQ(take("r1").status, 0);
  auto ran = as("r9", script("lock status", "holders", "alpha"));
  for (const char* said : {"lock run=r1\n", "lock age=", "lock beat_age=", "claim deployment=alpha\n", "end\n"}) EXPECT_NE(ran.out.find(said), std::string::npos) << said << "\n" << ran.out;
  EXPECT_EQ(ran.out.find("stale"), std::string::npos) << ran.out;
  write_file(temp_.path() / "state" / "lock.beat", "another-boot 5\n");
  EXPECT_EQ(run_command("sed -i s/^boot=.*/boot=another/ " + (temp_.path() / "state" / "lock").string()).status, 0);
  ran = as("r9", script("lock status", "holders", "alpha"));
  EXPECT_NE(ran.out.find("lock stale=1\n"), std::string::npos) << ran.out;
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
  EXPECT_EQ(take_against("r1", "r2").status, 73);
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
