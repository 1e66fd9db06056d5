// Process exit codes: documented in README.md, each tested. Scripts depend on them.
#pragma once

#include <span>

#include "sskj/core/result.hpp"

namespace sskj {

enum class ExitCode : int {
  done = 0,
  step_failed = 1,
  usage = 2,
  preflight = 3,
  unreachable = 4,
  not_ready = 5,
  locked = 6,
  integrity = 7,
  drift = 8,
  wrong_answer = 9,
  internal = 10,
  bench_invalid = 11,
  deadline = 124,
  interrupted = 130,
  terminated = 143,
};

/// The one exit code of a category.
ExitCode exit_code_of(Errc code);

/// The code a process ends with when several failures happened: the first of the documented order
/// internal, interrupted, terminated, usage, locked, integrity, unreachable, preflight, deadline, step_failed, not_ready, wrong_answer, bench_invalid, drift, done.
ExitCode most_severe(std::span<const ExitCode> codes);

/// One line for --help and the README table.
std::string_view describe(ExitCode code);

/// All codes in numeric order (documentation and tests iterate over this).
std::span<const ExitCode> all_exit_codes();

}  // namespace sskj
