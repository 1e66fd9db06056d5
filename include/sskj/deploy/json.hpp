// A deployment as JSON: what `profile show --json` prints and tests compare containers with.
#pragma once

#include <string>

#include "sskj/deploy/deployment.hpp"

namespace sskj::deploy {

/// {"name","state_dir","nodes":[{"id","data_address","host","user","port"}],"groups":[{"name","role","image","model_path","served_model","api_port","dist_init_port","ranks":[{"rank",
/// "node","data_address","api_port","spec":{"name","image","command":[],"env":[{"name","value"}],"mounts":[{"source","target","read_only"}],"devices":[],"cap_add":[],
/// "ulimits":[{"name","soft","hard"}],"network","ipc","shm_bytes","gpus","privileged","init","workdir","labels":[[k,v]]}}]}],"artifacts":[{"name","sha256","node_path","container_path"}]}.
/// Secrets are not in it.
std::string to_json(const Deployment& deployment);

}  // namespace sskj::deploy
