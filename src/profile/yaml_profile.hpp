// The YAML form -> tree.
#pragma once

#include <string>
#include <string_view>

#include "tree.hpp"

namespace sskj::profile {

/// One document, a map. Bounded: nesting 32, 20000 values after aliases are expanded. Never throws.
Value yaml_tree(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace sskj::profile
