// Pruning: old run directories make room. Bounded work, so that it can stand at the beginning of every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sskj/core/result.hpp"

namespace sskj::run {

struct PruneLimits {
  std::int64_t max_age = 30 * 24 * 3600;          ///< seconds since the run began
  std::size_t max_runs = 200;
  std::uint64_t max_bytes = std::uint64_t{2} << 30;  ///< of all runs together
};

struct Pruned {
  std::size_t removed = 0;
  std::optional<Error> fault;  ///< the first directory that should go and could not; the others went
};

/// Removes the oldest runs until the rest is within the limits: never one whose lock is held, never `keep`, nothing that is no run. `now`: seconds since 1970.
/// A call looks at and removes a bounded number of files; what is left over is for the next one.
Pruned prune_runs(const std::string& runs_directory, std::int64_t now, const PruneLimits& limits, const std::string& keep);

}  // namespace sskj::run
