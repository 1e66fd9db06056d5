// What must be so before anything is changed: one exec per node.
#include <algorithm>

#include "sskj/checks/check.hpp"
#include "stages.hpp"

namespace sskj::recipes {
namespace {

std::vector<std::string> skips_of(const checks::NodeView& view) {
  std::vector<std::string> skips;
  for (const auto& on : view.ranks) {
    for (const auto& id : on.group->preflight.skip) {
      if (std::find(skips.begin(), skips.end(), id) == skips.end()) skips.push_back(id);
    }
  }
  return skips;
}

}  // namespace

plan::Stage preflight_stage(const Context& context) {
  plan::Stage stage;
  stage.id = "preflight";
  stage.title = "check the nodes";
  for (const auto* node : context.nodes) {
    const auto view = checks::view_of(context.deployment, *node, context.request.adopt);
    auto step = check_step(context.id("preflight", node->id), "check the node", node->id, "", {}, k_preflight);
    step.action = checks::make_check(view, skips_of(view));
    step.failure = Errc::preflight;
    stage.steps.push_back(std::move(step));
  }
  Json facts = Json::array();
  for (const auto& row : checks::agreements()) facts.push_back(row.fact);
  stage.verdict = plan::Judgement{"agreement", Json{{"facts", facts}}.dump()};
  return stage;
}

}  // namespace sskj::recipes
