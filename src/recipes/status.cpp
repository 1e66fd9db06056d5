// status: what is wanted against what runs, without a lock and within a bound whatever a node does.
#include <algorithm>
#include <map>

#include "spec_json.hpp"
#include "verbs.hpp"

namespace sskj::recipes {
namespace {

constexpr Millis k_status_total{30'000};
constexpr Millis k_ask_node{11'000};    ///< connecting included; a node that takes longer counts as one that could not be asked
constexpr Millis k_ask_health{15'000};  ///< for all ranks of a node together; a healthy answer costs about 1 s, a failing one up to 20 s (sglang.md 2.1)
constexpr Millis k_margin{1'000};

std::string status_script(const Context& context, const std::vector<Member>& members) {
  const auto images = values_of(members, [](const Member& member) { return member.rank->spec.image; });
  const auto names = values_of(members, [](const Member& member) { return member.rank->spec.name; });
  return Script("status of this node")
      .set("state_dir", context.deployment.state_dir)
      .set("deployment", context.deployment.name)
      .list("names", names)
      .list("images", images)
      .set("stale", k_stale_seconds)
      .with({sh::k_common, sh::k_state, sh::k_hold, sh::k_status});
}

plan::Step health_once(const Context& context, const Member& member, Millis timeout) {
  plan::HttpProbe probe;
  probe.host = probe_host(*member.group, *member.rank);
  probe.port = member.rank->api_port;
  probe.target = member.group->readiness.health_path;
  probe.bearer = member.group->api_key;
  probe.request_timeout = timeout;
  probe.verdict = {"observe", "{}"};
  plan::Step step;
  step.id = context.id("health", member);
  step.title = "ask " + Context::who(member) + " whether it is healthy";
  step.node = member.rank->node;
  step.action = std::move(probe);
  step.deadline = timeout + k_margin;
  step.on_failure = plan::OnFailure::tolerate;
  step.failure = Errc::not_ready;
  return step;
}

/// What the report is made of: every rank's wanted specification and the steps that speak of it.
Json expectation(const Context& context) {
  Json groups = Json::array();
  for (const auto& group : context.deployment.groups) {
    Json ranks = Json::array();
    for (const auto& member : context.members(group)) {
      ranks.push_back({{"rank", member.rank->rank},
                       {"node", member.rank->node},
                       {"spec", spec_to_json(member.rank->spec)},
                       {"health_step", context.id("health", member)},
                       {"node_step", context.id("status", member.rank->node)}});
    }
    if (!ranks.empty()) groups.push_back({{"name", group.name}, {"role", group.role}, {"ranks", ranks}});
  }
  std::string endpoint;
  for (const auto& group : context.deployment.groups) {
    if (!answers(group) || group.ranks.empty()) continue;
    const auto& first = group.ranks.front();
    endpoint = "http://" + (first.data_address.empty() ? first.node : first.data_address) + ":" + std::to_string(first.api_port);
  }
  return {{"deployment", context.deployment.name}, {"endpoint", endpoint}, {"groups", groups}};
}

}  // namespace

plan::Stage status_stage(const Context& context) {
  plan::Stage stage;
  stage.id = "status";
  stage.title = "ask the nodes";
  for (const auto* node : context.nodes) {
    const auto members = context.members(node->id);
    auto step = check_step(context.id("status", node->id), "look at containers, images and lock", node->id, status_script(context, members), {"status-node", "{}"}, k_ask_node);
    step.on_failure = plan::OnFailure::tolerate;
    stage.steps.push_back(std::move(step));
    const auto share = k_ask_health / std::max<std::size_t>(members.size(), 1);
    for (const auto& member : members) {
      if (member.rank->api_port != 0) stage.steps.push_back(health_once(context, member, share - k_margin));
    }
  }
  stage.verdict = plan::Judgement{"status", expectation(context).dump()};
  return stage;
}

std::vector<plan::Stage> ensure_stages(const Context& context) {
  std::vector<plan::Stage> stages;
  auto ensure = status_stage(context);
  ensure.id = "ensure";
  ensure.title = "is there anything to do? (--ensure)";
  ensure.verdict->judge = "must-start";
  ensure.on_failure = plan::OnFailure::tolerate;
  stages.push_back(std::move(ensure));
  // Nothing differs, or it cannot be told: then the deployment must prove itself, and nothing is recreated merely because /health fails.
  auto keep = status_stage(context);
  keep.id = "keep";
  keep.title = "the deployment is as wanted: is it healthy?";
  for (auto& step : keep.steps) step.id += ".keep";
  auto expected = Json::parse(keep.verdict->expectation);
  for (auto& group : expected["groups"]) {
    for (auto& rank : group["ranks"]) {
      rank["health_step"] = rank["health_step"].get<std::string>() + ".keep";
      rank["node_step"] = rank["node_step"].get<std::string>() + ".keep";
    }
  }
  keep.verdict->expectation = expected.dump();
  keep.only_if = plan::OnlyIf::previous_failed;
  keep.only_if_stage = "ensure";
  stages.push_back(std::move(keep));
  return stages;
}

Result<plan::Plan> make_status(const Request& request, const deploy::Deployment& deployment) {
  const auto context = make_context(request, deployment);
  if (!context) return tl::unexpected<Error>(context.error());
  auto plan = begin_plan(*context);
  if (plan.deadline == Millis{0}) plan.deadline = k_status_total;
  plan.stages.push_back(status_stage(*context));
  return plan;
}

}  // namespace sskj::recipes
