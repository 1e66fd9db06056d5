// JSON for stdout: valid UTF-8 whatever went in, and no byte that a terminal would obey.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sskj::view {

std::string dump(const nlohmann::json& document, int indent = 2);
std::string dump(const nlohmann::ordered_json& document, int indent = 2);

/// DEL and C1 controls, which JSON allows inside strings, as \u escapes.
std::string escape_controls(std::string json);

}  // namespace sskj::view
