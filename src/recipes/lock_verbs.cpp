// lock status: who holds the nodes. lock release: frees them whoever holds them, and says who did.
#include "verbs.hpp"

namespace sskj::recipes {

Result<plan::Plan> make_lock_status(const Request& request, const deploy::Deployment& deployment) {
  const auto context = make_context(request, deployment);
  if (!context) return tl::unexpected<Error>(context.error());
  auto plan = begin_plan(*context);
  plan::Stage stage;
  stage.id = "holders";
  stage.title = "ask who holds the nodes";
  const auto script = Script("who holds this node")
                          .set("state_dir", deployment.state_dir)
                          .set("stale", k_stale_seconds)
                          .with({sh::k_common, sh::k_state, sh::k_hold, sh::k_lock_status});
  for (const auto* node : context->lock_order()) {
    auto step = check_step(context->id("holders", node->id), "read lock and claim", node->id, script, {"status-node", "{}"}, k_short);
    step.on_failure = plan::OnFailure::tolerate;
    stage.steps.push_back(std::move(step));
  }
  stage.verdict = plan::Judgement{"holders", Json{{"deployment", deployment.name}}.dump()};
  plan.stages.push_back(std::move(stage));
  return plan;
}

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
