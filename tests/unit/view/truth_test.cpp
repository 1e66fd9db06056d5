// What a run says of itself must be the whole truth: cut output, interrupted work, equal failures of several ranks, a reader that left.
#include <gmock/gmock.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "failures.hpp"
#include "scenarios.hpp"
#include "sskj/view/tables.hpp"
#include "summary.hpp"

namespace sskj::view::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t k_bound = std::size_t{4} << 20;

/// A run of `exec` in which n nodes print `size` bytes each.
struct ExecRun {
  explicit ExecRun(std::size_t nodes, std::size_t size, std::string directory) : plan(small_plan("exec", nodes)) {
    plan.stages.resize(1);
    for (auto& step : plan.stages[0].steps) std::get<plan::RunScript>(step.action).follow = true;
    options.remote_output = RemoteOutput::folded;
    add(run::RunStarted{&plan, {"run", "digest", ""}, std::move(directory)});
    add(run::StageStarted{&plan.stages[0], 1, 1, false});
    run::HostSummary hosts;
    for (const auto& step : plan.stages[0].steps) {
      for (std::size_t sent = 0; sent < size; sent += 1U << 20U) add(run::StepOutput{&step, run::Stream::out, std::string(std::min<std::size_t>(size - sent, 1U << 20U), 'x')});
      run::StepResult result;
      result.step = step.id;
      result.node = step.node;
      result.status = run::StepStatus::ok;
      result.exit_status = 0;
      add(run::StepFinished{&step, result});
      hosts.hosts[step.node] = run::HostClass::ok;
    }
    end = run::RunFinished{ExitCode::done, {}, hosts, Millis{1}, false};
  }
  void add(run::Event event) { events.push_back(std::move(event)); }
  std::string err(bool broken = false) {
    std::string out, err;
    Output output{string_stream(out), string_stream(err), false, false, false, 80, 24};
    Renderer renderer(renderers()[1], options, output);
    for (const auto& event : events) renderer.on(event);
    if (broken) renderer.directory_broken();
    renderer.on(end);
    return err;
  }

  plan::Plan plan;
  Options options;
  std::vector<run::Event> events;
  run::RunFinished end;
};

TEST(CutOutput, Says_on_stderr_whose_at_how_many_bytes_and_that_the_run_directory_has_the_whole) {
  EXPECT_THAT(ExecRun(1, k_bound + 7, "/runs/x").err(),
              HasSubstr("warning  stdout of 174.1.60.5 was cut at 4194304 bytes, 7 more came\n  the run directory has the whole: /runs/x/nodes/174.1.60.5/preflight.174.1.60.5.out\n"));
  EXPECT_THAT(ExecRun(3, k_bound + 7, "/runs/x").err(),
              HasSubstr("warning  stdout of 174.1.60.[5-7] was cut at 4194304 bytes, up to 7 more came\n  the run directory has the whole: /runs/x/nodes/\n"));
  EXPECT_THAT(ExecRun(1, k_bound, "/runs/x").err(), Not(HasSubstr("was cut")));
}

TEST(CutOutput, Does_not_send_anybody_to_a_run_directory_that_has_not_the_whole) {
  EXPECT_THAT(ExecRun(1, k_bound + 7, "").err(), HasSubstr("the rest is in no run directory; repeat with --prefix"));
  EXPECT_THAT(ExecRun(1, k_bound + 7, "/runs/x").err(true), HasSubstr("the rest is in no run directory; repeat with --prefix"));
  EXPECT_THAT(ExecRun(1, (std::size_t{64} << 20) + 1, "/runs/x").err(), HasSubstr("the run directory has no more than the first 67108864 bytes: /runs/x/nodes/174.1.60.5/"));
}

TEST(CutOutput, Is_told_with_quiet_too_and_bytes_that_are_no_text_are_not_cut_in_silence) {
  ExecRun quiet(1, k_bound + 7, "/runs/x");
  quiet.options.verbosity = -1;
  EXPECT_THAT(quiet.err(), HasSubstr("was cut at 4194304 bytes"));
  ExecRun binary(1, 0, "/runs/x");
  const std::string bytes(1U << 20U, '\xFF');
  binary.events.insert(binary.events.begin() + 2, run::StepOutput{&binary.plan.stages[0].steps[0], run::Stream::out, bytes});
  std::string out, err;
  Output output{string_stream(out), string_stream(err), false, false, false, 80, 24};
  Renderer renderer(renderers()[1], binary.options, output);
  for (const auto& event : binary.events) renderer.on(event);
  renderer.on(binary.end);
  std::size_t shown = 0;
  for (std::size_t at = out.find("\xEF\xBF\xBD"); at != std::string::npos; at = out.find("\xEF\xBF\xBD", at + 3)) ++shown;
  EXPECT_EQ(shown, bytes.size());
}

std::string text_of(const std::string& name, const std::string& renderer = "plain") {
  for (const Scenario& scenario : scenarios()) {
    if (scenario.name == name) return replay(scenario, renderer).err;
  }
  return {};
}

TEST(Interrupted, Says_in_plain_words_what_was_done_and_what_was_not) {
  for (const char* renderer : {"plain", "human"}) {
    const std::string text = text_of("interrupted", renderer);
    EXPECT_THAT(text, HasSubstr("done, 1 of 5 stages: checks before the start\n")) << renderer;
    EXPECT_THAT(text, HasSubstr("cut short: start the ranks\n"));
    EXPECT_THAT(text, HasSubstr("not done: wait until ready; long first request; 23*47\n")) << "the branch for a failure was never meant to run";
    EXPECT_THAT(text, HasSubstr("taken back: start the ranks\n"));
    EXPECT_THAT(text, HasSubstr("at the end: give the lock back\n"));
    EXPECT_THAT(text, HasSubstr("to go on: sskj start -p kimi3_tp32ep32\n"));
    EXPECT_THAT(text, HasSubstr("start: interrupted (exit 130) · 4 nodes: 0 ok, 4 not finished · after "));
  }
  EXPECT_THAT(text_of("interrupted"), HasSubstr("stage start the ranks cut short after 1s\n"));
  EXPECT_THAT(text_of("step_failed"), Not(HasSubstr("not done: "))) << "a failure speaks for itself";
}

TEST(Interrupted, Says_what_could_not_be_taken_back_or_closed) {
  Model model;
  const auto stage = [&](const std::string& title, bool ok, bool undo, bool always) {
    StageRecord& record = model.stages.emplace_back();
    record.title = title;
    record.finished = true;
    record.ok = ok;
    record.undo = undo;
    record.always = always;
  };
  stage("start", false, false, false);
  stage("start", false, true, false);
  stage("unlock", false, false, true);
  EXPECT_EQ(state_text(model), "") << "not interrupted";
  model.finished = run::RunFinished{ExitCode::interrupted, {}, {}, Millis{1}, true};
  EXPECT_EQ(state_text(model), "done: nothing\ncut short: start\nnot taken back: start\nnot done at the end: unlock\n");
}

Failure failure(const std::string& node, const std::string& title, const std::string& message, const std::string& got, const std::string& hint) {
  return {"run", title, node, "FAILED", message, "running", got, hint, {}, {}};
}

std::string failures_of(std::vector<Failure> failures) {
  Model model;
  model.failures = std::move(failures);
  return failures_text(model, Options{}, false);
}

TEST(Failures, That_differ_in_the_rank_only_share_one_block_with_the_range_of_ranks) {
  std::vector<Failure> equal;
  for (const int rank : {0, 1, 2, 3}) {
    const std::string number = std::to_string(rank);
    equal.push_back(failure("n" + std::to_string(5 + rank), "start server rank " + number, "n" + std::to_string(5 + rank) + ": start server rank " + number + ": container kimi3_node" + number + " ended",
                            "kimi3_node" + number + " exited", "sskj logs -p k --rank " + number));
  }
  EXPECT_EQ(failures_of(equal),
            "FAILED  run: start server rank 0-3 on n[5-8] (4 nodes)\n"
            "  n[5-8]: start server rank 0-3: container kimi3_node[0-3] ended\n"
            "  expected  running\n"
            "  got       kimi3_node[0-3] exited\n"
            "  next: sskj logs -p k --rank 0\n");
  equal.erase(equal.begin() + 1);
  EXPECT_THAT(failures_of(equal), HasSubstr("start server rank 0,2-3 on n[5,7-8] (3 nodes)\n"));
}

TEST(Failures, That_differ_in_more_than_the_own_rank_stay_apart) {
  const std::string one = failures_of({failure("n5", "start server rank 0", "rank 0 waits for rank 7", "x", ""), failure("n6", "start server rank 1", "rank 1 waits for rank 8", "x", "")});
  EXPECT_THAT(one, HasSubstr("rank 0 waits for rank 7\n"));
  EXPECT_THAT(one, HasSubstr("rank 1 waits for rank 8\n"));
  const std::string alone = failures_of({failure("n5", "start server rank 12", "container a_node12 ended, not a_node1 nor rank 123", "x", "")});
  EXPECT_THAT(alone, HasSubstr("  container a_node12 ended, not a_node1 nor rank 123\n")) << "a single one reads as it was written";
  const std::string values = failures_of({failure("n5", "start server rank 0", "ended", "a_node0: 1", ""), failure("n6", "start server rank 1", "ended", "a_node1: 1", ""),
                                          failure("n7", "start server rank 2", "ended", "a_node2: 9", "")});
  EXPECT_THAT(values, HasSubstr("got       a_node[0-1]: 1  (n[5-6])\n"));
  EXPECT_THAT(values, HasSubstr("got       a_node2: 9  (n7)\n"));
}

TEST(Failures, Fold_in_remarks_as_well) {
  const auto finding = [](const std::string& node, const std::string& rank) {
    return run::Finding{"restarts", run::FindingStatus::warn, node, "", "", "container k_node" + rank + " of " + node + " restarted", "sskj logs --rank " + rank, Errc::preflight};
  };
  EXPECT_EQ(remarks_text({finding("n5", "0"), finding("n6", "1")}, false),
            "warning  restarts on n[5-6]\n  container k_node[0-1] of n[5-6] restarted\n  next: sskj logs --rank 0\n");
}

/// `logs -F` whose reader takes nothing more.
std::string followed(int error, ExitCode code) {
  ExecRun followed(1, 10, "");
  followed.options.remote_output = RemoteOutput::prefixed;
  followed.end.code = code;
  followed.end.interrupted = true;
  std::string err;
  Output output{OutputStream([&](std::string_view bytes) { return bytes.empty() ? 0 : -static_cast<std::int64_t>(error); }, [](Millis) { return true; }), string_stream(err), false, false, false, 80, 24};
  Renderer renderer(renderers()[1], followed.options, output);
  for (const auto& event : followed.events) renderer.on(event);
  const std::string lines = "line\n";
  renderer.on(run::StepOutput{&followed.plan.stages[0].steps[0], run::Stream::out, lines});
  renderer.on(followed.end);
  return err;
}

TEST(ReaderThatLeft, Ends_a_followed_log_without_a_word) {
  EXPECT_EQ(followed(EPIPE, ExitCode::done), "");
  EXPECT_THAT(followed(ENOSPC, ExitCode::interrupted), HasSubstr("interrupted"));
  EXPECT_THAT(followed(EPIPE, ExitCode::not_ready), HasSubstr("failed")) << "what failed is said";
}

TEST(StreamedRun, Says_a_remark_when_it_comes_and_not_again_at_its_end) {
  ExecRun run(1, 0, "");
  run.options.remote_output = RemoteOutput::prefixed;
  const run::Finding finding{"redact", run::FindingStatus::warn, "", "", "", "a key cannot be masked", "export it", Errc::usage};
  std::string out, err;
  Output output{string_stream(out), string_stream(err), false, false, false, 80, 24};
  Renderer renderer(renderers()[1], run.options, output);
  for (const auto& event : run.events) renderer.on(event);
  renderer.on(run::FindingReported{finding});
  EXPECT_EQ(err, "warning  redact\n  a key cannot be masked\n  next: export it\n");
  renderer.on(run.end);
  EXPECT_EQ(err.find("a key cannot", err.find("a key cannot") + 1), std::string::npos);
}

TEST(ImportDocument, Holds_the_profile_what_was_not_placed_and_warnings) {
  std::string out, err;
  Output output{string_stream(out), string_stream(err), false, false, false, 80, 24};
  Options options;
  options.format = Format::json;
  const std::vector<UnplacedRow> rows{{7, "FOO=$(date)", "command substitution"}};
  show_import(output, options, "theirs.sh", "PORT=30000\n", rows, {{Severity::warning, "lint.x", "m", "h", SourceRef{"profile.env", 1, 1}, "r"}});
  const auto document = nlohmann::json::parse(out);
  EXPECT_EQ(document["schema_version"], 1);
  EXPECT_EQ(document["file"], "theirs.sh");
  EXPECT_EQ(document["profile"], "PORT=30000\n");
  EXPECT_EQ(document["unplaced"], nlohmann::json::parse(R"j([{"line": 7, "text": "FOO=$(date)", "reason": "command substitution"}])j"));
  EXPECT_EQ(document["warnings"][0]["id"], "lint.x");
  EXPECT_EQ(document["warnings"][0]["line"], 1);
  EXPECT_EQ(err, "");
}

}  // namespace
}  // namespace sskj::view::testing
