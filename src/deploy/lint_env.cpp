// Lints on the container's environment and limits.
#include <fmt/format.h>

#include <algorithm>

#include "lint_rules.hpp"
#include "sskj/core/text.hpp"

namespace sskj::deploy::rules {

namespace {

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

Diagnostics for_variable(const Deployment& deployment, const LintRow& row, std::string_view name, std::string_view message, std::string_view hint) {
  Diagnostics out;
  for (const EnvHit& hit : env_hits(deployment, name)) {
    out.push_back(say(row, hit.at, fmt::format("{} is set: {}", name, message), std::string(hint)));
  }
  return out;
}

void append(Diagnostics& to, Diagnostics more) { to.insert(to.end(), more.begin(), more.end()); }

bool uses_rdma(const ContainerSpec& spec) {
  return spec.privileged || std::any_of(spec.devices.begin(), spec.devices.end(), [](const std::string& d) { return d.starts_with("/dev/infiniband"); });
}

// The KV transfer backend is mooncake unless another one is named (sglang.md 5.1).
bool uses_mooncake(const Group& group) {
  const auto mode = args(group, {"--disaggregation-mode"});
  const auto backend = args(group, {"--disaggregation-transfer-backend"});
  const FoundArg* named = last(backend);
  return named != nullptr ? named->value.starts_with("mooncake") : last(mode) != nullptr && last(mode)->value != "null";
}

}  // namespace

Diagnostics nccl_algo_set(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const char* name : {"NCCL_ALGO", "NCCL_PROTO"}) {
    append(out, for_variable(deployment, row, name, "collectives that have no such variant fail, mostly while CUDA graphs are captured", "take it out"));
  }
  return out;
}

Diagnostics expandable_segments(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    for (const EnvHit& hit : env_hits(deployment, name)) {
      if (holds(hit.value, "expandable_segments") && uses_mooncake(*hit.group)) {
        out.push_back(say(row, hit.at, fmt::format("{} asks for expandable segments, and mooncake cannot register such memory for RDMA", name),
                          "take the variable out entirely; False has failed as well"));
      }
    }
  }
  return out;
}

Diagnostics memlock_limited(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const Group& group : deployment.groups) {
    if (group.ranks.empty() || !uses_rdma(group.ranks.front().spec)) {
      continue;
    }
    const auto& limits = group.ranks.front().spec.ulimits;
    const auto it = std::find_if(limits.begin(), limits.end(), [](const Ulimit& u) { return u.name == "memlock"; });
    if (it == limits.end() || it->soft != -1 || it->hard != -1) {
      out.push_back(say(row, at(deployment, group, it == limits.end() ? "ulimits" : "ulimits.memlock"),
                        fmt::format("group {}: the container uses RDMA, and memlock is not unlimited", group.name), "ULIMITS='memlock=-1 ...'"));
    }
  }
  return out;
}

Diagnostics management_interface(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const char* name : {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"}) {
    for (const EnvHit& hit : env_hits(deployment, name)) {
      std::string_view value = hit.value;
      const bool excludes = value.starts_with('^');
      value.remove_prefix(value.starts_with('=') ? 1 : 0);
      const bool wrong = value == "lo" || value.starts_with("bond0") || value.starts_with("docker") || value.starts_with("virbr");
      if (wrong && !excludes) {
        out.push_back(say(row, hit.at, fmt::format("{}={} is not the compute network", name, text::printable(hit.value)),
                          "name the interface that holds the data addresses, e.g. bond1"));
      }
    }
  }
  return out;
}

Diagnostics interface_missing(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const Group& group : deployment.groups) {
    if (!multi_node(group)) {
      continue;
    }
    for (const char* name : {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"}) {
      const auto lacks = [&](const Rank& rank) {
        return std::none_of(rank.spec.env.begin(), rank.spec.env.end(), [&](const EnvVar& e) { return e.name == name; });
      };
      if (std::any_of(group.ranks.begin(), group.ranks.end(), lacks)) {
        out.push_back(say(row, at(deployment, group, "env"), fmt::format("group {}: {} is not set on every node", group.name, name),
                          fmt::format("ENV_{}=<interface of the data addresses>, or NODE_<rank>_NIC", name)));
      }
    }
  }
  return out;
}

Diagnostics nccl_ib_hca_range(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const EnvHit& hit : env_hits(deployment, "NCCL_IB_HCA")) {
    if (holds(hit.value, "..") || holds(hit.value, "[") || holds(hit.value, "~") || holds(hit.value, " ")) {
      out.push_back(say(row, hit.at, fmt::format("NCCL_IB_HCA={} is a range, which NCCL does not know: it would match no device", text::printable(hit.value)),
                        "write every device: mlx5_0,mlx5_1,mlx5_2,mlx5_3"));
    }
  }
  return out;
}

Diagnostics rdma_device_missing(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const EnvHit& hit : env_hits(deployment, "NCCL_IB_HCA")) {
    if (!uses_rdma(hit.group->ranks.front().spec)) {
      out.push_back(say(row, hit.at, "NCCL_IB_HCA is set, but the container has no RDMA device: NCCL would fall back to TCP without an error",
                        "DEVICES=/dev/infiniband CAP_ADD=IPC_LOCK"));
    }
  }
  return out;
}

Diagnostics sglang_port_set(const Deployment& deployment, const LintRow& row) {
  return for_variable(deployment, row, "SGLANG_PORT", "the engine takes it as a base for internal ports and collides with its own API", "use PORT");
}

Diagnostics worker_exits(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const EnvHit& hit : env_hits(deployment, "SGLANG_BLOCK_NONZERO_RANK_CHILDREN")) {
    if (hit.value == "0" || hit.value == "false") {
      out.push_back(say(row, hit.at, "SGLANG_BLOCK_NONZERO_RANK_CHILDREN=0 lets the workers' main process return: their containers would end", "take it out"));
    }
  }
  return out;
}

Diagnostics logging_config(const Deployment& deployment, const LintRow& row) {
  return for_variable(deployment, row, "SGLANG_LOGGING_CONFIG_PATH", "another log format hides phases and fatal messages from sskj", "take it out");
}

Diagnostics no_op_variable(const Deployment& deployment, const LintRow& row) {
  return for_variable(deployment, row, "SGLANG_K3_ATTN_RES_MODE", "no code reads it", "take it out; the fused path is chosen by compute capability");
}

Diagnostics secret_in_env(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  std::vector<std::string> names;
  for (const Group& group : deployment.groups) {
    for (const Rank& rank : group.ranks) {
      for (const EnvVar& variable : rank.spec.env) {
        constexpr std::string_view k_endings[] = {"API_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "SECRET_ACCESS_KEY"};
        const bool secret = std::any_of(std::begin(k_endings), std::end(k_endings), [&](std::string_view end) { return variable.name.ends_with(end); });
        if (secret && !variable.value.empty() && std::find(names.begin(), names.end(), variable.name) == names.end()) {
          names.push_back(variable.name);
        }
      }
    }
  }
  for (const std::string& name : names) {
    for (const EnvHit& hit : env_hits(deployment, name)) {
      out.push_back(say(row, hit.at, fmt::format("{} looks like a secret: `docker inspect` shows it to every user of docker (not shown here)", name),
                        "API keys for clients: API_KEY=from_env:NAME; others: a mounted file"));
    }
  }
  return out;
}

}  // namespace sskj::deploy::rules
