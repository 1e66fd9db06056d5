// Node sets: `174.1.60.[5-8,11]` folded and unfolded, as ClusterShell writes them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/core/result.hpp"

namespace sskj::nodeset {

/// Expand a comma- or blank-separated list with ranges (`a[1-3,7]`, `n[01-10]` keeps the padding). Order is kept, duplicates dropped.
/// Errors (Errc::usage): unbalanced bracket, empty or backward range, more than 4096 names.
Result<std::vector<std::string>> expand(std::string_view text);

/// Fold names into the shortest equal text; order inside a range is numeric. fold(expand(x)) names the same set.
std::string fold(std::span<const std::string> names);

}  // namespace sskj::nodeset
