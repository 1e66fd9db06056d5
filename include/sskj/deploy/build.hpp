// Profile -> Deployment, and the static lints on it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "sskj/deploy/deployment.hpp"
#include "sskj/profile/profile.hpp"

namespace sskj::deploy {

struct Built {
  Deployment deployment;
  Diagnostics diagnostics;             ///< errors here mean: do not use `deployment`
};

/// Pure. `artifact_bytes` returns the bytes of a local_file or embedded artifact source (app supplies it), or an error with the path.
Built build(const profile::Profile& profile, const std::function<Result<std::string>(const profile::ArtifactSetting&)>& artifact_bytes);

/// All lints, in table order.
Diagnostics lint(const Deployment& deployment);

struct LintRow {
  std::string_view id;                 ///< "lint.nccl-algo-set"
  Severity severity;
  std::string_view title, reason, reference;
  Diagnostics (*run)(const Deployment&, const LintRow&);
};
std::span<const LintRow> lints();

/// docs/lints.md, from the table.
std::string lints_markdown();

}  // namespace sskj::deploy
