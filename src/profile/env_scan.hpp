// The env grammar (docs/profile.md): text -> assignments.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tree.hpp"

namespace sskj::profile {

struct Assignment {
  std::string key;
  SourceRef at;  ///< of the key
  Value value;   ///< scalar
};

struct EnvScan {
  std::vector<Assignment> assignments;
  Diagnostics diagnostics;
};

/// `given` are values of --set by env key: they win over the file's own in ${NAME}. `text` has passed clean_source().
EnvScan scan_env(std::string_view text, const std::string& file, const std::map<std::string, std::string, std::less<>>& given);

}  // namespace sskj::profile
