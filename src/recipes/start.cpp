// start and restart. The order of the stages is a promise: what fails before `drain` leaves the deployment that serves as it was.
#include "verbs.hpp"

namespace sskj::recipes {
namespace {

/// A group's world is fixed: a part of it can neither start nor be replaced.
Result<void> whole_groups(const Context& context) {
  for (const auto& group : context.deployment.groups) {
    if (context.members(group).size() == group.ranks.size()) continue;
    return fail(Errc::usage, context.request.verb + " needs all " + std::to_string(group.ranks.size()) + " nodes of group " + group.name + ": its ranks form one world",
                "leave out --limit and --exclude");
  }
  return {};
}

void add_group(plan::Plan& plan, const Context& context, const deploy::Group& group) {
  plan.stages.push_back(run_stage(context, group));
  plan.stages.push_back(ready_stage(context, group));
  plan.stages.push_back(running_stage(context, group));
}

void add_questions(plan::Plan& plan, const Context& context) {
  for (const auto& group : context.deployment.groups) {
    if (!answers(group)) continue;
    if (group.warmup.enabled) plan.stages.push_back(warm_stage(context, group));
    plan.stages.push_back(smoke_stage(context, group));
  }
}

}  // namespace

Result<plan::Plan> make_start(const Request& request, const deploy::Deployment& deployment) {
  const auto context = make_context(request, deployment);
  if (!context) return tl::unexpected<Error>(context.error());
  SSKJ_TRY(whole_groups(*context));
  auto artifacts = artifacts_stage(*context);
  if (!artifacts) return tl::unexpected<Error>(std::move(artifacts.error()));
  auto plan = begin_plan(*context);
  if (plan.deadline == Millis{0}) plan.deadline = deployment.start_deadline;
  plan.stages.push_back(lock_stage(*context, Claim::take, Unreachable::fails));
  plan.stages.push_back(preflight_stage(*context));
  if (!artifacts->steps.empty()) plan.stages.push_back(std::move(*artifacts));
  plan.stages.push_back(drain_stage(*context, Unreachable::fails));
  plan.stages.push_back(remove_stage(*context, {.release_claim = false, .need_idle_gpus = true}));
  for (const auto& group : deployment.groups) add_group(plan, *context, group);
  add_questions(plan, *context);
  if (request.ensure) {
    auto first = ensure_stages(*context);
    for (auto& stage : plan.stages) stage.only_if_stage = first.front().id;
    plan.stages.insert(plan.stages.begin(), std::make_move_iterator(first.begin()), std::make_move_iterator(first.end()));
  }
  plan.heartbeat = heartbeat(*context);
  plan.always.push_back(unlock_stage(*context));
  return plan;
}

}  // namespace sskj::recipes
