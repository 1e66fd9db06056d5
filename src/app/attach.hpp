// `sskj attach RUN|latest`: a run from its beginning, then as it goes, until it ends. Reads the run directory and nothing else.
#pragma once

#include "sskj/app/request.hpp"
#include "sskj/core/exit_code.hpp"
#include "sskj/view/output.hpp"

namespace sskj::app {

/// Ends with the run's own exit code; not_ready (5) when the run died; interrupted or deadline when the user or --timeout ends the looking on, which leaves the run alone.
ExitCode attach(const Request& request, view::Output& output);

}  // namespace sskj::app
