// Replay: what a journal holds comes back as the events that made it, also while it is written, also when its end was torn off.
#include "sskj/run/replay.hpp"

#include "unit/run/journal_fixture.hpp"

namespace sskj::test {
namespace {

class ReplayTest : public JournalTest {
 protected:
  /// All that is there now.
  run::Replay::Batch drain(run::Replay& replay) {
    run::Replay::Batch all;
    for (int i = 0; i < 10'000; ++i) {
      run::Replay::Batch batch = replay.next();
      std::move(batch.events.begin(), batch.events.end(), std::back_inserter(all.events));
      std::move(batch.notes.begin(), batch.notes.end(), std::back_inserter(all.notes));
      if (!batch.more) break;
    }
    return all;
  }
  std::unique_ptr<run::Replay> replay(bool all_output = false) {
    auto opened = run::Replay::open(at("").parent_path().string(), all_output);
    EXPECT_TRUE(opened);
    return opened ? std::move(*opened) : nullptr;
  }
  void write(std::string_view text, std::ios::openmode mode = std::ios::trunc) const { std::ofstream(at("events.ndjson"), std::ios::binary | mode) << text; }
};

TEST_F(ReplayTest, Gives_back_the_run) {
  const auto journal = open(options());
  run_with(*journal);
  const auto reader = replay();  // the events point into its plan
  const auto whole = drain(*reader);
  EXPECT_THAT(whole.notes, IsEmpty());
  std::vector<std::string> got;
  for (const auto& event : whole.events) {
    if (!std::holds_alternative<run::StepOutput>(event.event)) got.push_back(run::event_to_json(event.event));
  }
  std::vector<std::string> want;
  for (const auto& event : log_.events()) {
    if (!std::holds_alternative<run::StepOutput>(event)) want.push_back(json::parse(run::event_to_json(event)).dump());
  }
  // Bytes that were no UTF-8 became U+FFFD on their way; their number is of the bytes that came.
  EXPECT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    json left = json::parse(got[i]);
    json right = json::parse(want[i]);
    left.erase("out_bytes");
    right.erase("out_bytes");
    EXPECT_EQ(left, right);
  }
  EXPECT_EQ(whole.events.front().at, "2026-01-01T00:00:00.000Z");
}

TEST_F(ReplayTest, Brings_the_output_of_following_scripts_before_their_end_and_on_request_of_all) {
  const auto journal = open(options());
  run_with(*journal);
  const auto outputs = [](const run::Replay::Batch& batch) {
    std::vector<std::string> texts;
    for (const auto& event : batch.events) {
      if (const auto* output = std::get_if<run::StepOutput>(&event.event)) texts.push_back(output->step->id + ":" + output->bytes);
    }
    return texts;
  };
  const auto some = replay();
  EXPECT_THAT(outputs(drain(*some)), ElementsAre("log:line 1\nline 2\n"));
  const auto all = replay(true);
  EXPECT_THAT(outputs(drain(*all)), testing::UnorderedElementsAre("a:raw \xff\x1b[0m\n", "a:warned\n", "b:ok", "log:line 1\nline 2\n"));
}

TEST_F(ReplayTest, Follows_a_journal_that_is_being_written) {
  const auto journal = open(options());
  const auto follower = replay();
  EXPECT_THAT(drain(*follower).events, IsEmpty());
  journal->on(run::RunStarted{&plan_, {"r", "d", "s"}, ""});
  EXPECT_EQ(drain(*follower).events.size(), 1U);
  EXPECT_THAT(drain(*follower).events, IsEmpty());
  const std::string line = run::event_to_json(run::StepProgress{&plan_.stages[0].steps[0], "503"}) + "\n";
  for (const char c : line) {  // a line that arrives byte by byte is one event, when it is whole
    write(std::string(1, c), std::ios::app);
    EXPECT_EQ(drain(*follower).events.size(), c == '\n' ? 1U : 0U);
  }
}

TEST_F(ReplayTest, Leaves_out_a_torn_end_and_says_which_line_in_the_middle_is_no_event) {
  const auto journal = open(options());
  const std::string good = run::event_to_json(run::StepProgress{&plan_.stages[0].steps[0], "503"}) + "\n";
  write(good + "{\"event\":\"pha\n" + good + R"({"event":"a newer one"})" + "\n" + good + good.substr(0, good.size() / 2));
  const auto batch = drain(*replay());
  EXPECT_EQ(batch.events.size(), 3U);
  ASSERT_EQ(batch.notes.size(), 1U);
  EXPECT_THAT(batch.notes[0], HasSubstr("line 2 of " + at("events.ndjson").string() + " is left out: not JSON"));
}

TEST_F(ReplayTest, Every_truncation_gives_the_events_before_it) {
  const auto journal = open(options());
  run_with(*journal);
  const std::string whole = slurp(at("events.ndjson"));
  for (std::size_t size = 0; size <= whole.size(); size += 7) {
    write(whole.substr(0, size));
    const auto batch = drain(*replay());
    const auto lines = static_cast<std::size_t>(std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size), '\n'));
    const auto events = static_cast<std::size_t>(std::count_if(batch.events.begin(), batch.events.end(), [](const auto& one) { return !std::holds_alternative<run::StepOutput>(one.event); }));
    EXPECT_EQ(events, lines) << size;
    EXPECT_THAT(batch.notes, IsEmpty()) << size;
  }
}

TEST_F(ReplayTest, Garbage_is_told_a_few_times_and_bounded) {
  const auto journal = open(options());
  const std::string good = run::event_to_json(run::StepProgress{&plan_.stages[0].steps[0], "503"}) + "\n";
  std::string text;
  for (int i = 0; i < 50; ++i) text += "\x01\xff garbage\n";
  text += std::string(std::size_t{17} << 20, 'x') + "\n" + good + std::string(4096, '\0');
  write(text);
  const auto follower = replay();
  const auto batch = drain(*follower);
  EXPECT_EQ(batch.events.size(), 1U) << "a line of 17 MiB is passed over, what follows is read";
  ASSERT_EQ(batch.notes.size(), 4U);
  EXPECT_THAT(batch.notes[3], HasSubstr("more lines"));
}

TEST_F(ReplayTest, Says_where_the_rest_of_a_long_output_is) {
  auto journal = open(options());
  run_with(*journal);
  std::ofstream(at("nodes/n1/log.out"), std::ios::binary | std::ios::app) << std::string(std::size_t{5} << 20, 'x');
  const auto batch = drain(*replay());
  ASSERT_EQ(batch.notes.size(), 1U);
  EXPECT_THAT(batch.notes[0], HasSubstr("n1: 1048590 more bytes of run log are in " + at("nodes/n1/log.out").string()));
}

TEST_F(ReplayTest, A_run_without_a_plan_is_an_error_with_its_path) {
  const auto journal = open(options());
  std::ofstream(at("plan.json")) << "{}";
  const auto broken = run::Replay::open(at("").string());
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("is not a plan"));
  const auto absent = run::Replay::open(runs() + "/nowhere");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Errc::usage);
  EXPECT_THAT(absent.error().message, HasSubstr("No such file"));
}

}  // namespace
}  // namespace sskj::test
