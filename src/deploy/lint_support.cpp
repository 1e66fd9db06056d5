#include <algorithm>

#include <fmt/format.h>

#include "lint_rules.hpp"

namespace sskj::deploy::rules {

namespace {

// Where a rank's variable was written: its own env, its NIC or HCA, the group's env.
SourceRef env_at(const Deployment& deployment, const Group& group, unsigned rank, std::string_view name) {
  const std::string node = fmt::format("groups.{}.nodes.{}", group.name, rank);
  const bool interface = name == "NCCL_SOCKET_IFNAME" || name == "GLOO_SOCKET_IFNAME";
  const std::string own[] = {fmt::format("{}.env.{}", node, name), interface ? node + ".nic" : name == "NCCL_IB_HCA" ? node + ".hca" : std::string("-")};
  for (const std::string& path : own) {
    if (deployment.where.contains(path)) {
      return deployment.where.find(path);
    }
  }
  return deployment.where.find(fmt::format("groups.{}.env.{}", group.name, name));
}

}  // namespace

std::vector<EnvHit> env_hits(const Deployment& deployment, std::string_view name) {
  std::vector<EnvHit> hits;
  for (const Group& group : deployment.groups) {
    for (const Rank& rank : group.ranks) {
      for (const EnvVar& variable : rank.spec.env) {
        if (variable.name != name) {
          continue;
        }
        EnvHit hit{&group, rank.rank, variable.value, env_at(deployment, group, rank.rank, name)};
        const bool known = std::any_of(hits.begin(), hits.end(), [&](const EnvHit& h) { return h.group == hit.group && h.at == hit.at; });
        if (!known) {
          hits.push_back(std::move(hit));
        }
      }
    }
  }
  return hits;
}

const FoundArg* last(const std::vector<FoundArg>& found) { return found.empty() ? nullptr : &found.back(); }

std::vector<FoundArg> args(const Group& group, std::initializer_list<std::string_view> names) {
  return find_args(group.launch_args, std::span(names.begin(), names.size()));
}

SourceRef at(const Deployment& deployment, const Group& group, std::string_view key) {
  return deployment.where.find(fmt::format("groups.{}.{}", group.name, key));
}

SourceRef arg_at(const Deployment& deployment, const Group& group, std::size_t index) {
  return at(deployment, group, fmt::format("launch_args.{}", index));
}

Diagnostic say(const LintRow& row, const SourceRef& where, std::string message, std::string hint) {
  return {row.severity, std::string(row.id), std::move(message), std::move(hint), where, std::string(row.reference)};
}

bool multi_node(const Group& group) {
  const RoleRow* role = find_role(group.role);
  return role != nullptr && role->needs_model && group.ranks.size() > 1;
}

}  // namespace sskj::deploy::rules
