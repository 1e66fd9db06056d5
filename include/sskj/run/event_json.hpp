// Events as JSON: what the journal keeps and `-o ndjson` prints. Field names are stable; new ones may be added.
//
//   every event      event: run_started | stage_started | step_started | step_output | step_retried | step_progress | phase | step_finished | finding | report |
//                    stage_finished | run_finished; at: wall-clock time where the caller has one
//   step events      step, title, node; step_finished adds status, elapsed_ms, attempts, and where they apply error {code, message, hint}, exit_status,
//                    expected, got, last_lines, http {status, body, ...}, findings, out, err (valid UTF-8, the last `max_output` bytes), out_bytes, err_bytes
//   stage events     stage, title, number
//   run_finished     code, all_codes (numbers), hosts {node: class}, counts {class: n}, total, elapsed_ms, interrupted, died (only where true)
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sskj/run/event.hpp"

namespace sskj::run {

struct EventJsonOptions {
  std::string at;                          ///< RFC 3339; empty = no `at`
  std::size_t max_output = 64U << 10;      ///< bytes of out and err (each) in step_finished, and of an HTTP body; the journal's files hold more
};

/// One line of valid UTF-8 JSON without the newline.
std::string event_to_json(const Event& event, const EventJsonOptions& options = {});

/// The RunFinished event as a document of its own (summary.json): the same fields, indented.
std::string summary_json(const RunFinished& finished, const EventJsonOptions& options = {});

/// The steps and stages of a plan by id: events point into the plan that was run. The plan outlives it.
class PlanIndex {
 public:
  explicit PlanIndex(const plan::Plan& plan);
  [[nodiscard]] const plan::Plan& plan() const { return *plan_; }
  [[nodiscard]] const plan::Step* step(std::string_view id) const;    ///< nullptr where the plan has none of that id
  [[nodiscard]] const plan::Stage* stage(std::string_view id) const;
  [[nodiscard]] bool is_watch(std::string_view id) const;             ///< the step lives as long as its stage

 private:
  struct Entry {
    const plan::Step* step = nullptr;
    bool watch = false;
  };
  const plan::Plan* plan_;
  std::map<std::string_view, Entry> steps_;
  std::map<std::string_view, const plan::Stage*> stages_;
};

struct ReadEvent {
  Event event;
  std::string at;  ///< as written; empty where the line has none
};

/// The inverse of event_to_json, for lines that may come from another version of sskj, a full disk or a killed process: members that are not known are ignored,
/// absent ones have their default, a word that is not known is the most doubtful of its kind (never ok). nullopt: a kind of event that is not known here.
/// Errc::integrity: no event at all (not JSON, no object, no kind, a known member of another type); the message says why.
Result<std::optional<ReadEvent>> event_from_json(std::string_view line, const PlanIndex& plan);

}  // namespace sskj::run
