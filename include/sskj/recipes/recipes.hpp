// Recipes: verb -> Plan. Pure functions that emit the executor's primitives; a new recipe never changes the executor.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/deploy/deployment.hpp"
#include "sskj/plan/plan.hpp"

namespace sskj::recipes {

/// What the user asked for beyond the profile. All of it is in the plan afterwards.
struct Request {
  std::string verb;                    ///< a row of the table below
  std::vector<std::string> nodes;      ///< Node::id of the nodes to act on; empty = all. A group is all or nothing for verbs that start something.
  bool ensure = false;                 ///< start: keep a healthy, unchanged deployment as it is
  bool adopt = false;                  ///< take over containers of our names that carry no label of ours
  bool yes = false;                    ///< gc: remove what is listed
  std::string reason;                  ///< kept in the lock, for whoever meets it
  plan::Millis timeout{0};             ///< total; 0 = the verb's own
  // logs
  bool follow = false;
  unsigned tail = 0;                   ///< lines a rank; 0 = all
  std::string since;                   ///< as `docker logs --since` takes it; empty = from the beginning
  std::optional<unsigned> rank;        ///< this rank only
  // smoke
  std::string question, expect;        ///< instead of the profile's
  // exec
  std::vector<std::string> command;    ///< argv, run without a shell's interpretation
  // stop --force
  std::string pattern;                 ///< shell wildcards over container names
};

struct Recipe {
  std::string_view verb;
  std::string_view title;
  bool partial = true;                 ///< may act on a part of a group
  Result<plan::Plan> (*make)(const Request&, const deploy::Deployment&) = nullptr;
};

/// The table of verbs that need a deployment.
std::span<const Recipe> recipes();
const Recipe* find(std::string_view verb);

/// Errors: Errc::usage (unknown verb, node not in the deployment, part of a group for a verb that cannot), Errc::profile (an artifact that cannot be placed).
Result<plan::Plan> make_plan(const Request& request, const deploy::Deployment& deployment);

/// `exec` on hosts that no profile names. The command's words reach the program as they are; a pipeline is `sh -c '...'`.
Result<plan::Plan> make_exec_plan(std::vector<plan::Node> hosts, const Request& request);

/// `stop --force --name PATTERN`: removes containers by name, without profile, lock or label.
Result<plan::Plan> make_force_stop_plan(std::vector<plan::Node> hosts, const Request& request);

}  // namespace sskj::recipes
