// Ending what runs: rank 0 first and gently, then everything, until names and GPUs are free.
#include <algorithm>

#include "stages.hpp"

namespace sskj::recipes {
namespace {

Script ours(const Context& context, std::string_view title, std::string_view node) {
  return Script(title)
      .set("state_dir", context.deployment.state_dir)
      .set("deployment", context.deployment.name)
      .list("names", context.names(node))
      .flag("adopt", context.request.adopt);
}

long long grace_seconds(const std::vector<Member>& members) {
  Millis longest{0};
  for (const auto& member : members) longest = std::max(longest, member.group->stop_grace);
  return std::chrono::ceil<std::chrono::seconds>(longest).count();
}

Millis seconds(long long count) { return std::chrono::seconds(count); }

/// Memory in use below which a GPU counts as free; empty when the profile does not want that looked at.
std::string idle_mib(const std::vector<Member>& members) {
  for (const auto& member : members) {
    const auto& skip = member.group->preflight.skip;
    if (!member.rank->spec.gpus.empty() && std::find(skip.begin(), skip.end(), "gpu-idle") == skip.end()) {
      return std::to_string(member.group->preflight.gpu_memory_idle_mib);
    }
  }
  return {};
}

}  // namespace

plan::Stage drain_stage(const Context& context, Unreachable unreachable) {
  plan::Stage stage;
  stage.id = "drain";
  stage.title = "let rank 0 finish its requests and stop it";
  for (auto group = context.deployment.groups.rbegin(); group != context.deployment.groups.rend(); ++group) {
    for (const auto& member : context.members(*group)) {
      if (member.rank->rank != 0) continue;
      const auto grace = grace_seconds({member});
      const std::vector<std::string> drained{member.rank->spec.name};
      const auto script = ours(context, "stop rank 0", member.rank->node).list("drain", drained).set("grace", grace).with({sh::k_common, sh::k_state, sh::k_need_lock, sh::k_ours, sh::k_drain});
      auto step = script_step(context.id("drain", member), "stop " + Context::who(member), member.rank->node, script, seconds(grace) + k_docker);
      if (unreachable == Unreachable::tolerated) step.on_failure = plan::OnFailure::tolerate;
      stage.steps.push_back(std::move(step));
    }
  }
  return stage;
}

plan::Stage remove_stage(const Context& context, const RemoveOptions& options) {
  plan::Stage stage;
  stage.id = "remove";
  stage.title = "remove old containers until names and GPUs are free";
  for (const auto* node : context.nodes) {
    const auto members = context.members(node->id);
    const auto grace = grace_seconds(members);
    const auto script = ours(context, "remove this deployment's containers", node->id)
                            .set("grace", grace)
                            .set("remove_seconds", k_remove_seconds)
                            .set("gpu_seconds", k_gpu_seconds)
                            .set("idle_mib", options.need_idle_gpus ? idle_mib(members) : std::string())
                            .flag("release", options.release_claim)
                            .with({sh::k_common, sh::k_state, sh::k_need_lock, sh::k_ours, sh::k_remove});
    auto step = script_step(context.id("remove", node->id), "remove old containers", node->id, script, seconds(grace + k_remove_seconds + k_gpu_seconds) + k_docker);
    step.hint = "see what is left: " + context.command("status");
    stage.steps.push_back(std::move(step));
  }
  return stage;
}

}  // namespace sskj::recipes
