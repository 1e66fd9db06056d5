// How an exec without a trailer ended: shared by all transports.
#pragma once

#include <string>

#include "sskj/ssh/bootstrap.hpp"

namespace sskj::ssh {

/// How long the streams may stay open and quiet after the trailer.
inline constexpr run::Millis k_grace_after_trailer{1000};

struct ProcessEnd {
  int status = 0;
  std::string signal;   ///< "KILL", "TERM", ... or empty
};

/// The bootstrap never began (no mark) and its shell ended with a failure of its own: the script did not run (nologin, sudo that asks for a password, no sh).
/// Anything else is lost.
run::Outcome no_trailer(const std::string& label, bool sudo, const Decoder& decoder, const ProcessEnd& end);

}  // namespace sskj::ssh
