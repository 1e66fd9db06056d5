// Deployments for the recipes' tests: shipped profiles, and small ones.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sskj/recipes/recipes.hpp"
#include "unit/deploy/load.hpp"

namespace sskj::recipes::testing {

inline deploy::Deployment shipped(const std::string& name = "profiles/kimi3_tp32ep32.env") {
  auto built = deploy::testing::build_file(std::string(SSKJ_SOURCE_DIR) + "/" + name);
  EXPECT_FALSE(has_errors(built.diagnostics)) << deploy::testing::report(built.diagnostics);
  // What differs between machines and versions must not reach a golden file.
  built.deployment.profile = name.substr(name.rfind('/') + 1);
  for (auto& group : built.deployment.groups) {
    for (auto& rank : group.ranks) {
      for (auto& [label, value] : rank.spec.labels) {
        if (label == "sskj.version") {
          value = "VERSION";
        }
      }
    }
  }
  return std::move(built.deployment);
}

/// Two nodes, no artifacts; `more` lines of an env profile.
inline deploy::Deployment small(const std::string& more = "") {
  auto built = deploy::testing::build_text(deploy::testing::minimal(more), "small.env");
  EXPECT_FALSE(has_errors(built.diagnostics)) << deploy::testing::report(built.diagnostics);
  return std::move(built.deployment);
}

inline plan::Plan plan_of(const std::string& verb, const deploy::Deployment& deployment, Request request = {}) {
  request.verb = verb;
  if (verb == "exec" && request.command.empty()) request.command = {"uptime"};
  auto made = make_plan(request, deployment);
  EXPECT_TRUE(made) << verb << ": " << (made ? "" : made.error().message);
  return made ? std::move(*made) : plan::Plan{};
}

inline std::size_t stage_at(const plan::Plan& plan, std::string_view id) {
  const auto at = std::find_if(plan.stages.begin(), plan.stages.end(), [&](const plan::Stage& stage) { return stage.id == id; });
  return static_cast<std::size_t>(at - plan.stages.begin());
}

inline const plan::Stage& stage_of(const plan::Plan& plan, std::string_view id) {
  static const plan::Stage k_none;
  const auto at = stage_at(plan, id);
  EXPECT_LT(at, plan.stages.size()) << "no stage " << id;
  return at < plan.stages.size() ? plan.stages[at] : k_none;
}

}  // namespace sskj::recipes::testing
