// The stages that verbs are made of.
#pragma once

#include "context.hpp"

namespace sskj::recipes {

enum class Claim { none, take };
enum class Unreachable { fails, tolerated };  ///< stop goes on without nodes that cannot be reached; start does not

/// Lock (and claim) node after node in one order, so that of two runs exactly one gets all.
plan::Stage lock_stage(const Context& context, Claim claim, Unreachable unreachable);
/// What keeps a lock from being taken for a dead run's.
plan::Heartbeat heartbeat(const Context& context);
plan::Stage unlock_stage(const Context& context);

plan::Stage preflight_stage(const Context& context);

/// Places files and verifies them. Errc::profile for an artifact that cannot be placed.
Result<plan::Stage> artifacts_stage(const Context& context);

/// SIGTERM to rank 0 of each group (last group first), so that requests end before their peers vanish.
plan::Stage drain_stage(const Context& context, Unreachable unreachable);
struct RemoveOptions {
  bool release_claim = false;
  bool need_idle_gpus = false;  ///< wait until the GPUs are free of anybody: what start needs
};
plan::Stage remove_stage(const Context& context, const RemoveOptions& options);

plan::Stage run_stage(const Context& context, const deploy::Group& group);
plan::Stage ready_stage(const Context& context, const deploy::Group& group);
plan::Stage running_stage(const Context& context, const deploy::Group& group);

plan::Stage warm_stage(const Context& context, const deploy::Group& group);
plan::Stage smoke_stage(const Context& context, const deploy::Group& group);

/// Groups that answer questions of users: those with a served model.
bool answers(const deploy::Group& group);

/// The status question to every node, and its report.
plan::Stage status_stage(const Context& context);

/// --ensure: `ensure` ends ok when something must be started; `keep` then verifies what is kept.
std::vector<plan::Stage> ensure_stages(const Context& context);

}  // namespace sskj::recipes
