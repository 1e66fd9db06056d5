// Lints on ports, image and docker options.
#include <fmt/format.h>

#include <algorithm>

#include "lint_rules.hpp"
#include "sskj/core/text.hpp"

namespace sskj::deploy::rules {

namespace {

// Linux's default net.ipv4.ip_local_port_range.
constexpr std::uint16_t k_ephemeral_first = 32768, k_ephemeral_last = 60999;

struct Listener {
  const Group* group;
  const Rank* rank;
  PortUse use;
};

std::vector<Listener> listeners(const Deployment& deployment) {
  std::vector<Listener> out;
  for (const Group& group : deployment.groups) {
    const RoleRow* role = find_role(group.role);
    for (const Rank& rank : group.ranks) {
      for (PortUse& use : role->ports(group, rank)) {
        out.push_back({&group, &rank, std::move(use)});
      }
    }
  }
  return out;
}

bool digits(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos; }

}  // namespace

Diagnostics port_clash(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  const std::vector<Listener> all = listeners(deployment);
  for (auto a = all.begin(); a != all.end(); ++a) {
    for (auto b = std::next(a); b != all.end(); ++b) {
      if (a->rank->node == b->rank->node && a->use.port == b->use.port) {
        out.push_back(say(row, at(deployment, *b->group, b->use.setting),
                          fmt::format("port {} on {} is wanted twice: {} of group {} and {} of group {}", a->use.port, a->rank->node, a->use.what,
                                      a->group->name, b->use.what, b->group->name),
                          "give one of them another port"));
      }
    }
  }
  return out;
}

Diagnostics ephemeral_port(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  std::vector<std::string> seen;
  for (const Listener& listener : listeners(deployment)) {
    const std::string key = listener.group->name + "." + listener.use.setting;
    const bool inside = listener.use.port >= k_ephemeral_first && listener.use.port <= k_ephemeral_last;
    if (inside && std::find(seen.begin(), seen.end(), key) == seen.end()) {
      seen.push_back(key);
      out.push_back(say(row, at(deployment, *listener.group, listener.use.setting),
                        fmt::format("{} port {} of group {} lies in the ephemeral range {}-{}: any outgoing connection may hold it", listener.use.what,
                                    listener.use.port, listener.group->name, k_ephemeral_first, k_ephemeral_last),
                        "choose a port below 32768"));
    }
  }
  return out;
}

Diagnostics host_loopback(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const Group& group : deployment.groups) {
    if (group.host_bind.starts_with("127.") || group.host_bind == "::1") {
      out.push_back(say(row, at(deployment, group, "host_bind"), fmt::format("group {} listens on {} only: no client outside the node reaches it", group.name, group.host_bind),
                        "HOST_BIND=0.0.0.0, or the node's compute address"));
    }
  }
  return out;
}

Diagnostics image_tag_mutable(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const Group& group : deployment.groups) {
    if (!group.image.empty() && group.image.find("@sha256:") == std::string::npos) {
      out.push_back(say(row, at(deployment, group, "image"), fmt::format("{} is a tag, which can move: nodes that pulled on different days may run different code", text::printable(group.image)),
                        "pin it: IMAGE=name@sha256:..."));
    }
  }
  return out;
}

Diagnostics gpus_list(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const Group& group : deployment.groups) {
    if (group.ranks.empty()) {
      continue;
    }
    const std::string& gpus = group.ranks.front().spec.gpus;
    const bool device_list = gpus.starts_with("device=") && gpus.size() > 7 && gpus.find('"') == std::string::npos;
    if (!gpus.empty() && gpus != "all" && !digits(gpus) && !device_list) {
      out.push_back(say(row, at(deployment, group, "gpus"),
                        fmt::format("group {}: docker reads --gpus as comma-separated fields, so {} does not name those GPUs", group.name, text::printable(gpus)),
                        "GPUS=device=0,1 (sskj adds the quotes that docker needs), a count, all, or none"));
    }
  }
  return out;
}

Diagnostics restart_policy(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const Group& group : deployment.groups) {
    if (group.restart != "no") {
      out.push_back(say(row, at(deployment, group, "restart"),
                        fmt::format("group {}: a rank that docker restarts ({}) cannot rejoin the others and holds its GPUs", group.name, group.restart),
                        "RESTART=no; run `sskj start` again instead"));
    }
  }
  return out;
}

Diagnostics network_not_host(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const Group& group : deployment.groups) {
    if (multi_node(group) && group.ranks.front().spec.network != "host") {
      out.push_back(say(row, at(deployment, group, "network"), fmt::format("group {}: ranks on several nodes need the host's network (dynamic ports)", group.name),
                        "NETWORK=host"));
    }
  }
  return out;
}

Diagnostics shm_small(const Deployment& deployment, const LintRow& row) {
  constexpr std::uint64_t k_enough = 8ULL << 30;
  Diagnostics out;
  for (const Group& group : deployment.groups) {
    if (group.ranks.empty() || !find_role(group.role)->needs_model) {
      continue;
    }
    const ContainerSpec& spec = group.ranks.front().spec;
    if (spec.ipc != "host" && spec.shm_bytes < k_enough) {
      out.push_back(say(row, at(deployment, group, "shm_size"), fmt::format("group {}: without the host's IPC, /dev/shm is too small for NCCL", group.name),
                        "IPC=host, or SHM_SIZE=32g"));
    }
  }
  return out;
}

}  // namespace sskj::deploy::rules
