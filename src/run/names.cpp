// Words of the event enums: stable, used in JSON and on screen.
#include "sskj/run/event.hpp"

namespace sskj::run {

std::string_view to_string(HostClass host) {
  switch (host) {
    case HostClass::ok: return "ok";
    case HostClass::failed: return "failed";
    case HostClass::unreachable: return "unreachable";
    case HostClass::timed_out: return "timed_out";
    case HostClass::lost: return "lost";
    case HostClass::skipped: return "skipped";
  }
  return "failed";
}

std::string_view to_string(FindingStatus status) {
  switch (status) {
    case FindingStatus::ok: return "ok";
    case FindingStatus::warn: return "warn";
    case FindingStatus::fail: return "fail";
    case FindingStatus::unknown: return "unknown";
    case FindingStatus::not_applicable: return "n/a";
  }
  return "unknown";
}

std::string_view to_string(StepStatus status) {
  switch (status) {
    case StepStatus::ok: return "ok";
    case StepStatus::changed: return "changed";
    case StepStatus::unchanged: return "unchanged";
    case StepStatus::failed: return "failed";
    case StepStatus::not_run: return "not_run";
    case StepStatus::lost: return "lost";
    case StepStatus::timed_out: return "timed_out";
    case StepStatus::cancelled: return "cancelled";
    case StepStatus::skipped: return "skipped";
  }
  return "failed";
}

}  // namespace sskj::run
