// Recorded event streams through every renderer, against golden files.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "golden.hpp"
#include "scenarios.hpp"
#include "screen.hpp"
#include "sskj/run/event_json.hpp"

namespace sskj::view::testing {
namespace {

class Replay : public ::testing::TestWithParam<Scenario> {};

std::string both(const Replayed& replayed, const std::string& err) { return "=== stdout\n" + replayed.out + "=== stderr\n" + err; }

std::string on_screen(const Scenario& scenario, std::size_t width) {
  const Replayed replayed = replay(scenario, "human", true, static_cast<unsigned>(width));
  EXPECT_NE(replayed.err.find("\x1b["), std::string::npos);
  Screen screen(width);
  screen.feed(replayed.err);
  EXPECT_EQ(screen.unknown(), 0U);
  Screen answer(1000);
  answer.feed(replayed.out);
  return "=== stdout\n" + answer.text() + "=== stderr\n" + screen.text();
}

TEST_P(Replay, Human_at_80_columns) {
  const Scenario& scenario = GetParam();
  if (golden(scenario.name + ".human", on_screen(scenario, 80))) {
    GTEST_SKIP() << "rewritten";
  }
}

TEST_P(Replay, Human_at_200_columns_shows_the_same_outcome) {
  const Scenario& scenario = GetParam();
  const auto last_line = [](std::string text) {
    text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  };
  EXPECT_EQ(last_line(on_screen(scenario, 200)), last_line(on_screen(scenario, 80)));
}

TEST_P(Replay, Human_without_colour_moves_the_cursor_but_never_colours) {
  const Replayed replayed = replay(GetParam(), "human", false);
  for (std::size_t at = replayed.err.find('\x1b'); at != std::string::npos; at = replayed.err.find('\x1b', at + 1)) {
    const std::size_t end = replayed.err.find_first_not_of("[0123456789;", at + 1);
    EXPECT_NE(std::string("AJK").find(replayed.err.at(end)), std::string::npos) << "escape sequence ending in " << replayed.err.at(end);
  }
  EXPECT_EQ(replayed.out.find('\x1b'), std::string::npos);
}

TEST_P(Replay, Plain_has_no_escape_and_no_carriage_return) {
  const Scenario& scenario = GetParam();
  const Replayed replayed = replay(scenario, "plain");
  EXPECT_EQ((replayed.out + replayed.err).find_first_of("\x1b\r"), std::string::npos);
  if (golden(scenario.name + ".plain", both(replayed, replayed.err))) {
    GTEST_SKIP() << "rewritten";
  }
}

TEST_P(Replay, Json_is_one_document) {
  const Scenario& scenario = GetParam();
  const Replayed replayed = replay(scenario, "json");
  const auto document = nlohmann::json::parse(replayed.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << replayed.out;
  if (scenario.options.verbosity <= 0) {
    EXPECT_EQ(replayed.err, "");
  }
  if (scenario.name.ends_with("_200")) {
    EXPECT_EQ(document["nodes"].size(), 200U);
    return;  // 200 nodes say nothing new
  }
  if (golden(scenario.name + ".json", replayed.out)) {
    GTEST_SKIP() << "rewritten";
  }
}

TEST_P(Replay, Ndjson_is_one_event_a_line) {
  const Scenario& scenario = GetParam();
  const Replayed replayed = replay(scenario, "ndjson");
  EXPECT_EQ(replayed.err, "");
  std::size_t lines = 0;
  for (std::size_t from = 0; from < replayed.out.size(); ++lines) {
    const std::size_t end = replayed.out.find('\n', from);
    ASSERT_NE(end, std::string::npos);
    const auto document = nlohmann::json::parse(replayed.out.substr(from, end - from), nullptr, false);
    ASSERT_TRUE(document.is_object()) << replayed.out.substr(from, end - from);
    from = end + 1;
  }
  EXPECT_EQ(lines, scenario.events.size());
}

// The same events, written by a journal and read again, as `attach` has them.
Scenario through_a_journal(const Scenario& scenario) {
  Scenario again = scenario;
  const run::PlanIndex index(*scenario.plan);
  for (Timed& timed : again.events) {
    const auto read = run::event_from_json(run::event_to_json(timed.event), index);
    EXPECT_TRUE(read && *read) << run::event_to_json(timed.event);
    timed.event = (*read)->event;
  }
  return again;
}

TEST_P(Replay, Read_from_a_journal_it_looks_the_same) {
  const Scenario& scenario = GetParam();
  const Scenario again = through_a_journal(scenario);
  for (const char* row : {"human", "plain", "ndjson"}) {
    const Replayed direct = replay(scenario, row);
    const Replayed read = replay(again, row);
    EXPECT_EQ(read.out, direct.out) << row;
    EXPECT_EQ(read.err, direct.err) << row;
  }
  EXPECT_EQ(nlohmann::json::parse(replay(again, "json").out), nlohmann::json::parse(replay(scenario, "json").out));
}

TEST_P(Replay, Every_node_that_did_not_end_well_is_named) {
  const Scenario& scenario = GetParam();
  const auto& finished = std::get<run::RunFinished>(scenario.events.back().event);
  if (finished.interrupted) {
    return;
  }
  const Replayed json = replay(scenario, "json");
  for (const auto& [node, host] : finished.summary.hosts) {
    EXPECT_NE(json.out.find("\"" + node + "\""), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Replay, ::testing::ValuesIn(scenarios()), [](const auto& one) { return one.param.name; });

TEST(Renderers, Are_a_table_with_a_golden_for_each_text_form) {
  std::vector<std::string> names;
  for (const RendererRow& row : renderers()) {
    names.emplace_back(row.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"human", "plain", "json", "ndjson"}));
}

struct Choice {
  Format format;
  int verbosity;
  RemoteOutput remote;
  bool live;
  std::string want;
};

TEST(ChooseRenderer, Follows_format_terminal_and_quiet) {
  std::string sink;
  for (const Choice& one : std::vector<Choice>{{Format::text, 0, RemoteOutput::hidden, true, "human"},
                                               {Format::text, 0, RemoteOutput::hidden, false, "plain"},
                                               {Format::text, -1, RemoteOutput::hidden, true, "plain"},
                                               {Format::text, 0, RemoteOutput::prefixed, true, "plain"},
                                               {Format::text, 0, RemoteOutput::folded, true, "human"},
                                               {Format::json, 0, RemoteOutput::hidden, true, "json"},
                                               {Format::ndjson, 0, RemoteOutput::prefixed, true, "ndjson"}}) {
    const Output output{string_stream(sink), string_stream(sink), false, false, one.live, 80, 24};
    Options options;
    options.format = one.format;
    options.verbosity = one.verbosity;
    options.remote_output = one.remote;
    EXPECT_EQ(choose_renderer(options, output).name, one.want);
  }
}

}  // namespace
}  // namespace sskj::view::testing
