#include "sskj/plan/plan.hpp"

namespace sskj::plan {

Errc exit_errc(int status) {
  switch (status) {
    case 64: return Errc::usage;
    case 65: return Errc::integrity;
    case 66: return Errc::preflight;
    case 69: return Errc::not_ready;
    case 73: return Errc::locked;
    case 124: return Errc::timeout;
    default: return Errc::step_failed;
  }
}

std::string script_of(const Step& step) {
  if (const auto* run = std::get_if<RunScript>(&step.action)) return run->script;
  if (const auto* put = std::get_if<PutFile>(&step.action)) return put_script(*put);
  if (const auto* check = std::get_if<CheckNode>(&step.action)) return check->script;
  return {};
}

}  // namespace sskj::plan
