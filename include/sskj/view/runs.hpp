// Runs as a table (history), and what is said when one goes on in the background.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sskj/view/renderer.hpp"

namespace sskj::view {

struct RunRow {
  std::string run, verb, deployment, profile;
  std::string started;                ///< RFC 3339
  std::optional<Millis> elapsed;      ///< until its end, its last sign of life, or now
  std::string state;                  ///< running, done, failed, died
  std::optional<int> exit_code;       ///< of a run that ended by itself
  bool interrupted = false;
  std::string directory, command;
  std::int64_t pid = 0;               ///< 0 = not known
};

/// RUN, VERB, DEPLOYMENT, STARTED, TIME, RESULT; JSON {"schema_version":1,"runs":[{"run","verb","deployment","profile","started","elapsed_ms","state","exit_code",
/// "interrupted","directory","command","pid"}]} with null for what is not known.
void show_runs(Output& output, const Options& options, std::span<const RunRow> rows);

struct Detached {
  std::string run, verb, deployment, plan_digest, directory, attach;  ///< attach: the command that follows it
  std::int64_t pid = 0;
};

/// "run:" and "attach:" lines; JSON {"schema_version":1,"verb","deployment","run","plan_digest","run_directory","detached":true,"pid","attach","exit_code":0,"exit_codes":[]}.
void show_detached(Output& output, const Options& options, const Detached& detached);

}  // namespace sskj::view
