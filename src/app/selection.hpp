// Which nodes a command acts on. Pure.
#pragma once

#include <string>
#include <vector>

#include "sskj/core/result.hpp"
#include "sskj/plan/plan.hpp"

namespace sskj::app {

/// Node ids that -l names (all without it), without those that -x names, in the deployment's order. Errc::usage: a name that is not there (with the nearest
/// one), or nothing left.
Result<std::vector<std::string>> select_nodes(const std::vector<plan::Node>& nodes, const std::string& limit, const std::string& exclude);

/// Hosts that no profile names, from a node set; each may be `user@host`. Errc::usage: nothing named, or a name that begins with '-'.
Result<std::vector<plan::Node>> bare_hosts(const std::string& limit, const std::string& exclude);

}  // namespace sskj::app
