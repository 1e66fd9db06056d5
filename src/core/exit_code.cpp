#include "sskj/core/exit_code.hpp"

#include <algorithm>
#include <array>

namespace sskj {
namespace {

constexpr std::array k_codes{ExitCode::done,         ExitCode::step_failed, ExitCode::usage,    ExitCode::preflight,   ExitCode::unreachable,
                             ExitCode::not_ready,    ExitCode::locked,      ExitCode::integrity, ExitCode::drift,      ExitCode::wrong_answer,
                             ExitCode::internal,     ExitCode::bench_invalid, ExitCode::deadline, ExitCode::interrupted, ExitCode::terminated};

// Most severe first; documented in exit_code.hpp and the README. Faults of ours and of the caller hide everything else; then what stops all nodes, then what stops one.
constexpr std::array k_severity{ExitCode::internal,    ExitCode::interrupted, ExitCode::terminated,  ExitCode::usage,        ExitCode::locked,
                                ExitCode::integrity,   ExitCode::unreachable, ExitCode::preflight,   ExitCode::deadline,     ExitCode::step_failed,
                                ExitCode::not_ready,   ExitCode::wrong_answer, ExitCode::bench_invalid, ExitCode::drift,     ExitCode::done};
static_assert(k_codes.size() == k_severity.size());

}  // namespace

ExitCode exit_code_of(Errc code) {
  switch (code) {
    case Errc::usage:
    case Errc::profile: return ExitCode::usage;
    case Errc::step_failed: return ExitCode::step_failed;
    case Errc::preflight: return ExitCode::preflight;
    case Errc::unreachable:
    case Errc::auth:
    case Errc::host_key:
    case Errc::lost: return ExitCode::unreachable;  // lost: the outcome is unknown because the node cannot be asked
    case Errc::not_ready: return ExitCode::not_ready;
    case Errc::locked: return ExitCode::locked;
    case Errc::integrity: return ExitCode::integrity;
    case Errc::drift: return ExitCode::drift;
    case Errc::wrong_answer: return ExitCode::wrong_answer;
    case Errc::timeout: return ExitCode::deadline;
    case Errc::cancelled: return ExitCode::interrupted;
    case Errc::internal: return ExitCode::internal;
  }
  return ExitCode::internal;
}

ExitCode most_severe(std::span<const ExitCode> codes) {
  for (const ExitCode candidate : k_severity) {
    if (std::find(codes.begin(), codes.end(), candidate) != codes.end()) return candidate;
  }
  return ExitCode::done;
}

std::string_view describe(ExitCode code) {
  switch (code) {
    case ExitCode::done: return "done";
    case ExitCode::step_failed: return "a step failed on some node";
    case ExitCode::usage: return "usage or profile invalid";
    case ExitCode::preflight: return "preflight failed";
    case ExitCode::unreachable: return "unreachable, authentication or host key";
    case ExitCode::not_ready: return "not ready or unhealthy";
    case ExitCode::locked: return "locked by another run";
    case ExitCode::integrity: return "integrity: sha256, manifest or image id";
    case ExitCode::drift: return "changes or drift (--detailed-exitcode)";
    case ExitCode::wrong_answer: return "smoke answer wrong or SLO gate missed";
    case ExitCode::internal: return "internal fault";
    case ExitCode::bench_invalid: return "benchmark invalid";
    case ExitCode::deadline: return "deadline passed";
    case ExitCode::interrupted: return "interrupted (SIGINT)";
    case ExitCode::terminated: return "terminated (SIGTERM)";
  }
  return "internal fault";
}

std::span<const ExitCode> all_exit_codes() { return k_codes; }

}  // namespace sskj
