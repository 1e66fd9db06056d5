// `sskj history`: the runs whose records are on this machine.
#pragma once

#include "sskj/app/request.hpp"
#include "sskj/core/exit_code.hpp"
#include "sskj/view/output.hpp"

namespace sskj::app {

ExitCode history(const Request& request, view::Output& output);

}  // namespace sskj::app
