// The pure functions that plans of this module name: judges and the reader of log lines. The composition root hands them to the executor.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sskj/run/executor.hpp"

namespace sskj::recipes {

/// Step judges, stage judges and the line matcher of all recipes and checks; `secret` is left empty for the caller to fill.
run::Drivers drivers();

/// What a log line means. One row of the table of phases and fatal signatures (sglang.md 3, 4).
struct Signature {
  std::string_view id;                 ///< "M1", "N3", ... of sglang.md; phases have their name
  std::string_view pattern;            ///< RE2, unanchored; groups 1 and 2 of a phase are done and total
  std::string_view phase;              ///< init, rendezvous, weights, state-cache, kv, graphs, warm-up, ready; empty for a fatal signature
  std::string_view cause = {};         ///< fatal: what it means, and
  std::string_view hint = {};          ///< what to do
};
std::span<const Signature> signatures();

}  // namespace sskj::recipes
