// What status found out, before it becomes JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judges.hpp"
#include "sskj/deploy/spec.hpp"

namespace sskj::recipes {

enum class Health { ok, starting, refused, failing, unknown };
std::string_view to_string(Health health);

struct RankStatus {
  unsigned rank = 0;
  std::string node, container;
  std::string state = "unknown";        ///< docker's word, or absent, or unknown
  std::string id, image_id, run, plan, started_at;
  std::optional<int> exit_code, restarts, http_status;
  Health health = Health::unknown;
  std::vector<deploy::FieldDiff> diff;
};

struct GroupStatus {
  std::string name, role;
  std::vector<RankStatus> ranks;
};

struct StatusReport {
  std::string deployment, endpoint;
  std::vector<GroupStatus> groups;
  std::vector<std::pair<std::string, Json>> locks;  ///< node -> lock
  std::vector<std::string> problems;
  std::vector<std::string> not_asked;               ///< nodes
};

/// All of it from the outputs of a status stage.
StatusReport read_status(const Json& expectation, const NodeOutputs& nodes);

/// absent | starting | ready | degraded | failed | unknown
std::string overall(const StatusReport& report);

}  // namespace sskj::recipes
