// Checks: what is looked at on a node before anything is changed there, as one table.
//
// A check is a read-only probe (POSIX sh, a constant body with values assigned on top) and a pure judge of what the probe printed. All probes of a node travel in one
// script and one exec; the expectation travels in the plan as data, so that a saved plan needs no profile. Adding a check: one file in src/checks and one row in
// catalog.def (tests fail until tests/data/checks/<id>/ holds its transcripts).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sskj/deploy/deployment.hpp"
#include "sskj/plan/plan.hpp"
#include "sskj/run/event.hpp"
#include "sskj/run/executor.hpp"

namespace sskj::checks {

/// A rank that runs on the node in question.
struct RankOnNode {
  const deploy::Group* group = nullptr;
  const deploy::Rank* rank = nullptr;
};

/// All that a probe may depend on.
struct NodeView {
  const deploy::Deployment* deployment = nullptr;
  const plan::Node* node = nullptr;
  std::vector<RankOnNode> ranks;       ///< in start order
  bool adopt = false;                  ///< containers of our name without our label may be taken over
};
NodeView view_of(const deploy::Deployment& deployment, const plan::Node& node, bool adopt = false);

/// A shell variable set on top of a probe; lists hold one item a line.
struct Var {
  std::string name, value;
};

/// A probe made ready for one node: its variables and what its output is judged by.
struct Probe {
  std::vector<Var> vars;
  std::string expectation = "{}";      ///< canonical JSON object
};

/// What one probe printed. Probes print `KEY VALUE...` lines; other lines are noise that only messages quote.
struct Output {
  std::optional<int> status;           ///< exit status; nullopt = the record is missing or incomplete
  std::string text;                    ///< stdout and stderr, at most 64 KiB
  bool timed_out() const { return status == 124 || status == 137; }
  /// The script came to its end: its last line is `end`.
  bool ended() const;
  /// Rest of the first line that begins with `key` and a blank (or is `key`).
  std::optional<std::string> value(std::string_view key) const;
  /// The same for every such line.
  std::vector<std::string> values(std::string_view key) const;
  /// First line that is no `end` marker and not empty, printable, cut to 200 bytes: for messages about garbage.
  std::string first_line() const;
};

/// A value that must be the same on all nodes, read from a probe's output. A name may carry a subject behind a blank ("mtu bond1"): each subject agrees by itself.
struct Fact {
  std::string name, value;
};

/// A fact that all nodes must agree on.
struct Agreement {
  std::string_view fact;
  std::string_view title;
  Errc failure = Errc::preflight;
  std::string_view remedy;
  run::FindingStatus status = run::FindingStatus::fail;  ///< of the odd ones out: fail or warn
};

/// Which runs look at it.
enum class Scope : std::uint8_t {
  start,  ///< before every start, and by preflight
  full,   ///< by preflight
  deep,   ///< by preflight --deep: it creates a container or moves traffic
};

struct Check {
  std::string_view id;                 ///< stable, kebab-case: skips and reports name it
  std::string_view title;
  std::string_view why;                ///< what goes wrong without it
  std::string_view remedy;             ///< default hint of its findings
  std::string_view source;             ///< where the fact comes from
  unsigned seconds = 10;               ///< the probe's own deadline
  std::string_view prelude = {};       ///< shell functions shared with other checks, put before the body
  std::string_view body;               ///< POSIX sh, read-only; prints `end` last when it ran to its end
  std::optional<Probe> (*probe)(const NodeView&) = nullptr;  ///< nullopt = does not apply to this node
  /// Pure. Leaves `check` and `node` of the findings empty; an empty answer counts as unknown.
  std::vector<run::Finding> (*judge)(const nlohmann::json& expectation, const Output& output) = nullptr;
  std::vector<Fact> (*facts)(const Output& output) = nullptr;  ///< may be null
  std::span<const Agreement> agreements = {};  ///< about its facts; static storage
  Scope scope = Scope::start;
  std::string_view follows = {};       ///< ids, blank-separated, of the checks whose failure makes this one fail, warn or know nothing too
};

/// The table, in the order in which probes run and findings are shown.
std::span<const Check> catalog();
const Check* find(std::string_view id);

/// The agreements of all checks, in the order of the table.
const std::vector<Agreement>& agreements();

/// One CheckNode for a node: script with all probes up to `scope` that apply, and the expectation of each. `skip` ids are not probed and are shown as skipped.
plan::CheckNode make_check(const NodeView& view, std::span<const std::string> skip, Scope scope = Scope::start);

/// The script of `probes` alone (make_check uses it; tests too).
struct Selected {
  const Check* check = nullptr;
  Probe probe;
};
std::string make_script(std::span<const Selected> probes);

/// Split a script's output into the records of its probes; ids without a complete record are absent.
std::vector<std::pair<std::string, Output>> split_records(std::string_view output);

/// Step judge "checks": one finding or more for each probe; ok only without fail and unknown.
run::Verdict judge_node(const plan::Step& step, std::string_view expectation, const run::StepResult& result);

/// Stage judge "agreement": the facts of all nodes are equal; odd ones out are named, ties shown as ties.
run::Verdict judge_agreement(const plan::Stage& stage, std::string_view expectation, const std::vector<run::NodeOutput>& nodes);

/// The same decision for any fact: value by node -> findings about the odd ones out (empty when all agree).
std::vector<run::Finding> disagreements(const Agreement& about, const std::vector<std::pair<std::string, std::string>>& value_by_node);

}  // namespace sskj::checks
