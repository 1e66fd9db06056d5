// Lists of runs, what became of each, and how old ones make room.
#include "sskj/run/record.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sskj/run/prune.hpp"
#include "unit/run/journal_fixture.hpp"

namespace sskj::test {
namespace {

using run::RunState;

TEST(RunId, Holds_its_start) {
  EXPECT_EQ(run::start_of_run("19700102-000001-abcd"), 86401);
  EXPECT_EQ(run::start_of_run("20260228-235959-0"), 1772323199);
  for (const char* no : {"", "latest", "20260101-000000", "20260101-000000-", "20261301-000000-abcd", "20260230-000000-abcd", "20260101-240000-abcd", "20260101_000000-abcd",
                         "2026010a-000000-abcd", "20260101-000000-ab/d", "20260101-000000-..", ".new-20260101-000000-abcd", "20260101-000000-ABCD"}) {
    EXPECT_FALSE(run::start_of_run(no)) << no;
  }
}

TEST(Time, Is_read_as_it_is_written) {
  EXPECT_EQ(run::parse_time("1970-01-01T00:00:01Z"), Millis{1000});
  EXPECT_EQ(run::parse_time("1970-01-01T00:00:01.25Z"), Millis{1250});
  EXPECT_EQ(run::parse_time("1970-01-01T00:00:01.2509999Z"), Millis{1250});
  EXPECT_EQ(run::format_time(run::parse_time("2026-12-31T23:59:58Z")->count() / 1000), "2026-12-31T23:59:58Z");
  for (const char* no : {"", "Z", "1970-01-01", "1970-01-01T00:00:01", "1970-01-01 00:00:01Z", "1970-01-01T00:00:01.xZ", "1970-01-01T00:00:01+01:00", "1970-13-01T00:00:01Z"}) {
    EXPECT_FALSE(run::parse_time(no)) << no;
  }
}

class RecordTest : public JournalTest {
 protected:
  std::unique_ptr<run::Journal> begin(const std::string& id) {
    auto with = options(id);
    with.command = "sskj test " + id;
    with.pid = 12;
    return open(with);
  }
  void ended(const std::string& id, ExitCode code = ExitCode::done) {
    run::RunFinished finished;
    finished.code = code;
    finished.elapsed = 65s;
    begin(id)->on(finished);
  }
  [[nodiscard]] fs::path in(const std::string& id, const char* name = "") const { return fs::path(runs()) / id / name; }
  [[nodiscard]] RunState state(const std::string& id) const { return run::read_run(runs(), id).state; }
  void fill(const std::string& id, std::size_t bytes) const {
    fs::create_directories(in(id, "nodes/n"));
    std::ofstream(in(id, "nodes/n/x.out")) << std::string(bytes, 'x');
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(runs())) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  run::Pruned prune(const run::PruneLimits& limits, const std::string& keep = "", const char* now = "2026-02-01T00:00:00Z") const {
    return run::prune_runs(runs(), run::parse_time(now)->count() / 1000, limits, keep);
  }
};

TEST_F(RecordTest, Says_what_became_of_each_run_newest_first) {
  ended("20260103-000000-0001");
  ended("20260102-000000-0002", ExitCode::locked);
  const auto living = begin("20260104-000000-0003");
  begin("20260101-000000-0004");  // let go without an end: what kill -9 does
  fs::create_directories(in("not a run"));
  std::ofstream(in("20260105-000000-0005.txt").parent_path()) << "a file";
  fs::create_directory_symlink(in("20260103-000000-0001"), fs::path(runs()) / "20260106-000000-0006");
  const auto ids = run::list_runs(runs());
  EXPECT_THAT(ids, ElementsAre("20260104-000000-0003", "20260103-000000-0001", "20260102-000000-0002", "20260101-000000-0004"));
  std::vector<RunState> states;
  for (const auto& id : ids) states.push_back(state(id));
  EXPECT_THAT(states, ElementsAre(RunState::running, RunState::done, RunState::failed, RunState::died));
  const auto failed = run::read_run(runs(), "20260102-000000-0002");
  EXPECT_EQ(failed.finished->code, ExitCode::locked);
  EXPECT_EQ(failed.finished->elapsed, 65s);
  EXPECT_EQ(failed.info.command, "sskj test 20260102-000000-0002");
  EXPECT_EQ(failed.info.verb, "test");
  EXPECT_EQ(failed.info.pid, 12);
  EXPECT_EQ(run::format_time(failed.started), "2026-01-02T00:00:00Z");
  EXPECT_THAT(run::list_runs("/nowhere"), IsEmpty());
}

TEST_F(RecordTest, Orders_runs_of_one_second_by_when_they_were_made) {
  for (const char* id : {"20260101-000000-ffff", "20260101-000000-0000", "20260101-000000-8888"}) {
    ended(id);
    ::usleep(20'000);  // coarse file time
  }
  EXPECT_THAT(run::list_runs(runs()), ElementsAre("20260101-000000-8888", "20260101-000000-0000", "20260101-000000-ffff"));
}

TEST_F(RecordTest, The_last_event_counts_where_the_summary_is_missing_or_torn) {
  ended("20260101-000000-0001", ExitCode::deadline);
  fs::remove(in("20260101-000000-0001", "summary.json"));
  EXPECT_EQ(run::read_run(runs(), "20260101-000000-0001").finished->code, ExitCode::deadline);
  std::ofstream(in("20260101-000000-0001", "summary.json")) << "{\"code\": 0";
  EXPECT_EQ(state("20260101-000000-0001"), RunState::failed);
  fs::resize_file(in("20260101-000000-0001", "events.ndjson"), fs::file_size(in("20260101-000000-0001", "events.ndjson")) - 1);
  EXPECT_EQ(state("20260101-000000-0001"), RunState::died) << "half a line says nothing";
}

TEST_F(RecordTest, Damaged_records_are_listed_with_what_can_be_read) {
  for (const char* text : {"", "{", "[]", "{\"verb\":7,\"pid\":-3}", "null"}) {
    begin("20260101-000000-0001");
    std::ofstream(in("20260101-000000-0001", "run.json")) << text;
    const auto record = run::read_run(runs(), "20260101-000000-0001");
    EXPECT_EQ(record.info.verb, "");
    EXPECT_EQ(record.info.pid, 0);
    EXPECT_EQ(record.state, RunState::died);
    fs::remove_all(in("20260101-000000-0001"));
  }
}

TEST_F(RecordTest, Asking_for_the_lock_does_not_take_it) {
  const auto living = begin("20260101-000000-0001");
  const std::string directory = in("20260101-000000-0001").string();
  EXPECT_TRUE(run::is_held(directory));
  EXPECT_TRUE(run::is_held(directory));
  EXPECT_FALSE(run::is_held("/nowhere"));
}

TEST_F(RecordTest, Prunes_by_count_oldest_first) {
  for (int day = 1; day <= 9; ++day) ended(fmt::format("2026010{}-000000-abcd", day));
  const auto pruned = prune({1'000'000'000, 6, 1U << 30U});
  EXPECT_EQ(pruned.removed, 3U);
  EXPECT_FALSE(pruned.fault);
  EXPECT_THAT(names(), ElementsAre("20260104-000000-abcd", "20260105-000000-abcd", "20260106-000000-abcd", "20260107-000000-abcd", "20260108-000000-abcd", "20260109-000000-abcd"));
}

TEST_F(RecordTest, Prunes_by_age) {
  ended("20260101-000000-0001");
  ended("20260102-000000-0002");
  EXPECT_EQ(prune({30 * 24 * 3600, 200, 1U << 30U}, "", "2026-02-01T00:00:00Z").removed, 1U);
  EXPECT_THAT(names(), ElementsAre("20260102-000000-0002"));
}

TEST_F(RecordTest, Prunes_by_size_and_measures_an_ended_run_once) {
  for (int day = 1; day <= 4; ++day) {
    const std::string id = fmt::format("2026010{}-000000-abcd", day);
    ended(id);
    fill(id, 100'000);
  }
  EXPECT_EQ(prune({1'000'000'000, 200, 350'000}).removed, 1U);
  EXPECT_THAT(names(), ElementsAre("20260102-000000-abcd", "20260103-000000-abcd", "20260104-000000-abcd"));
  EXPECT_GT(std::stoul(slurp(in("20260102-000000-abcd", "size"))), 100'000U);
  std::ofstream(in("20260103-000000-abcd", "size")) << "900000";
  EXPECT_EQ(prune({1'000'000'000, 200, 350'000}).removed, 2U) << "what it said of itself is believed";
  EXPECT_THAT(names(), ElementsAre("20260104-000000-abcd"));
}

TEST_F(RecordTest, Never_prunes_a_living_run_the_current_one_or_what_is_no_run) {
  const auto living = begin("20200101-000000-0001");
  ended("20200102-000000-0002");
  ended("20200103-000000-0003");
  fs::create_directories(in("keep me"));
  std::ofstream(fs::path(runs()) / "20190101-000000-abcd") << "a file";
  fs::create_directories(root_ / "elsewhere");
  std::ofstream(root_ / "elsewhere" / "precious") << "x";
  fs::create_directory_symlink(root_ / "elsewhere", fs::path(runs()) / "20180101-000000-abcd");
  fs::create_directory_symlink(root_ / "elsewhere", in("20200103-000000-0003", "nodes"));
  const auto pruned = prune({1, 1, 1}, "20200102-000000-0002");
  EXPECT_EQ(pruned.removed, 1U);
  EXPECT_THAT(names(), ElementsAre("20180101-000000-abcd", "20190101-000000-abcd", "20200101-000000-0001", "20200102-000000-0002", "keep me"));
  EXPECT_TRUE(fs::exists(root_ / "elsewhere" / "precious")) << "links are removed, not followed";
}

TEST_F(RecordTest, Removes_what_died_while_it_was_made_or_removed) {
  ended("20260131-000000-0001");
  fs::create_directories(in(".old-20260131-000000-0002", "nodes"));
  fs::create_directories(in(".new-20260131-000000-0003"));
  fs::create_directories(in(".new-20260131-235959-0004"));  // a second ago: perhaps it is just being made
  fs::create_directories(in(".new-20260131-000000-0005"));
  const int lock = ::open(in(".new-20260131-000000-0005").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(prune({}).removed, 2U);
  EXPECT_THAT(names(), ElementsAre(".new-20260131-000000-0005", ".new-20260131-235959-0004", "20260131-000000-0001"));
  ::close(lock);
}

TEST_F(RecordTest, A_directory_that_cannot_be_removed_is_one_fault_and_the_others_go) {
  for (int day = 1; day <= 3; ++day) ended(fmt::format("2026010{}-000000-abcd", day));
  // Another process is at the removal of a directory that has taken the name already.
  fs::create_directories(in(".old-20260101-000000-abcd"));
  const int lock = ::open(in(".old-20260101-000000-abcd").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  const auto pruned = prune({1, 200, 1U << 30U});
  ::close(lock);
  ASSERT_TRUE(pruned.fault);
  EXPECT_THAT(pruned.fault->message, HasSubstr("20260101-000000-abcd cannot be removed: File exists"));
  EXPECT_EQ(pruned.removed, 2U);
  EXPECT_THAT(names(), ElementsAre(".old-20260101-000000-abcd", "20260101-000000-abcd"));
}

}  // namespace
}  // namespace sskj::test
