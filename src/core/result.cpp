#include "sskj/core/result.hpp"

namespace sskj {

std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::usage: return "usage";
    case Errc::profile: return "profile";
    case Errc::step_failed: return "step_failed";
    case Errc::preflight: return "preflight";
    case Errc::unreachable: return "unreachable";
    case Errc::auth: return "auth";
    case Errc::host_key: return "host_key";
    case Errc::not_ready: return "not_ready";
    case Errc::locked: return "locked";
    case Errc::integrity: return "integrity";
    case Errc::drift: return "drift";
    case Errc::wrong_answer: return "wrong_answer";
    case Errc::timeout: return "timeout";
    case Errc::lost: return "lost";
    case Errc::cancelled: return "cancelled";
    case Errc::internal: return "internal";
  }
  return "internal";
}

}  // namespace sskj
