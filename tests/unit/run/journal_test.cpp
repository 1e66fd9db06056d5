// The run directory: what it holds, after a clean end, after kill -9 and on a full disk.
#include "sskj/run/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "sskj/run/event_json.hpp"
#include "unit/run/journal_fixture.hpp"

namespace sskj::test {
namespace {

TEST_F(JournalTest, Holds_plan_events_raw_output_and_summary_for_the_owner_only) {
  const auto journal = open(options());
  run_with(*journal);
  EXPECT_EQ(code_, ExitCode::done);
  EXPECT_EQ(slurp(at("plan.json")), plan::to_json(plan_));
  EXPECT_EQ(slurp(at("nodes/n1/a.out")), "raw \xff\x1b[0m\n");
  EXPECT_EQ(slurp(at("nodes/n1/a.err")), "warned\n");
  EXPECT_EQ(slurp(at("nodes/n%2F2/b.out")), "ok");
  EXPECT_EQ(slurp(at("nodes/n1/log.out")), "line 1\nline 2\n") << "streamed output is written once";
  EXPECT_FALSE(fs::exists(at("nodes/n1/log.err")));
  const json summary = json::parse(slurp(at("summary.json")));
  EXPECT_EQ(summary["code"], 0);
  EXPECT_EQ(summary["hosts"], json::parse(R"({"n1": "ok", "n/2": "ok"})"));
  EXPECT_EQ(fs::status(at("")).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(at("events.ndjson")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_THAT(errors_, IsEmpty());
}

TEST_F(JournalTest, Replays_the_events_in_order_as_valid_json) {
  const auto journal = open(options());
  run_with(*journal);
  const auto replayed = events_of(slurp(at("events.ndjson")));
  std::vector<json> expected;
  for (const auto& event : log_.events()) {
    if (!std::holds_alternative<run::StepOutput>(event)) expected.push_back(json::parse(run::event_to_json(event, {"2026-01-01T00:00:00.000Z", 64U << 10})));
  }
  EXPECT_EQ(replayed, expected);
  EXPECT_EQ(replayed.front()["event"], "run_started");
  EXPECT_EQ(replayed.front()["plan_digest"], plan::digest(plan_));
  EXPECT_EQ(replayed.back()["event"], "run_finished");
}

TEST_F(JournalTest, Is_locked_while_the_run_lives) {
  auto journal = open(options());
  const int directory = ::open(at("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(directory, 0);
  EXPECT_NE(::flock(directory, LOCK_SH | LOCK_NB), 0);
  journal.reset();
  EXPECT_EQ(::flock(directory, LOCK_SH | LOCK_NB), 0);
  ::close(directory);
}

TEST_F(JournalTest, A_directory_that_has_its_name_is_locked_and_whole) {
  // Seen from outside at every moment: whoever finds the run finds its plan and the lock.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (int i = 0; i < 100; ++i) {
      auto journal = run::Journal::open(plan_, options(fmt::format("20260101-0000{:02}-abcd", i % 60) + std::to_string(i)));
      if (!journal) ::_exit(1);
      ::usleep(500);
      (*journal)->on(run::RunFinished{});
    }
    ::_exit(0);
  }
  int status = 0;
  std::size_t seen = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    for (const auto& id : run::list_runs(runs())) {
      const auto record = run::read_run(runs(), id);
      EXPECT_NE(record.state, run::RunState::died) << id;
      EXPECT_TRUE(fs::exists(fs::path(record.directory) / "plan.json")) << id;
      ++seen;
    }
  }
  EXPECT_EQ(status, 0);
  EXPECT_GT(seen, 100U);
}

TEST_F(JournalTest, Says_in_run_json_what_it_is) {
  auto with = options();
  with.command = "sskj start -p 'a b'";
  with.pid = 4711;
  const auto journal = open(with);
  EXPECT_EQ(json::parse(slurp(at("run.json"))),
            json::parse(R"({"schema_version":1,"run":"20260101-000000-abcd","verb":"test","deployment":"","profile":"","command":"sskj start -p 'a b'","pid":4711})"));
}

TEST_F(JournalTest, Is_handed_over_without_letting_go_of_the_lock) {
  auto parent = open(options());
  const int inherited = ::dup(parent->lock_fd());  // as a child has it: another number for the same open file
  parent.reset();
  EXPECT_TRUE(run::is_held(at("").string())) << "the child holds it already";
  auto with = options();
  with.pid = 99;
  const auto child = run::Journal::adopt(plan_, with, inherited);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(::fcntl(inherited, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC) << "a child of the run would keep the lock after it";
  run_with(**child);
  EXPECT_EQ(json::parse(slurp(at("summary.json")))["code"], 0);
  EXPECT_EQ(json::parse(slurp(at("run.json")))["pid"], 99);
  EXPECT_TRUE(run::is_held(at("").string()));
}

TEST_F(JournalTest, Is_not_handed_over_through_another_descriptor) {
  const auto parent = open(options());
  const auto other = run::Journal::adopt(plan_, options(), ::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Errc::usage);
  EXPECT_THAT(other.error().message, HasSubstr("is not the run directory"));
  EXPECT_FALSE(run::Journal::adopt(plan_, options(), -1));
}

TEST_F(JournalTest, Leaves_nothing_behind_where_it_cannot_be_made) {
  const auto journal = open(options());
  ASSERT_FALSE(run::Journal::open(plan_, options()));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(runs())) names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, ElementsAre("20260101-000000-abcd"));
}

TEST_F(JournalTest, Kill_9_leaves_a_readable_prefix) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto journal = run::Journal::open(plan_, options());
    if (!journal) ::_exit(1);
    (*journal)->on(run::RunStarted{&plan_, {}, ""});
    (*journal)->on(run::StepOutput{&plan_.stages[1].steps[0], run::Stream::out, "half a li"});
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(events_of(slurp(at("events.ndjson"))).size(), 1U);
  EXPECT_EQ(slurp(at("nodes/n1/log.out")), "half a li");
  EXPECT_TRUE(plan::plan_from_json(slurp(at("plan.json"))));
  EXPECT_FALSE(fs::exists(at("summary.json")));
}

TEST_F(JournalTest, A_disk_that_fills_up_is_reported_once_and_the_run_goes_on) {
  const auto journal = open(options());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // then write() fails, as on a full disk
  const rlimit small{600, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  run_with(*journal);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(code_, ExitCode::done);
  ASSERT_EQ(errors_.size(), 1U);
  EXPECT_THAT(errors_[0].message, HasSubstr("incomplete from here on"));
  EXPECT_EQ(run::read_run(runs(), "20260101-000000-abcd").state, run::RunState::done) << "how it ended is tried to be kept all the same";
}

TEST_F(JournalTest, A_raw_file_is_bounded_and_says_so) {
  auto small = options();
  small.max_output_file = 10;
  const auto journal = open(small);
  run_with(*journal);
  EXPECT_EQ(slurp(at("nodes/n1/log.out")), "line 1\nlin\n[cut here: larger than the journal keeps]\n");
}

TEST_F(JournalTest, A_run_that_exists_or_a_place_that_cannot_be_written_is_an_error_with_the_way_out) {
  const auto journal = open(options());
  const auto again = run::Journal::open(plan_, options());
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("cannot be made: File exists"));
  auto nowhere = options();
  nowhere.state_directory = "/proc/nowhere";
  const auto refused = run::Journal::open(plan_, nowhere);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().hint, HasSubstr("XDG_STATE_HOME"));
}

TEST(EventJson, Has_stable_fields_and_valid_utf8_for_each_kind_of_event) {
  const plan::Plan plan = plan::sample_plan();
  const plan::Stage& stage = plan.stages[0];
  const plan::Step& step = stage.steps[0];
  run::StepResult result;
  result.step = step.id;
  result.node = step.node;
  result.status = StepStatus::failed;
  result.error = Error{Errc::integrity, "bad \xff", "do this"};
  result.exit_status = 65;
  result.out = "0123456789\xff";
  result.out_dropped = 5;
  result.http = run::HttpResponse{503, "body", false, Millis{7}};
  result.findings = {{"gpu-idle", run::FindingStatus::unknown, "n", "", "", "m", "", Errc::preflight}};
  result.last_lines = {"x"};
  const std::vector<std::pair<run::Event, const char*>> table{
      {run::StageStarted{&stage, 1, 3, true, false}, R"({"always":false,"count":3,"event":"stage_started","number":1,"stage":"put","title":"place files","undo":true})"},
      {run::StepStarted{&step}, R"({"event":"step_started","node":"10.0.0.1","step":"put.1","title":"run put.1"})"},
      {run::StepOutput{&step, run::Stream::err, "a\xff", true},
       "{\"event\":\"step_output\",\"node\":\"10.0.0.1\",\"step\":\"put.1\",\"stream\":\"err\",\"text\":\"a\xEF\xBF\xBD\",\"title\":\"run put.1\",\"watch\":true}"},
      {run::StepRetried{&step, "lost"}, R"({"event":"step_retried","node":"10.0.0.1","reason":"lost","step":"put.1","title":"run put.1"})"},
      {run::StepProgress{&step, "503"}, R"({"event":"step_progress","node":"10.0.0.1","step":"put.1","text":"503","title":"run put.1"})"},
      {run::PhaseReported{{"n", "w", "weights", 3, 9, true, "l", "c", "h"}},
       R"({"cause":"c","done":3,"event":"phase","fatal":true,"hint":"h","line":"l","node":"n","phase":"weights","step":"w","total":9})"},
      {run::FindingReported{{"disk", run::FindingStatus::fail, "n", "10 GiB", "1 GiB", "m", "h", Errc::preflight}},
       R"({"check":"disk","event":"finding","expected":"10 GiB","failure":"preflight","got":"1 GiB","hint":"h","message":"m","node":"n","status":"fail"})"},
      {run::ReportReady{{"status", R"({"state":"ready"})"}}, R"({"event":"report","kind":"status","report":{"state":"ready"}})"},
      {run::ReportReady{{"status", "not json"}}, R"({"event":"report","kind":"status","report":"not json"})"},
      {run::StageFinished{&stage, false, false, Millis{5}, Error{Errc::timeout, "late", ""}},
       R"({"elapsed_ms":5,"error":{"code":"timeout","message":"late"},"event":"stage_finished","ok":false,"skipped":false,"stage":"put","title":"place files"})"},
      {run::StepFinished{&step, result},
       "{\"attempts\":1,\"elapsed_ms\":0,\"error\":{\"code\":\"integrity\",\"hint\":\"do this\",\"message\":\"bad \xEF\xBF\xBD\"},\"event\":\"step_finished\",\"exit_status\":65,"
       "\"findings\":[{\"check\":\"gpu-idle\",\"message\":\"m\",\"node\":\"n\",\"status\":\"unknown\"}],\"http\":{\"body\":\"ody\",\"elapsed_ms\":7,\"status\":503,\"truncated\":"
       "false},\"last_lines\":[\"x\"],\"node\":\"10.0.0.1\",\"out\":\"89\xEF\xBF\xBD\",\"out_bytes\":16,\"status\":\"failed\",\"step\":\"put.1\",\"title\":\"run put.1\"}"}};
  for (const auto& [event, expected] : table) EXPECT_EQ(json::parse(run::event_to_json(event, {"", 3})).dump(), json::parse(expected).dump());
}

TEST(EventJson, Counts_of_a_summary_add_up) {
  run::RunFinished finished;
  finished.code = ExitCode::unreachable;
  finished.all_codes = {ExitCode::step_failed, ExitCode::unreachable};
  finished.summary.hosts = {{"a", run::HostClass::ok}, {"b", run::HostClass::failed}, {"c", run::HostClass::unreachable}, {"d", run::HostClass::ok}};
  const json value = json::parse(run::summary_json(finished));
  int sum = 0;
  for (const auto& count : value["counts"]) sum += count.get<int>();
  EXPECT_EQ(sum, 4);
  EXPECT_EQ(value["total"], 4);
  EXPECT_EQ(value["counts"]["ok"], 2);
  EXPECT_EQ(value["all_codes"], json::parse("[1, 4]"));
}

}  // namespace
}  // namespace sskj::test
