// Artifact settings -> artifacts with bytes, checksum and place.
#pragma once

#include "sskj/deploy/build.hpp"

namespace sskj::deploy {

using ArtifactBytes = std::function<Result<std::string>(const profile::ArtifactSetting&)>;

/// Fills deployment.artifacts; nodes and groups must be there.
void build_artifacts(const profile::Profile& profile, const ArtifactBytes& bytes, Deployment& deployment, Diagnostics& diagnostics);

/// "name=sha256,name=unpinned": the label by which a running container's artifacts are told apart.
std::string artifacts_label(const Deployment& deployment);

}  // namespace sskj::deploy
