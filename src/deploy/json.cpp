#include "sskj/deploy/json.hpp"

#include <nlohmann/json.hpp>


namespace sskj::deploy {
namespace {

using Json = nlohmann::ordered_json;

Json of(const ContainerSpec& spec) {
  Json env = Json::array();
  for (const EnvVar& one : spec.env) env.push_back({{"name", one.name}, {"value", one.value}});
  Json mounts = Json::array();
  for (const Mount& one : spec.mounts) mounts.push_back({{"source", one.source}, {"target", one.target}, {"read_only", one.read_only}});
  Json ulimits = Json::array();
  for (const Ulimit& one : spec.ulimits) ulimits.push_back({{"name", one.name}, {"soft", one.soft}, {"hard", one.hard}});
  Json labels = Json::array();
  for (const auto& [key, value] : spec.labels) labels.push_back(Json::array({key, value}));
  Json out;
  out["name"] = spec.name;
  out["image"] = spec.image;
  out["command"] = spec.command;
  out["env"] = std::move(env);
  out["mounts"] = std::move(mounts);
  out["devices"] = spec.devices;
  out["cap_add"] = spec.cap_add;
  out["ulimits"] = std::move(ulimits);
  out["network"] = spec.network;
  out["ipc"] = spec.ipc;
  out["shm_bytes"] = spec.shm_bytes;
  out["gpus"] = spec.gpus;
  out["privileged"] = spec.privileged;
  out["init"] = spec.init;
  out["workdir"] = spec.workdir;
  out["labels"] = std::move(labels);
  return out;
}

Json of(const Group& group) {
  Json ranks = Json::array();
  for (const Rank& rank : group.ranks) {
    ranks.push_back({{"rank", rank.rank}, {"node", rank.node}, {"data_address", rank.data_address}, {"api_port", rank.api_port}, {"spec", of(rank.spec)}});
  }
  Json out;
  out["name"] = group.name;
  out["role"] = group.role;
  out["image"] = group.image;
  out["model_path"] = group.model_path;
  out["served_model"] = group.served_model;
  out["api_port"] = group.api_port;
  out["dist_init_port"] = group.dist_init_port;
  out["ranks"] = std::move(ranks);
  return out;
}

}  // namespace

std::string to_json(const Deployment& deployment) {
  Json nodes = Json::array();
  for (const plan::Node& node : deployment.nodes) {
    nodes.push_back({{"id", node.id}, {"data_address", node.data_address}, {"host", node.ssh.host}, {"user", node.ssh.user}, {"port", node.ssh.port}});
  }
  Json groups = Json::array();
  for (const Group& group : deployment.groups) groups.push_back(of(group));
  Json artifacts = Json::array();
  for (const Artifact& one : deployment.artifacts) {
    artifacts.push_back({{"name", one.name}, {"sha256", one.sha256}, {"node_path", one.node_path}, {"container_path", one.container_path}});
  }
  Json out;
  out["name"] = deployment.name;
  out["state_dir"] = deployment.state_dir;
  out["nodes"] = std::move(nodes);
  out["groups"] = std::move(groups);
  out["artifacts"] = std::move(artifacts);
  return out.dump(2, ' ', false, Json::error_handler_t::replace);  // a profile is UTF-8 already; never throw on what slipped through
}

}  // namespace sskj::deploy
