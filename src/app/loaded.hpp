// From the name a user types to a deployment: lookup, parse, build, lint.
#pragma once

#include <string>

#include "sskj/app/request.hpp"
#include "sskj/core/diagnostic.hpp"
#include "sskj/deploy/deployment.hpp"
#include "sskj/profile/lookup.hpp"
#include "sskj/profile/profile.hpp"

namespace sskj::app {

struct Loaded {
  profile::Profile profile;
  deploy::Deployment deployment;
  Diagnostics diagnostics;   ///< of the parser and the builder; errors mean that there is no deployment
  Diagnostics lints;         ///< errors block what starts the deployment, not what stops or looks at it
};

profile::Places profile_places(const Request& request);
profile::Files profile_files();

/// Errc::profile when there is no such profile. A profile with faults is returned with its diagnostics; `deployment` is empty then.
Result<Loaded> load_profile(const Request& request, const std::string& name);

/// The error that stands for diagnostics which hold errors.
Error invalid_profile(const std::string& name, const Diagnostics& diagnostics);

}  // namespace sskj::app
