// Lock and claim.
#include "stages.hpp"

namespace sskj::recipes {
namespace {

std::string lock_script(const Context& context, Claim claim) {
  return Script("take the lock of this node")
      .set("state_dir", context.deployment.state_dir)
      .set("deployment", context.deployment.name)
      .set("profile", context.deployment.profile)
      .set("verb", context.request.verb)
      .set("reason", context.request.reason)
      .flag("claim", claim == Claim::take)
      .set("stale", k_stale_seconds)
      .with({sh::k_common, sh::k_state, sh::k_lock});
}

std::string state_script(const Context& context, std::string_view title, std::string_view text) {
  return Script(title).set("state_dir", context.deployment.state_dir).set("deployment", context.deployment.name).with({sh::k_common, sh::k_state, text});
}

}  // namespace

plan::Stage lock_stage(const Context& context, Claim claim, Unreachable unreachable) {
  plan::Stage stage;
  stage.id = "lock";
  stage.title = claim == Claim::take ? "claim and lock the nodes" : "lock the nodes";
  stage.order = plan::Order::one_by_one;
  const auto script = lock_script(context, claim);
  for (const auto* node : context.lock_order()) {
    auto step = script_step(context.id("lock", node->id), "take the lock", node->id, script, k_lock);
    step.hint = "who holds it: " + context.command("lock status");
    if (unreachable == Unreachable::tolerated) step.on_failure = plan::OnFailure::tolerate;
    stage.steps.push_back(std::move(step));
    if (claim == Claim::take) {
      stage.undo.push_back(script_step(context.id("unclaim", node->id), "take back the claim", node->id,
                                       state_script(context, "take back a claim that this run made", sh::k_unclaim), k_short));
    }
  }
  if (unreachable == Unreachable::tolerated) {
    Json names = Json::object();
    for (const auto* node : context.nodes) names[node->id] = context.names(node->id);
    stage.verdict = plan::Judgement{"locks", Json{{"names", std::move(names)}}.dump()};
  }
  return stage;
}

plan::Heartbeat heartbeat(const Context& context) {
  plan::Heartbeat heart;
  heart.stage = "lock";
  heart.every = k_beat;
  for (const auto* node : context.lock_order()) {
    heart.steps.push_back(script_step(context.id("beat", node->id), "keep the lock", node->id, state_script(context, "the lock's heartbeat", sh::k_beat), k_beat_deadline));
    heart.steps.back().hint = "who holds it: " + context.command("lock status");
  }
  return heart;
}

plan::Stage unlock_stage(const Context& context) {
  plan::Stage stage;
  stage.id = "unlock";
  stage.title = "release the locks";
  for (const auto* node : context.nodes) {
    stage.steps.push_back(
        script_step(context.id("unlock", node->id), "release the lock", node->id, state_script(context, "release the lock of this node", sh::k_unlock), k_short));
  }
  return stage;
}

}  // namespace sskj::recipes
