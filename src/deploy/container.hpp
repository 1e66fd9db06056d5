// One rank's container specification.
#pragma once

#include "sskj/deploy/deployment.hpp"
#include "sskj/deploy/roles.hpp"
#include "sskj/profile/profile.hpp"

namespace sskj::deploy {

struct SpecInput {
  const profile::GroupSetting& setting;
  const profile::NodeSetting& node;
  const Deployment& deployment;  ///< name, artifacts and state_dir are final
  const Group& group;            ///< ranks have their addresses
  const RoleRow& role;
  const Rank& rank;
  bool several_groups = false;
};

ContainerSpec container_spec(const SpecInput& input, Diagnostics& diagnostics);

}  // namespace sskj::deploy
