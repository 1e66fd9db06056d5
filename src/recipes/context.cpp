#include "context.hpp"

#include <algorithm>

#include "sskj/core/shell.hpp"

namespace sskj::recipes {

bool Context::selected(std::string_view node) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](const plan::Node* one) { return one->id == node; });
}

std::vector<Member> Context::members(std::string_view node) const {
  std::vector<Member> found;
  for (const auto& group : deployment.groups) {
    for (const auto& rank : group.ranks) {
      if (rank.node == node) found.push_back({&group, &rank});
    }
  }
  return found;
}

std::vector<Member> Context::members(const deploy::Group& group) const {
  std::vector<Member> found;
  for (const auto& rank : group.ranks) {
    if (selected(rank.node)) found.push_back({&group, &rank});
  }
  return found;
}

std::vector<std::string> Context::names(std::string_view node) const {
  std::vector<std::string> found;
  for (const auto& member : members(node)) found.push_back(member.rank->spec.name);
  return found;
}

std::vector<const plan::Node*> Context::lock_order() const {
  auto order = nodes;
  const auto key = [](const plan::Node* node) -> const std::string& { return node->data_address.empty() ? node->id : node->data_address; };
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });
  return order;
}

std::string Context::id(std::string_view stage, std::string_view node) const {
  return request.verb + "." + std::string(stage) + "." + std::string(node);
}

std::string Context::id(std::string_view stage, const Member& member) const {
  return id(stage, member.rank->node) + "." + member.group->name + std::to_string(member.rank->rank);
}

std::string Context::stage_id(std::string_view stage, const deploy::Group& group) const {
  return deployment.groups.size() > 1 ? std::string(stage) + "." + group.name : std::string(stage);
}

std::string Context::who(const Member& member) { return member.group->name + " rank " + std::to_string(member.rank->rank); }

std::string Context::command(std::string_view verb) const { return "sskj " + std::string(verb) + " -p " + shell::quote(deployment.profile); }

Result<Context> make_context(const Request& request, const deploy::Deployment& deployment) {
  Context context{request, deployment, {}};
  for (const auto& id : request.nodes) {
    const auto at = std::find_if(deployment.nodes.begin(), deployment.nodes.end(), [&](const plan::Node& node) { return node.id == id; });
    if (at == deployment.nodes.end()) return fail(Errc::usage, "node " + id + " is not one of deployment " + deployment.name, "see: " + context.command("profile show"));
  }
  for (const auto& node : deployment.nodes) {
    const auto listed = std::find(request.nodes.begin(), request.nodes.end(), node.id) != request.nodes.end();
    if (request.nodes.empty() || listed) context.nodes.push_back(&node);
  }
  if (context.nodes.empty()) return fail(Errc::usage, "deployment " + deployment.name + " has no nodes");
  return context;
}

plan::Plan begin_plan(const Context& context) {
  plan::Plan plan;
  plan.verb = context.request.verb;
  plan.deployment = context.deployment.name;
  plan.profile = context.deployment.profile;
  for (const auto* node : context.nodes) plan.nodes.push_back(*node);
  plan.deadline = context.request.timeout;
  return plan;
}

plan::Step script_step(std::string id, std::string title, std::string node, std::string script, Millis deadline) {
  plan::Step step;
  step.id = std::move(id);
  step.title = std::move(title);
  step.node = std::move(node);
  step.action = plan::RunScript{std::move(script)};
  step.deadline = deadline;
  return step;
}

plan::Step check_step(std::string id, std::string title, std::string node, std::string script, plan::Judgement verdict, Millis deadline) {
  plan::Step step;
  step.id = std::move(id);
  step.title = std::move(title);
  step.node = std::move(node);
  step.action = plan::CheckNode{std::move(script), std::move(verdict)};
  step.deadline = deadline;
  return step;
}

std::string probe_host(const deploy::Group& group, const deploy::Rank& rank) {
  const bool everywhere = group.host_bind.empty() || group.host_bind == "0.0.0.0" || group.host_bind == "::";
  if (!everywhere) return group.host_bind;
  return rank.data_address.empty() ? "127.0.0.1" : rank.data_address;
}

std::vector<std::string> values_of(const std::vector<Member>& members, std::string (*value)(const Member&)) {
  std::vector<std::string> values;
  for (const auto& member : members) {
    auto one = value(member);
    if (!one.empty() && std::find(values.begin(), values.end(), one) == values.end()) values.push_back(std::move(one));
  }
  return values;
}

}  // namespace sskj::recipes
