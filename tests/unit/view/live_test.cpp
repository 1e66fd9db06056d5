// The live table: rate, resize, many nodes.
#include <gtest/gtest.h>

#include <algorithm>

#include "golden.hpp"
#include "scenarios.hpp"
#include "screen.hpp"

namespace sskj::view::testing {
namespace {

const RendererRow& row(std::string_view name) {
  return *std::find_if(renderers().data(), renderers().data() + renderers().size(), [name](const RendererRow& one) { return one.name == name; });
}

struct Frames {
  std::vector<std::pair<Millis, std::string>> writes;
  Millis now{0};
  std::string sink;

  OutputStream stream() {
    return {[this](std::string_view bytes) {
              writes.emplace_back(now, std::string(bytes));
              return static_cast<std::int64_t>(bytes.size());
            },
            [](Millis) { return true; }};
  }
};

run::Event phase(std::size_t node, std::size_t done) {
  return run::PhaseReported{{"174.1.60." + std::to_string(5 + node), "ready.watch", "weights", done, 100'000, false, {}, {}, {}}};
}

TEST(LiveTable, Draws_at_most_ten_frames_a_second_whatever_happens) {
  const auto plan = small_plan("start", 4);
  Frames frames;
  Output output{string_stream(frames.sink), frames.stream(), true, true, true, 80, 24};
  Renderer renderer(row("human"), {}, output);
  renderer.tick(Millis{0});
  renderer.on(run::RunStarted{&plan, {}, ""});
  for (int ms = 1; ms <= 10'000; ++ms) {
    frames.now = Millis{ms};
    renderer.tick(frames.now);
    renderer.on(phase(static_cast<std::size_t>(ms) % 4, static_cast<std::size_t>(ms)));
  }
  EXPECT_LE(frames.writes.size(), 100U);
  EXPECT_GE(frames.writes.size(), 90U);
  for (std::size_t i = 1; i < frames.writes.size(); ++i) {
    EXPECT_GE(frames.writes[i].first - frames.writes[i - 1].first, Millis{100});
  }
}

TEST(LiveTable, Draws_once_a_second_while_nothing_happens) {
  const auto plan = small_plan("start", 4);
  Frames frames;
  Output output{string_stream(frames.sink), frames.stream(), true, true, true, 80, 24};
  Renderer renderer(row("human"), {}, output);
  renderer.tick(Millis{0});
  renderer.on(run::RunStarted{&plan, {}, ""});
  for (int ms = 0; ms <= 20'000; ms += 20) {
    renderer.tick(Millis{ms});
  }
  EXPECT_GE(frames.writes.size(), 19U);
  EXPECT_LE(frames.writes.size(), 23U);
}

TEST(LiveTable, Draws_nothing_for_a_reader_that_does_not_keep_up) {
  const auto plan = small_plan("start", 4);
  std::string sink;
  std::size_t writes = 0;
  Output output{string_stream(sink), OutputStream([&](std::string_view) { ++writes; return std::int64_t{-EAGAIN}; }, [](Millis) { return false; }), true, true, true, 80, 24};
  Renderer renderer(row("human"), {}, output);
  renderer.tick(Millis{0});
  renderer.on(run::RunStarted{&plan, {}, ""});
  for (int ms = 0; ms <= 60'000; ms += 100) {
    renderer.tick(Millis{ms});
    renderer.on(phase(0, static_cast<std::size_t>(ms)));
  }
  EXPECT_LT(output.err.pending(), 4000U);
}

TEST(LiveTable, Final_screen_is_right_after_resizes_on_the_way) {
  const Scenario scenario = start_done();
  for (const std::vector<std::size_t>& widths : std::vector<std::vector<std::size_t>>{{80, 40, 120}, {120, 60, 61}, {200, 30, 80}, {50, 51, 49}}) {
    Screen screen(80);
    std::string sink;
    Output output{string_stream(sink),
                  OutputStream(
                      [&](std::string_view bytes) {
                        screen.feed(bytes);
                        return static_cast<std::int64_t>(bytes.size());
                      },
                      [](Millis) { return true; }),
                  true, true, true, 80, 24};
    Renderer renderer(row("human"), scenario.options, output);
    Millis now{0};
    std::size_t next = 0;
    for (const Timed& timed : scenario.events) {
      for (; now < timed.at; now += Millis{50}) {
        renderer.tick(now);
        if (next < widths.size() && now > Millis{20'000} * static_cast<int>(next + 1)) {
          screen.resize(widths[next]);
          renderer.resize(static_cast<unsigned>(widths[next]), 24);
          ++next;
        }
      }
      renderer.tick(timed.at);
      renderer.on(timed.event);
    }
    EXPECT_EQ(next, widths.size());
    const std::string text = screen.text();
    const auto count = [&text](std::string_view what) {
      std::size_t found = 0;
      for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
        ++found;
      }
      return found;
    };
    EXPECT_EQ(count("start kimi3_"), 1U) << text;  // one table, no left-overs of older ones
    EXPECT_EQ(count("174.1.60.5"), 1U) << text;
    EXPECT_EQ(count("4 nodes: 4 ok"), 1U) << text;
  }
}

TEST(LiveTable, Notes_stand_above_it) {
  const auto plan = small_plan("start", 4);
  Screen screen(80);
  std::string sink;
  const auto feed = [&](std::string_view bytes) {
    screen.feed(bytes);
    return static_cast<std::int64_t>(bytes.size());
  };
  Output output{string_stream(sink), OutputStream(feed, [](Millis) { return true; }), true, true, true, 80, 24};
  Renderer renderer(row("human"), {}, output);
  renderer.tick(Millis{0});
  renderer.on(run::RunStarted{&plan, {}, ""});
  renderer.tick(Millis{500});
  renderer.note("ssh_config: line 3 is not understood\x1b[2J");
  renderer.tick(Millis{700});
  EXPECT_EQ(screen.text().substr(0, screen.text().find("174.")), "ssh_config: line 3 is not understood\\x1b[2J\nstart kimi3_pro6000_sglang_tp32ep32 · 0s\n");
}

TEST(LiveTable, Never_writes_past_the_last_column) {
  for (unsigned width : {20U, 40U, 80U, 132U}) {
    const Scenario scenario = start_done();
    const Replayed replayed = replay(scenario, "human", true, width);
    Screen screen(width);
    screen.feed(replayed.err.substr(0, replayed.err.rfind("\x1b[J")));  // what follows are lines for the scrollback
    EXPECT_EQ(screen.wraps(), 0U) << "at " << width;
  }
}

// What stands on the screen at `at` of a replay.
std::string screen_at(const Scenario& scenario, Millis at, std::size_t width) {
  Scenario begun = scenario;
  std::erase_if(begun.events, [at](const Timed& timed) { return timed.at > at; });
  begun.events.push_back({at, run::StepProgress{nullptr, ""}});  // lets the clock run on to `at`
  const Replayed replayed = replay(begun, "human", true, static_cast<unsigned>(width));
  Screen screen(width);
  screen.feed(replayed.err);
  return screen.text();
}

TEST(LiveTable, In_the_middle_of_a_start) {
  const std::string text = screen_at(start_done(), Millis{60'000}, 80) + "\n" + screen_at(start_done(), Millis{200'000}, 80) + "\n" + screen_at(start_done(), Millis{60'000}, 44) + "\n" +
                           screen_at(start_done_on(200), Millis{60'000}, 80);
  if (golden("start_done.middle", text)) {
    GTEST_SKIP() << "rewritten";
  }
}

TEST(LiveTable, Folds_many_nodes_into_groups_of_equal_state) {
  const Replayed replayed = replay(start_done_on(200), "human", true);
  Screen screen(80);
  const std::size_t middle = replayed.err.find("weights", replayed.err.size() / 2);
  ASSERT_NE(middle, std::string::npos);
  screen.feed(std::string_view(replayed.err).substr(0, replayed.err.find("\x1b[J", middle)));
  const std::string text = screen.text();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24);
  EXPECT_NE(text.find(" 200 174.1."), std::string::npos) << text;
}

TEST(LiveTable, Is_never_higher_than_the_terminal) {
  const Scenario scenario = start_done_on(28);
  const Replayed replayed = replay(scenario, "human", true, 80, 10);
  std::size_t high = 0;
  for (std::size_t at = replayed.err.find("\x1b["); at != std::string::npos; at = replayed.err.find("\x1b[", at + 1)) {
    const std::size_t end = replayed.err.find_first_not_of("0123456789", at + 2);
    if (replayed.err.at(end) == 'A') {
      high = std::max<std::size_t>(high, static_cast<std::size_t>(std::stoi(replayed.err.substr(at + 2, end - at - 2))));
    }
  }
  EXPECT_GT(high, 0U);
  EXPECT_LE(high, 9U);
}

TEST(Heartbeat, A_silent_minute_never_passes_without_a_line) {
  const auto plan = small_plan("start", 4);
  for (int period : {100, 1'000, 9'000}) {
    Frames frames;
    Output output{string_stream(frames.sink), frames.stream(), false, false, false, 80, 24};
    Renderer renderer(row("plain"), {}, output);
    renderer.tick(Millis{0});
    renderer.on(run::RunStarted{&plan, {}, ""});
    Millis last{0};
    for (int ms = period; ms <= 1'200'000; ms += period) {
      frames.now = Millis{ms};
      const std::size_t before = frames.writes.size();
      renderer.tick(frames.now);
      if (frames.writes.size() > before) {
        EXPECT_LE(frames.now - last, Millis{60'000});
        last = frames.now;
      }
    }
    EXPECT_GE(frames.writes.size(), 20U);
    EXPECT_LE(frames.writes.size(), 30U);
  }
}

TEST(Plain, Folds_changes_of_several_nodes_into_one_line) {
  const Replayed replayed = replay(start_done(), "plain");
  EXPECT_NE(replayed.err.find("174.1.60.[5-8] rendezvous\n"), std::string::npos) << replayed.err;
}

}  // namespace
}  // namespace sskj::view::testing
