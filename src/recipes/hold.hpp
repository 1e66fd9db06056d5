// Who holds a node, as its `lock KEY=VALUE` and `claim KEY=VALUE` lines say it. Untrusted text.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "sskj/checks/check.hpp"

namespace sskj::recipes {

/// The lines of `key` ("lock" or "claim") as an object: age, beat_age (seconds) and pid as numbers, stale as a boolean, the rest as text; empty when there are none.
nlohmann::json read_hold(const checks::Output& output, std::string_view key);

}  // namespace sskj::recipes
