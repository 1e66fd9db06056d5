// The env form -> tree.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tree.hpp"

namespace sskj::profile {

/// One env file is one group, named by its ROLE (`server` when it has none). VAR_<NAME> are helpers for ${VAR_<NAME>} and make no setting.
Value env_tree(std::string_view text, const std::string& file, const std::map<std::string, std::string, std::less<>>& given, Diagnostics& diagnostics);

}  // namespace sskj::profile
