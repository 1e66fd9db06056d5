#include "ledger.hpp"

#include <algorithm>
#include <optional>

namespace sskj::run {
namespace {

std::optional<HostClass> class_of(StepStatus status, bool counts) {
  switch (status) {
    case StepStatus::ok:
    case StepStatus::changed:
    case StepStatus::unchanged: return HostClass::ok;
    case StepStatus::failed: return counts ? HostClass::failed : HostClass::ok;
    case StepStatus::not_run: return HostClass::unreachable;
    case StepStatus::lost: return HostClass::lost;
    case StepStatus::timed_out: return HostClass::timed_out;
    case StepStatus::cancelled: return HostClass::skipped;
    case StepStatus::skipped: return std::nullopt;
  }
  return HostClass::failed;
}

}  // namespace

Ledger::Ledger(const plan::Plan& plan) {
  for (const auto& node : plan.nodes) hosts_.hosts.emplace(node.id, HostClass::skipped);
}

void Ledger::step(const std::string& node, StepStatus status, bool counts) {
  const auto host = hosts_.hosts.find(node);
  const auto next = class_of(status, counts);
  if (host == hosts_.hosts.end() || !next) return;
  if (status == StepStatus::cancelled) cut_short_.insert(node);
  if (*next == HostClass::ok && cut_short_.contains(node)) return;
  // The first trouble decides: what follows from it (an undo that cannot reach the node either) would only blur the cause.
  if (host->second == HostClass::ok || host->second == HostClass::skipped) host->second = *next;
}

void Ledger::failure(ExitCode code) {
  if (std::find(codes_.begin(), codes_.end(), code) == codes_.end()) codes_.push_back(code);
}

ExitCode Ledger::code() const { return most_severe(codes_); }

}  // namespace sskj::run
