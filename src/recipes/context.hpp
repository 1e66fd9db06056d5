// What all recipes share: the selected part of a deployment, and how steps are made.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "script.hpp"
#include "shell_text.hpp"
#include "sskj/deploy/deployment.hpp"
#include "sskj/plan/plan.hpp"
#include "sskj/recipes/recipes.hpp"

namespace sskj::recipes {

using Json = nlohmann::json;
using plan::Millis;

// Deadlines: connecting is included, so none is below what a slow login shell and a ProxyJump chain need.
inline constexpr Millis k_short{30'000};
inline constexpr Millis k_docker{120'000};        ///< docker run, inspect of several containers
inline constexpr Millis k_preflight{240'000};     ///< the probes' own deadlines are shorter; weights on a cold disk take longest
inline constexpr Millis k_put{120'000};
// A lock is stale when its run has missed this many seconds of beats: three and a bit, so that a slow login or a short cut of the network costs nothing, and little enough
// that whoever starts again after a kill -9 waits less than 30 s.
inline constexpr Millis k_beat{5'000};
inline constexpr Millis k_beat_deadline{15'000};
inline constexpr long long k_stale_seconds = 20;
inline constexpr Millis k_lock{60'000};           ///< waiting for a stale lock included
inline constexpr long long k_remove_seconds = 120;
inline constexpr long long k_gpu_seconds = 60;

/// A rank with its group.
struct Member {
  const deploy::Group* group = nullptr;
  const deploy::Rank* rank = nullptr;
};

struct Context {
  const Request& request;
  const deploy::Deployment& deployment;
  std::vector<const plan::Node*> nodes;            ///< selected, in the deployment's order

  bool selected(std::string_view node) const;
  std::vector<Member> members(std::string_view node) const;          ///< ranks on a node, in start order
  std::vector<Member> members(const deploy::Group& group) const;     ///< a group's ranks on selected nodes
  std::vector<std::string> names(std::string_view node) const;       ///< their containers
  /// Nodes in the one order in which locks are taken: the same for every profile that names the same machines.
  std::vector<const plan::Node*> lock_order() const;
  /// "<verb>.<stage>.<node>" or with a rank behind it
  std::string id(std::string_view stage, std::string_view node) const;
  std::string id(std::string_view stage, const Member& member) const;
  /// A stage's id: with the group's name behind it where there are several groups.
  std::string stage_id(std::string_view stage, const deploy::Group& group) const;
  /// "server rank 0"
  static std::string who(const Member& member);
  std::string command(std::string_view verb) const;                  ///< "sskj status -p PROFILE", for hints
};

/// Errc::usage when the request's nodes are not the deployment's.
Result<Context> make_context(const Request& request, const deploy::Deployment& deployment);

/// An empty plan with the header filled in.
plan::Plan begin_plan(const Context& context);

/// A step with a script that changes something.
plan::Step script_step(std::string id, std::string title, std::string node, std::string script, Millis deadline);
plan::Step check_step(std::string id, std::string title, std::string node, std::string script, plan::Judgement verdict, Millis deadline);

/// Where a rank's API is asked, as its node sees it: the data address (it is also right from outside), or the one address the engine is bound to.
std::string probe_host(const deploy::Group& group, const deploy::Rank& rank);

/// Lists over something, as scripts take them.
std::vector<std::string> values_of(const std::vector<Member>& members, std::string (*value)(const Member&));

}  // namespace sskj::recipes
