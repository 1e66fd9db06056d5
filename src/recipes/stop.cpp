// stop: what can be reached is stopped, what cannot is named. Needs neither images nor artifacts; containers are found by label and name.
#include "verbs.hpp"

namespace sskj::recipes {

Result<plan::Plan> make_stop(const Request& request, const deploy::Deployment& deployment) {
  const auto context = make_context(request, deployment);
  if (!context) return tl::unexpected<Error>(context.error());
  auto plan = begin_plan(*context);
  plan.stages.push_back(lock_stage(*context, Claim::none, Unreachable::tolerated));
  auto drain = drain_stage(*context, Unreachable::tolerated);
  if (!drain.steps.empty()) plan.stages.push_back(std::move(drain));
  plan.stages.push_back(remove_stage(*context, {.release_claim = true, .need_idle_gpus = false}));
  plan.heartbeat = heartbeat(*context);
  plan.always.push_back(unlock_stage(*context));
  return plan;
}

Result<plan::Plan> make_force_stop_plan(std::vector<plan::Node> hosts, const Request& request) {
  if (request.pattern.empty()) return fail(Errc::usage, "stop --force without a profile needs --name PATTERN", "for example: --name 'kimi3_*_node*'");
  if (hosts.empty()) return fail(Errc::usage, "no host to act on", "name hosts with --limit");
  constexpr long long k_grace = 30;
  plan::Plan plan;
  plan.verb = request.verb;
  plan.nodes = std::move(hosts);
  plan.deadline = request.timeout;
  plan::Stage stage;
  stage.id = "remove";
  stage.title = "remove containers by name";
  const auto script = Script("remove containers by name")
                          .set("pattern", request.pattern)
                          .set("grace", k_grace)
                          .set("remove_seconds", k_remove_seconds)
                          .with({sh::k_common, sh::k_force_stop});
  for (const auto& node : plan.nodes) {
    stage.steps.push_back(script_step(request.verb + ".remove." + node.id, "remove containers", node.id, script, std::chrono::seconds(k_grace + k_remove_seconds) + k_docker));
  }
  plan.stages.push_back(std::move(stage));
  return plan;
}

}  // namespace sskj::recipes
