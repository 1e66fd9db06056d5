// `--detach`: the run goes on in a process of its own session, whatever becomes of the terminal. No daemon: the same binary, begun again on the plan it saved.
//
// The parent makes the run directory, locks it, and hands the locked descriptor to the child: the lock is never free in between, so that `attach`, `history` and the
// pruning never take a run that is being born for a dead one. The child says when it has its record; only then does the parent end. No connection is made before.
#pragma once

#include "sskj/app/request.hpp"
#include "sskj/core/exit_code.hpp"
#include "sskj/plan/plan.hpp"
#include "sskj/run/transport.hpp"
#include "sskj/view/output.hpp"

namespace sskj::app {

inline constexpr int k_lock_fd = 3;   ///< in the child: the run directory, locked
inline constexpr int k_ready_fd = 4;  ///< in the child: takes one byte when the run has its record

/// Begins the run in the background and says how to follow it. Errors are told here: a record that cannot be made, a secret that cannot be resolved, a child that
/// does not get as far as its record.
ExitCode detach(const Request& request, const plan::Plan& plan, view::Output& output);

/// Whether this process is such a child.
bool is_detached(const Request& request);
/// What a child does: the saved plan, shown as text in the run directory's output.log.
ExitCode run_detached(const Request& request, view::Output& output);
/// The child tells its parent that the run has its record.
void say_ready();

/// The run of this process: a fresh one, or in a child the one it was born with.
run::RunVars run_of(const Request& request, const plan::Plan& plan);

}  // namespace sskj::app
