// JSON for stdout: valid UTF-8 whatever went in, and no byte that a terminal would obey.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "sskj/core/diagnostic.hpp"

namespace sskj::view {

std::string dump(const nlohmann::json& document, int indent = 2);
std::string dump(const nlohmann::ordered_json& document, int indent = 2);

/// The members that every diagnostic has in JSON.
nlohmann::ordered_json diagnostics_array(const Diagnostics& diagnostics);

/// DEL and C1 controls, which JSON allows inside strings, as \u escapes.
std::string escape_controls(std::string json);

}  // namespace sskj::view
