// smoke and warmup: the questions alone.
#include "verbs.hpp"

namespace sskj::recipes {
namespace {

Result<plan::Plan> ask(const Request& request, const deploy::Deployment& deployment, plan::Stage (*make)(const Context&, const deploy::Group&)) {
  const auto context = make_context(request, deployment);
  if (!context) return tl::unexpected<Error>(context.error());
  auto plan = begin_plan(*context);
  for (const auto& group : deployment.groups) {
    if (!answers(group)) continue;
    auto stage = make(*context, group);
    if (stage.steps.empty()) return fail(Errc::usage, "rank 0 of group " + group.name + " answers the question, and its node is not selected", "leave out --limit and --exclude");
    plan.stages.push_back(std::move(stage));
  }
  if (plan.stages.empty()) return fail(Errc::usage, "no group of deployment " + deployment.name + " serves a model", "set served_model in the profile");
  return plan;
}

}  // namespace

Result<plan::Plan> make_smoke(const Request& request, const deploy::Deployment& deployment) { return ask(request, deployment, smoke_stage); }

Result<plan::Plan> make_warmup(const Request& request, const deploy::Deployment& deployment) { return ask(request, deployment, warm_stage); }

}  // namespace sskj::recipes
