// A container's specification as data inside an expectation, so that a saved plan can compare without its profile.
#pragma once

#include <nlohmann/json.hpp>

#include "sskj/deploy/deployment.hpp"

namespace sskj::recipes {

nlohmann::json spec_to_json(const deploy::ContainerSpec& spec);
/// Errc::internal when it is not what spec_to_json makes.
Result<deploy::ContainerSpec> spec_from_json(const nlohmann::json& json);

}  // namespace sskj::recipes
