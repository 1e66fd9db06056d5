#include "spec_json.hpp"

namespace sskj::recipes {
namespace {

using Json = nlohmann::json;

std::vector<std::string> strings(const Json& json, const char* key) { return json.at(key).get<std::vector<std::string>>(); }

void read_lists(const Json& json, deploy::ContainerSpec& spec) {
  spec.command = strings(json, "command");
  spec.devices = strings(json, "devices");
  spec.cap_add = strings(json, "cap_add");
  for (const auto& one : json.at("env")) spec.env.push_back({one.at(0), one.at(1)});
  for (const auto& one : json.at("mounts")) spec.mounts.push_back({one.at("source"), one.at("target"), one.at("read_only"), one.at("create")});
  for (const auto& one : json.at("ulimits")) spec.ulimits.push_back({one.at("name"), one.at("soft"), one.at("hard")});
  for (const auto& one : json.at("labels")) spec.labels.emplace_back(one.at(0), one.at(1));
}

}  // namespace

Json spec_to_json(const deploy::ContainerSpec& spec) {
  Json env = Json::array(), mounts = Json::array(), ulimits = Json::array(), labels = Json::array();
  for (const auto& one : spec.env) env.push_back({one.name, one.value});
  for (const auto& one : spec.mounts) mounts.push_back({{"source", one.source}, {"target", one.target}, {"read_only", one.read_only}, {"create", one.create}});
  for (const auto& one : spec.ulimits) ulimits.push_back({{"name", one.name}, {"soft", one.soft}, {"hard", one.hard}});
  for (const auto& [name, value] : spec.labels) labels.push_back({name, value});
  return {{"name", spec.name},       {"image", spec.image},     {"command", spec.command},       {"env", env},
          {"mounts", mounts},        {"devices", spec.devices}, {"cap_add", spec.cap_add},       {"ulimits", ulimits},
          {"network", spec.network}, {"ipc", spec.ipc},         {"shm_bytes", spec.shm_bytes},   {"gpus", spec.gpus},
          {"init", spec.init},       {"workdir", spec.workdir}, {"privileged", spec.privileged}, {"log_max_size", spec.log_max_size},
          {"labels", labels},        {"log_max_files", spec.log_max_files}};
}

Result<deploy::ContainerSpec> spec_from_json(const Json& json) {
  try {
    deploy::ContainerSpec spec;
    spec.name = json.at("name");
    spec.image = json.at("image");
    spec.network = json.at("network");
    spec.ipc = json.at("ipc");
    spec.shm_bytes = json.at("shm_bytes");
    spec.gpus = json.at("gpus");
    spec.privileged = json.at("privileged");
    spec.init = json.at("init");
    spec.workdir = json.at("workdir");
    spec.log_max_size = json.at("log_max_size");
    spec.log_max_files = json.at("log_max_files");
    read_lists(json, spec);
    return spec;
  } catch (const Json::exception& error) {
    return fail(Errc::internal, std::string("a container specification in the plan is not understood: ") + error.what());
  }
}

}  // namespace sskj::recipes
