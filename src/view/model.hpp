// What a run looks like so far: one model, fed by events, read by every renderer. Holds copies only, so that it outlives the plan.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sskj/run/event.hpp"
#include "sskj/view/renderer.hpp"

namespace sskj::view {

struct NodeState {
  std::string id;
  std::string activity;                  ///< title of the step or name of the phase; remote text is printable already
  std::string detail;                    ///< progress text, e.g. "health: refused (loading)"
  std::size_t done = 0, total = 0;       ///< of the phase; 0/0 = no count
  bool busy = false;
  bool cancelled = false;
  std::set<std::string> running;         ///< step ids
  Millis since{0};                       ///< when the activity began
  std::string phase;                     ///< last phase seen; empty before the first
  std::optional<run::HostClass> ended;
  std::string failed;                    ///< title of the first failed step
};

struct StepRecord {
  std::string stage;
  std::string title;
  run::StepResult result;                ///< out and err are dropped unless they are an answer
  bool watch = false, tolerated = false, undo = false;
};

/// One thing that went wrong on one node (or on a whole stage: node empty).
struct Failure {
  std::string stage, title, node;
  std::string word;                      ///< FAILED, UNREACHABLE, TIMED OUT, LOST, CANCELLED
  std::string message, expected, got, hint;
  std::vector<std::string> tail;
  std::string check;                     ///< id of the check, for findings
};

struct StageRecord {
  std::string id, title;
  std::size_t number = 0, count = 0;
  bool undo = false, tolerated = false, finished = false, ok = false, skipped = false;
  bool always = false;                   ///< of the last stages, which run whatever happened
  bool branch = false;                   ///< only for when something else fails
  Millis started{0}, elapsed{0};
  std::optional<Error> error;
};

inline constexpr std::size_t k_max_text = std::size_t{4} << 20;  ///< bytes kept per node and stream of followed output

struct NodeText {
  std::string out, err;
  std::size_t out_dropped = 0, err_dropped = 0;
  std::optional<int> exit_status;
  std::string step;                      ///< id, which names its file in the run directory
  bool streamed = false;                 ///< every byte came as an event, so that the run directory could keep it
};

/// Lines of a streamed script that have not ended.
struct Partial {
  std::string out, err;
};

struct Model {
  std::string verb, deployment, run, plan, directory;
  bool directory_broken = false;         ///< it could not be written to the end
  std::vector<NodeState> nodes;          ///< in plan order
  std::map<std::string, std::size_t, std::less<>> index;
  std::vector<StageRecord> stages;
  std::set<std::string> watch_steps;     ///< of all stages so far
  std::vector<StepRecord> steps;
  std::vector<Failure> failures;
  std::vector<run::Finding> findings;
  std::map<std::string, std::string, std::less<>> reports;  ///< kind -> JSON
  std::map<std::string, NodeText, std::less<>> texts;       ///< node -> output of follow steps
  std::map<std::string, Partial, std::less<>> partials;     ///< step id -> streamed output
  std::optional<run::RunFinished> finished;
  std::optional<Millis> started;
  Millis now{0};
};

/// Adds one event. `options` decides how much remote output is kept.
void apply(Model& model, const run::Event& event, const Options& options);

/// The class of every node of the run: as the executor said, else what the events allow (never ok without its word).
std::map<std::string, run::HostClass> final_classes(const Model& model);

/// Whether the output of this step is what the user asked for (exec, logs).
bool is_answer(const Model& model, const Options& options, const plan::Step& step);
const StageRecord* current_stage(const Model& model);

/// Whether a step's status is a failure to report.
bool is_failure(run::StepStatus status);

struct LiveState {
  std::vector<std::size_t> widths;       ///< columns of the lines that stand on the screen
  std::optional<Millis> drawn;
  bool dirty = false;
};

struct PlainState {
  std::vector<std::pair<std::string, std::string>> pending;  ///< (node, text), folded when written
  std::optional<Millis> pending_since;
  std::map<std::string, Millis, std::less<>> counted;        ///< node -> when its last count was written
  std::map<std::string, std::string, std::less<>> phases;    ///< node -> last phase written
  Millis written{0};
};

struct Context {
  const RendererRow& row;
  Options options;
  Output& output;
  Model model;
  LiveState live;
  PlainState plain;
};

}  // namespace sskj::view
