// Events as JSON: what the journal keeps and `-o ndjson` prints. Field names are stable; new ones may be added.
//
//   every event      event: run_started | stage_started | step_started | step_output | step_retried | step_progress | phase | step_finished | finding | report |
//                    stage_finished | run_finished; at: wall-clock time where the caller has one
//   step events      step, title, node; step_finished adds status, elapsed_ms, attempts, and where they apply error {code, message, hint}, exit_status,
//                    expected, got, last_lines, http {status, body, ...}, findings, out, err (valid UTF-8, the last `max_output` bytes), out_bytes, err_bytes
//   stage events     stage, title, number
//   run_finished     code, all_codes (numbers), hosts {node: class}, counts {class: n}, total, elapsed_ms, interrupted
#pragma once

#include <cstddef>
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

}  // namespace sskj::run
