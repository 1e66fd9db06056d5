// History, the word that a run goes on alone, and runs of the past.
#include "sskj/view/runs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "scenarios.hpp"
#include "streams.hpp"

namespace sskj::view {
namespace {

using nlohmann::json;

std::array<RunRow, 5> rows() {
  return {RunRow{"20260105-000000-0005", "start", "kimi3", "k", "2026-01-05T00:00:00Z", Millis{61'000}, "running", {}, false, "/r/5", "sskj start -p k", 17},
          RunRow{"20260104-000000-0004", "start", "kimi3", "k", "2026-01-04T00:00:00Z", Millis{252'000}, "done", 0, false, "/r/4", "sskj start -p k", 0},
          RunRow{"20260103-000000-0003", "stop", "kimi3", "k", "2026-01-03T00:00:00Z", Millis{5'000}, "failed", 6, false, "/r/3", "sskj stop -p k", 0},
          RunRow{"20260102-000000-0002", "start", "kimi3", "k", "2026-01-02T00:00:00Z", Millis{9'000}, "failed", 130, true, "/r/2", "sskj start -p k", 0},
          RunRow{"20260101-000000-0001", "", "", "", "2026-01-01T00:00:00Z", {}, "died", {}, false, "/r/1", "evil\x1b[2J", 0}};
}

TEST(History, Is_a_table) {
  Streams text;
  show_runs(text.output, {}, rows());
  EXPECT_EQ(text.out,
            "RUN                   VERB   DEPLOYMENT  STARTED               TIME   RESULT\n"
            "20260105-000000-0005  start  kimi3       2026-01-05T00:00:00Z  1m01s  running\n"
            "20260104-000000-0004  start  kimi3       2026-01-04T00:00:00Z  4m12s  done\n"
            "20260103-000000-0003  stop   kimi3       2026-01-03T00:00:00Z  5s     failed (exit 6)\n"
            "20260102-000000-0002  start  kimi3       2026-01-02T00:00:00Z  9s     interrupted (exit 130)\n"
            "20260101-000000-0001  -      -           2026-01-01T00:00:00Z  -      died\n");
  EXPECT_EQ(text.err, "");
}

TEST(History, Is_one_document_with_null_for_what_is_not_known) {
  Streams streams;
  show_runs(streams.output, as(Format::json), rows());
  const json document = json::parse(streams.out);
  EXPECT_EQ(document["schema_version"], 1);
  ASSERT_EQ(document["runs"].size(), 5U);
  EXPECT_EQ(document["runs"][2], json::parse(R"({"run":"20260103-000000-0003","verb":"stop","deployment":"kimi3","profile":"k","started":"2026-01-03T00:00:00Z","elapsed_ms":5000,
    "state":"failed","exit_code":6,"interrupted":false,"directory":"/r/3","command":"sskj stop -p k","pid":null})"));
  EXPECT_EQ(document["runs"][0]["exit_code"], nullptr);
  EXPECT_EQ(document["runs"][0]["pid"], 17);
  EXPECT_EQ(document["runs"][4]["elapsed_ms"], nullptr);
  EXPECT_EQ(streams.out.find('\x1b'), std::string::npos);
  Streams line;
  show_runs(line.output, as(Format::ndjson), {});
  EXPECT_EQ(line.out, "{\"schema_version\":1,\"runs\":[]}\n");
}

TEST(Detach, Says_the_run_and_the_command_that_follows_it) {
  const Detached detached{"20260105-000000-0005", "start", "kimi3", "abc", "/r/5", "sskj attach 20260105-000000-0005", 4711};
  Streams text;
  show_detached(text.output, {}, detached);
  EXPECT_EQ(text.out, "run:     20260105-000000-0005\nattach:  sskj attach 20260105-000000-0005\n");
  Streams document;
  show_detached(document.output, as(Format::json), detached);
  EXPECT_EQ(json::parse(document.out), json::parse(R"({"schema_version":1,"verb":"start","deployment":"kimi3","run":"20260105-000000-0005","plan_digest":"abc","run_directory":"/r/5",
    "detached":true,"pid":4711,"attach":"sskj attach 20260105-000000-0005","exit_code":0,"exit_codes":[]})"));
}

struct Past {
  Streams streams;
  explicit Past(const char* row_name, bool died = true) {
    testing::Scenario scenario = testing::start_done();
    scenario.options.wall_time = nullptr;
    streams.output.live = std::string_view(row_name) == "human";
    const auto* row = &renderers()[0];
    for (const RendererRow& one : renderers()) row = one.name == row_name ? &one : row;
    Renderer renderer(*row, scenario.options, streams.output);
    for (const testing::Timed& timed : scenario.events) {
      renderer.catch_up(timed.at);
      if (died && timed.at > Millis{40'000}) break;
      renderer.on(timed.event);
    }
    if (!died) return;
    renderer.on(run::FindingReported{{"run", run::FindingStatus::fail, "", "", "", "the run died: nobody is there", "sskj start -p k", Errc::not_ready}});
    run::RunFinished finished;
    finished.code = ExitCode::not_ready;
    finished.all_codes = {ExitCode::not_ready};
    finished.elapsed = Millis{40'000};
    finished.died = true;
    renderer.on(finished);
  }
};

TEST(PastRun, Draws_no_table_for_what_is_over_and_ends_as_it_ended) {
  const Past human("human", false);
  EXPECT_EQ(human.streams.err.find('\x1b'), std::string::npos) << "no frames of the past";
  EXPECT_NE(human.streams.err.find("start: done in"), std::string::npos);
}

TEST(PastRun, Has_the_times_of_its_events) {
  const Past plain("plain", false);
  EXPECT_NE(plain.streams.err.find("\n+3m52s stage wait until ready done in 3m50s\n"), std::string::npos) << plain.streams.err;
}

TEST(PastRun, That_died_says_so_with_the_next_command_and_counts_no_node_as_ok) {
  const Past text("plain");
  EXPECT_NE(text.streams.err.find("the run died: nobody is there"), std::string::npos);
  EXPECT_NE(text.streams.err.find("next: sskj start -p k"), std::string::npos);
  EXPECT_NE(text.streams.err.find("start: died (exit 5) · 4 nodes: 0 ok, 4 lost · after 40s"), std::string::npos) << text.streams.err;
  const Past document("json");
  const json parsed = json::parse(document.streams.out);
  EXPECT_EQ(parsed["died"], true);
  EXPECT_EQ(parsed["exit_code"], 5);
  EXPECT_EQ(parsed["hosts"]["lost"], 4);
  EXPECT_EQ(parsed["failures"][0]["hint"], "sskj start -p k");
}

}  // namespace
}  // namespace sskj::view
