#include "sskj/deploy/roles.hpp"

#include <algorithm>
#include <array>

namespace sskj::deploy {

namespace {

std::vector<std::string> sglang_entry(const Group& /*group*/) { return {"python3", "-m", "sglang.launch_server"}; }

std::string address_port(const std::string& address, std::uint16_t port) {
  const bool ipv6 = address.find(':') != std::string::npos;
  return (ipv6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

// Names and aliases: sglang.md 1.1.
std::vector<EngineFlag> server_flags(const Group& group, const Rank& rank) {
  std::vector<EngineFlag> flags = {
      {{"--model-path", "--model"}, group.model_path, "model_path"},
      {{"--served-model-name"}, group.served_model, "served_model"},
      {{"--host"}, group.host_bind, "host_bind"},
      {{"--port"}, std::to_string(group.api_port), "port"},
      {{"--nnodes"}, std::to_string(group.ranks.size()), "nodes"},
      {{"--node-rank"}, std::to_string(rank.rank), "nodes"},
  };
  if (group.ranks.size() > 1) {
    flags.push_back({{"--dist-init-addr", "--nccl-init-addr"},
                     address_port(group.ranks.front().data_address, group.dist_init_port),
                     "dist_init_port"});
  }
  return flags;
}

std::vector<PortUse> server_ports(const Group& group, const Rank& rank) {
  std::vector<PortUse> ports = {{group.api_port, "API", "port"}};
  if (rank.rank == 0 && group.ranks.size() > 1) {
    ports.push_back({group.dist_init_port, "rendezvous", "dist_init_port"});
  }
  return ports;
}

const std::array k_roles = {
    RoleRow{"server", "one engine over all nodes of the group: prefill and decode together", {}, sglang_entry, server_flags, server_ports, "/health", true, true},
};

}  // namespace

std::span<const RoleRow> roles() { return k_roles; }

const RoleRow* find_role(std::string_view name) {
  const auto it = std::find_if(k_roles.begin(), k_roles.end(), [&](const RoleRow& row) { return row.name == name; });
  return it == k_roles.end() ? nullptr : &*it;
}

std::vector<FoundArg> find_args(std::span<const std::string> args, std::span<const std::string_view> names) {
  std::vector<FoundArg> found;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view word = args[i];
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
    if (std::find(names.begin(), names.end(), word.substr(0, equals)) == names.end()) {
      continue;
    }
    FoundArg arg{i, "", false};
    if (equals != std::string_view::npos) {
      arg.value = word.substr(equals + 1);
    } else if (i + 1 < args.size() && !args[i + 1].starts_with("--")) {
      arg.value = args[i + 1];
    } else {
      arg.bare = true;
    }
    found.push_back(std::move(arg));
  }
  return found;
}

bool valid_secret(std::string_view value) {
  return !value.empty() && value.size() <= 512 && value[0] != '-' &&
         std::all_of(value.begin(), value.end(), [](char c) { return c > ' ' && c < 0x7F && c != '\'' && c != '"' && c != '\\'; });
}

}  // namespace sskj::deploy
