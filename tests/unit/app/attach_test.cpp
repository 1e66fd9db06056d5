// attach and history over run directories made here: what they say, how they end, and that looking on leaves a run alone.
#include "attach.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "history.hpp"
#include "run_record.hpp"
#include "unit/plan/sample_plan.hpp"

namespace sskj::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* k_id = "20260101-000000-abcd";

struct Said {
  std::string out, err;
  ExitCode code = ExitCode::internal;
  [[nodiscard]] json document() const { return json::parse(out); }
};

/// Whether a process has a handler of its own for a signal.
bool catches(pid_t process, int signal) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigCgt:")) return ((std::stoull(line.substr(7), nullptr, 16) >> static_cast<unsigned>(signal - 1)) & 1U) != 0;
  }
  return false;
}

class AttachTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "sskj-attach-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    ::setenv("XDG_STATE_HOME", root_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("XDG_STATE_HOME");
    fs::remove_all(root_);
  }

  std::unique_ptr<run::Journal> begin(const std::string& id = k_id) {
    Request request;
    request.command_line = "sskj start -p kimi3.env --set 'A=b c'";
    auto opened = run::Journal::open(plan_, journal_options(request, id));
    EXPECT_TRUE(opened);
    return std::move(*opened);
  }
  void first_events(run::Journal& journal) const {
    journal.on(run::RunStarted{&plan_, {k_id, "digest", "2026-01-01T00:00:00Z"}, journal.directory()});
    journal.on(run::StageStarted{&plan_.stages[0], 1, 3});
    journal.on(run::StepStarted{&plan_.stages[0].steps[0]});
  }
  void last_events(run::Journal& journal, ExitCode code) const {
    run::RunFinished finished;
    finished.code = code;
    finished.all_codes = {code};
    finished.summary.hosts = {{"10.0.0.1", run::HostClass::ok}, {"10.0.0.2", run::HostClass::failed}};
    finished.elapsed = run::Millis{61'000};
    journal.on(finished);
  }
  static Said look(std::vector<std::string> argv, ExitCode (*verb)(const Request&, view::Output&)) {
    const auto parsed = parse_request(argv, [](const std::string&) { return std::nullopt; });
    Said said;
    if (!parsed.request) {
      ADD_FAILURE() << parsed.error->message;
      return said;
    }
    view::Output output{view::string_stream(said.out), view::string_stream(said.err), false, false, false, 80, 24};
    said.code = verb(*parsed.request, output);
    return said;
  }
  static Said attached(std::vector<std::string> more) {
    more.insert(more.begin(), "attach");
    return look(std::move(more), attach);
  }

  plan::Plan plan_ = plan::sample_plan();
  fs::path root_;
};

TEST_F(AttachTest, A_finished_run_ends_with_its_own_summary_and_code) {
  const auto journal = begin();
  first_events(*journal);
  last_events(*journal, ExitCode::locked);
  const Said text = attached({k_id});
  EXPECT_EQ(text.code, ExitCode::locked);
  EXPECT_NE(text.err.find("stage 1/3 place files"), std::string::npos) << text.err;
  EXPECT_TRUE(text.err.ends_with("start: failed (exit 6) · 2 nodes: 1 ok, 1 failed · after 1m01s\n")) << text.err;
  const Said document = attached({"latest", "--json"});
  EXPECT_EQ(document.code, ExitCode::locked);
  EXPECT_EQ(document.document()["exit_code"], 6);
  EXPECT_EQ(document.document()["died"], false);
  EXPECT_EQ(document.document()["run"], k_id);
}

TEST_F(AttachTest, Ndjson_repeats_the_events_with_their_times) {
  const auto journal = begin();
  first_events(*journal);
  last_events(*journal, ExitCode::done);
  const Said said = attached({k_id, "-o", "ndjson"});
  EXPECT_EQ(said.code, ExitCode::done);
  EXPECT_EQ(std::count(said.out.begin(), said.out.end(), '\n'), 4);
  EXPECT_TRUE(json::parse(said.out.substr(0, said.out.find('\n')))["at"].is_string());
}

TEST_F(AttachTest, A_run_that_is_gone_died) {
  first_events(*begin());
  const Said text = attached({k_id});
  EXPECT_EQ(text.code, ExitCode::not_ready);
  EXPECT_NE(text.err.find("the run died"), std::string::npos) << text.err;
  EXPECT_NE(text.err.find("in stage \"place files\""), std::string::npos) << text.err;
  EXPECT_NE(text.err.find("next: sskj start -p kimi3.env --set 'A=b c'"), std::string::npos) << text.err;
  EXPECT_NE(text.err.find("start: died (exit 5)"), std::string::npos) << text.err;
  const Said document = attached({k_id, "--json"});
  EXPECT_EQ(document.document()["died"], true);
  EXPECT_EQ(document.document()["hosts"]["ok"], 0);
}

TEST_F(AttachTest, A_run_that_died_before_its_first_event_says_that) {
  begin().reset();
  const Said text = attached({k_id});
  EXPECT_EQ(text.code, ExitCode::not_ready);
  EXPECT_NE(text.err.find("it never said anything"), std::string::npos) << text.err;
}

TEST_F(AttachTest, A_torn_last_line_does_not_hide_the_rest_and_a_damaged_one_is_told) {
  const auto journal = begin();
  first_events(*journal);
  const std::string path = journal->directory() + "/events.ndjson";
  FILE* file = std::fopen(path.c_str(), "a");
  ASSERT_NE(file, nullptr);
  std::fputs("{\"event\":\"st\xff\n", file);
  std::fclose(file);
  last_events(*journal, ExitCode::done);
  const Said said = attached({k_id});
  EXPECT_EQ(said.code, ExitCode::done);
  EXPECT_NE(said.err.find("line 4 of"), std::string::npos) << said.err;
  EXPECT_NE(said.err.find("is left out: not JSON"), std::string::npos) << said.err;
}

TEST_F(AttachTest, A_journal_whose_disk_was_full_ends_as_its_summary_says) {
  auto journal = begin();
  first_events(*journal);
  last_events(*journal, ExitCode::done);
  const std::string events = journal->directory() + "/events.ndjson";
  journal.reset();
  fs::resize_file(events, fs::file_size(events) - 20);
  const Said said = attached({k_id});
  EXPECT_EQ(said.code, ExitCode::done);
  EXPECT_TRUE(said.err.ends_with("start: done in 1m01s · 2 nodes: 1 ok, 1 failed\n")) << said.err;
}

// A writer in another process, as it is in life: attach shows what comes and ends when it ends.
TEST_F(AttachTest, Follows_a_living_run_to_its_end) {
  auto journal = begin();
  const pid_t writer = ::fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    first_events(*journal);
    ::usleep(600'000);
    last_events(*journal, ExitCode::done);
    ::usleep(100'000);
    ::_exit(0);
  }
  journal.reset();  // the child holds the lock on
  const Said said = attached({"latest"});
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, 0), writer);
  EXPECT_EQ(said.code, ExitCode::done);
  EXPECT_TRUE(said.err.ends_with("start: done in 1m01s · 2 nodes: 1 ok, 1 failed\n")) << said.err;
}

TEST_F(AttachTest, Notices_that_the_run_it_follows_is_killed) {
  auto journal = begin();
  const pid_t writer = ::fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    first_events(*journal);
    ::usleep(400'000);
    ::kill(::getpid(), SIGKILL);
  }
  journal.reset();
  const Said said = attached({k_id});
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, 0), writer);
  EXPECT_EQ(said.code, ExitCode::not_ready);
  EXPECT_NE(said.err.find("the run died"), std::string::npos) << said.err;
}

TEST_F(AttachTest, A_signal_and_the_timeout_leave_the_run_alone) {
  const auto journal = begin();
  first_events(*journal);
  const Said late = attached({k_id, "--timeout", "300ms"});
  EXPECT_EQ(late.code, ExitCode::deadline);
  EXPECT_NE(late.err.find("left run " + std::string(k_id) + " alone: it goes on; to look again: sskj attach"), std::string::npos) << late.err;
  const pid_t killer = ::fork();
  ASSERT_GE(killer, 0);
  if (killer == 0) {
    for (int i = 0; i < 1000 && !catches(::getppid(), SIGINT); ++i) ::usleep(20'000);
    ::kill(::getppid(), SIGINT);
    ::_exit(0);
  }
  const Said left = attached({k_id, "--json"});
  ASSERT_EQ(::waitpid(killer, nullptr, 0), killer);
  EXPECT_EQ(left.code, ExitCode::interrupted);
  EXPECT_EQ(left.document()["exit_code"], 130);
  EXPECT_TRUE(run::is_held(journal->directory()));
}

TEST_F(AttachTest, Chooses_the_latest_of_a_profile_and_names_the_nearest_id) {
  last_events(*begin("20260101-000000-0001"), ExitCode::locked);
  plan_.deployment = plan_.profile = "other";
  last_events(*begin("20260102-000000-0002"), ExitCode::done);
  EXPECT_EQ(attached({"latest"}).code, ExitCode::done);
  EXPECT_EQ(attached({"latest", "-p", "kimi3.env"}).code, ExitCode::locked);
  EXPECT_EQ(attached({"latest", "-p", "kimi"}).code, ExitCode::locked) << "by the name of the deployment";
  EXPECT_EQ(attached({"latest", "-p", "no-such-profile"}).code, ExitCode::usage);
  const Said wrong = attached({"20260102-000000-0003"});
  EXPECT_EQ(wrong.code, ExitCode::usage);
  EXPECT_NE(wrong.err.find("did you mean `sskj attach 20260102-000000-0002`"), std::string::npos) << wrong.err;
  EXPECT_EQ(attached({"../runs/20260102-000000-0002"}).code, ExitCode::usage);
}

TEST_F(AttachTest, Without_any_run_it_says_so) {
  const Said none = attached({"latest"});
  EXPECT_EQ(none.code, ExitCode::usage);
  EXPECT_NE(none.err.find("there is no run in"), std::string::npos) << none.err;
  const Said list = look({"history"}, history);
  EXPECT_EQ(list.code, ExitCode::done);
  EXPECT_NE(list.err.find("no run has left a record"), std::string::npos) << list.err;
  EXPECT_EQ(look({"history", "--json"}, history).document()["runs"], json::array());
}

TEST_F(AttachTest, History_tells_living_from_dead) {
  last_events(*begin("20260101-000000-0001"), ExitCode::done);
  begin("20260102-000000-0002").reset();
  const auto living = begin("20260103-000000-0003");
  last_events(*begin("20260104-000000-0004"), ExitCode::interrupted);
  std::vector<std::string> states;
  const json document = look({"history", "--json"}, history).document();
  for (const auto& row : document["runs"]) states.push_back(row["state"]);
  EXPECT_EQ(states, (std::vector<std::string>{"failed", "running", "died", "done"}));
  EXPECT_EQ(look({"history", "--json", "-p", "kimi"}, history).document()["runs"].size(), 4U);
  EXPECT_EQ(look({"history", "--json", "-p", "nothing-like-it"}, history).code, ExitCode::usage);
  EXPECT_NE(look({"history"}, history).out.find("2026-01-03T00:00:00Z"), std::string::npos);
}

TEST(PruneLimits, Come_from_the_environment_and_say_what_is_no_number) {
  const auto with = [](std::map<std::string, std::string> env, std::string& fault) {
    return prune_limits([env](const std::string& name) { return env.contains(name) ? std::optional<std::string>(env.at(name)) : std::nullopt; }, fault);
  };
  std::string fault;
  const auto set = with({{"SSKJ_KEEP_RUNS", "7"}, {"SSKJ_KEEP_DAYS", "2"}, {"SSKJ_KEEP_MIB", "3"}}, fault);
  EXPECT_EQ(set.max_runs, 7U);
  EXPECT_EQ(set.max_age, 2 * 24 * 3600);
  EXPECT_EQ(set.max_bytes, std::uint64_t{3} << 20U);
  EXPECT_EQ(fault, "");
  const auto wrong = with({{"SSKJ_KEEP_RUNS", "0"}, {"SSKJ_KEEP_DAYS", "-1"}, {"SSKJ_KEEP_MIB", "2g"}}, fault);
  EXPECT_EQ(wrong.max_runs, 200U);
  EXPECT_EQ(wrong.max_age, 30 * 24 * 3600);
  EXPECT_EQ(wrong.max_bytes, std::uint64_t{2} << 30U);
  for (const char* name : {"SSKJ_KEEP_RUNS=0", "SSKJ_KEEP_DAYS=-1", "SSKJ_KEEP_MIB=2g"}) EXPECT_NE(fault.find(name), std::string::npos) << fault;
}

}  // namespace
}  // namespace sskj::app
