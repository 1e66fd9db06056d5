// gc: what sskj left on the nodes and nothing needs any more. Listed without a lock; removed, with --yes, under the lock.
#include "verbs.hpp"

namespace sskj::recipes {
namespace {

constexpr Millis k_gc{600'000};  ///< docker rmi of an image of tens of gigabytes takes minutes

std::string gc_script(const Context& context, const std::vector<Member>& members) {
  std::vector<std::string> keep;
  for (const auto& artifact : context.deployment.artifacts) keep.push_back(artifact.node_path);
  for (const auto& member : members) {
    if (!member.group->api_key_path.empty()) keep.push_back(member.group->api_key_path);
  }
  return Script("collect what is not needed any more")
      .set("state_dir", context.deployment.state_dir)
      .set("deployment", context.deployment.name)
      .list("keep", keep)
      .list("images", values_of(members, [](const Member& member) { return member.rank->spec.image; }))
      .flag("apply", context.request.yes)
      .with({sh::k_common, sh::k_state, sh::k_need_lock, sh::k_gc});
}

}  // namespace

Result<plan::Plan> make_gc(const Request& request, const deploy::Deployment& deployment) {
  const auto context = make_context(request, deployment);
  if (!context) return tl::unexpected<Error>(context.error());
  auto plan = begin_plan(*context);
  plan::Stage stage;
  stage.id = "gc";
  stage.title = request.yes ? "remove what is not needed any more" : "list what is not needed any more";
  for (const auto* node : context->nodes) {
    auto step = script_step(context->id("gc", node->id), stage.title, node->id, gc_script(*context, context->members(node->id)), k_gc);
    step.action = plan::RunScript{std::get<plan::RunScript>(step.action).script, request.yes, true};
    if (!request.yes) step.hint = "remove it: " + context->command("gc") + " --yes";
    stage.steps.push_back(std::move(step));
  }
  if (request.yes) {
    plan.stages.push_back(lock_stage(*context, Claim::none, Unreachable::fails));
    plan.heartbeat = heartbeat(*context);
    plan.always.push_back(unlock_stage(*context));
  }
  plan.stages.push_back(std::move(stage));
  return plan;
}

}  // namespace sskj::recipes
