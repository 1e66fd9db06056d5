// lock release: frees the nodes whoever holds them, and says who did. Who holds them is part of status.
#include "verbs.hpp"

namespace sskj::recipes {

Result<plan::Plan> make_lock_release(const Request& request, const deploy::Deployment& deployment) {
  const auto context = make_context(request, deployment);
  if (!context) return tl::unexpected<Error>(context.error());
  auto plan = begin_plan(*context);
  plan::Stage stage;
  stage.id = "release";
  stage.title = "release the locks, whoever holds them";
  const auto script = Script("release the lock of this node").set("state_dir", deployment.state_dir).with({sh::k_common, sh::k_state, sh::k_lock_release});
  for (const auto* node : context->lock_order()) {
    stage.steps.push_back(script_step(context->id("release", node->id), "release the lock", node->id, script, k_short));
  }
  plan.stages.push_back(std::move(stage));
  return plan;
}

}  // namespace sskj::recipes
