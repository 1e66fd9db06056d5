// What went wrong, collected from results and findings, and told once per equal message with a folded node set.
#pragma once

#include <string>
#include <string_view>

#include "model.hpp"

namespace sskj::view {

/// A failed step as one or more failures: its failing findings, else its error.
void add_step_failures(Model& model, const plan::Step& step, const run::StepResult& result, const std::string& stage, std::size_t tail);

/// Keeps a finding (each once); one that failed is a failure too.
void add_finding(Model& model, const run::Finding& finding, const std::string& stage);

/// What is tolerated is data, not a failure: takes back what its findings added.
void forgive(Model& model, const run::Finding& finding);
void forgive(Model& model, const run::StepResult& result);

/// A stage's own error, unless its steps said it already.
void add_stage_failure(Model& model, const Error& error, const std::string& stage);

/// The failure blocks, in the order of their first appearance; cancelled work last, on one line. Empty without failures.
std::string failures_text(const Model& model, const Options& options, bool color);

/// Findings that are warnings or unknown, one line per equal message with its nodes.
std::string remarks_text(const std::vector<run::Finding>& findings, bool color);

}  // namespace sskj::view
