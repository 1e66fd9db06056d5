// preflight: the checks alone, read-only, without a lock.
#include "verbs.hpp"

namespace sskj::recipes {

Result<plan::Plan> make_preflight(const Request& request, const deploy::Deployment& deployment) {
  const auto context = make_context(request, deployment);
  if (!context) return tl::unexpected<Error>(context.error());
  auto plan = begin_plan(*context);
  plan.stages.push_back(preflight_stage(*context));
  return plan;
}

}  // namespace sskj::recipes
