// The end of a run: host counts that add up, the words ready, warm and correct, and the last line.
#pragma once

#include <string>

#include "model.hpp"

namespace sskj::view {

struct HostCounts {
  std::size_t total = 0, ok = 0, failed = 0, unreachable = 0, timed_out = 0, lost = 0, skipped = 0;
};

HostCounts count_hosts(const Model& model);

/// "4 nodes: 3 ok, 1 failed"; classes with no node are left out, ok is always said. In an interrupted run a skipped node is one where the work was not finished.
std::string counts_text(const HostCounts& counts, bool interrupted = false);

/// What an interrupted run did and what it did not, by the titles of its stages: "done, 2 of 5 stages: …", "cut short: …", "not done: …", "taken back: …", "at the end: …". Empty for a run that was not interrupted.
std::string state_text(const Model& model);

/// What is known of the service after this run: "service: ready, warm, correct" with "not …" and "… not checked" where that is the truth; empty for verbs that do not ask.
std::string milestones_text(const Model& model);

/// The last line, without newline: "start: done in 4m12s · 4 nodes: 4 ok".
std::string summary_line(const Model& model, const Options& options, bool color);

/// Everything that a text renderer says at the end: remarks, failures, run directory, milestones, resume command, summary.
std::string ending(const Model& model, const Options& options, bool color);

}  // namespace sskj::view
