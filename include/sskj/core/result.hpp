// Result and Error: how every module reports failure.
//
// Errors carry a category (Errc); the process exit code is a function of the category, and no code ever matches on the text of a message.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace sskj {

/// Category of a failure. Each maps to exactly one process exit code (core/exit_code.hpp).
enum class Errc {
  usage,         ///< the command line is wrong
  profile,       ///< a profile (or the lints on it) is wrong
  step_failed,   ///< a step ran on a node and failed
  preflight,     ///< a check that guards `start` found a fault, or the node is claimed by another deployment
  unreachable,   ///< no TCP/SSH connection to the node
  auth,          ///< the node refused our identity
  host_key,      ///< unknown, changed or revoked host key
  not_ready,     ///< the service did not become or is not ready
  locked,        ///< another run holds the lock
  integrity,     ///< sha256, manifest or image id differs
  drift,         ///< --detailed-exitcode: there are changes
  wrong_answer,  ///< the smoke question was answered wrongly
  timeout,       ///< a deadline passed
  lost,          ///< the connection broke before the outcome was known: never success
  cancelled,     ///< interrupted by the user
  internal,      ///< a fault of ours
};

/// Stable lower-case word for JSON and logs, e.g. "host_key".
std::string_view to_string(Errc code);

/// What went wrong, in one sentence, and what to do next.
struct Error {
  Errc code = Errc::internal;
  std::string message;  ///< one sentence: node, step, expected, got
  std::string hint;     ///< the next command or action; may be empty
};

template <class T>
using Result = tl::expected<T, Error>;

/// Shorthand: `return fail(Errc::usage, "…", "…");`
inline tl::unexpected<Error> fail(Errc code, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(hint)});
}

}  // namespace sskj

/// Return the error of `expr` from the enclosing function. The only macro of the project.
#define SSKJ_TRY(expr)                                                        \
  do {                                                                        \
    if (auto sskj_try_result = (expr); !sskj_try_result) {                    \
      return tl::unexpected<::sskj::Error>(std::move(sskj_try_result.error())); \
    }                                                                         \
  } while (false)
