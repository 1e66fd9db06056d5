// logs: each rank's container log, line by line.
#include <algorithm>

#include "verbs.hpp"

namespace sskj::recipes {
namespace {

plan::Step log_step(const Context& context, const Member& member) {
  const auto& request = context.request;
  const auto script = Script("show a rank's log")
                          .set("name", member.rank->spec.name)
                          .flag("follow", request.follow)
                          .set("tail", request.tail == 0 ? std::string() : std::to_string(request.tail))
                          .set("since", request.since)
                          .with({sh::k_common, sh::k_logs});
  auto step = script_step(context.id("logs", member), "log of " + Context::who(member), member.rank->node, script, Millis{0});
  step.action = plan::RunScript{script, false, true, true};
  step.failure = Errc::not_ready;
  step.hint = "see what is deployed: " + context.command("status");
  return step;
}

/// SGLang prints its arguments, the API key among them, as its first line (sgl-project/sglang#37457, #18256). A start knows the key's value, because it places it; only here
/// nothing else needs it.
std::vector<plan::SecretRef> engine_secrets(const deploy::Deployment& deployment) {
  std::vector<plan::SecretRef> secrets;
  for (const auto& group : deployment.groups) {
    if (group.api_key && std::find(secrets.begin(), secrets.end(), *group.api_key) == secrets.end()) secrets.push_back(*group.api_key);
  }
  return secrets;
}

}  // namespace

Result<plan::Plan> make_logs(const Request& request, const deploy::Deployment& deployment) {
  const auto context = make_context(request, deployment);
  if (!context) return tl::unexpected<Error>(context.error());
  auto plan = begin_plan(*context);
  plan.redact = engine_secrets(deployment);
  plan::Stage stage;
  stage.id = "logs";
  stage.title = "logs";
  for (const auto& group : deployment.groups) {
    for (const auto& member : context->members(group)) {
      if (!request.rank || *request.rank == member.rank->rank) stage.steps.push_back(log_step(*context, member));
    }
  }
  if (stage.steps.empty()) return fail(Errc::usage, "no rank is selected", "ranks begin with 0; see: " + context->command("status"));
  plan.stages.push_back(std::move(stage));
  return plan;
}

}  // namespace sskj::recipes
