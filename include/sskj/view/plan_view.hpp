// A plan on stdout: what --dry-run and `sskj plan` print.
#pragma once

#include <string>
#include <string_view>

#include "sskj/plan/plan.hpp"
#include "sskj/view/renderer.hpp"

namespace sskj::view {

/// The constant bootstrap through which every script travels, then the plan as plan::to_text shows it: nodes, digest, each step's exact bytes.
std::string plan_text(const plan::Plan& plan, std::string_view bootstrap);

/// Text, or with json and ndjson the plan's canonical JSON alone, so that `sskj apply` takes it.
void show_plan(Output& output, const Options& options, const plan::Plan& plan, std::string_view bootstrap);

}  // namespace sskj::view
