// `sskj profile list|show|lint|import|docs`.
#pragma once

#include "sskj/app/request.hpp"
#include "sskj/core/exit_code.hpp"
#include "sskj/view/output.hpp"

namespace sskj::app {

ExitCode profile_list(const Request& request, view::Output& output);
ExitCode profile_show(const Request& request, view::Output& output);
ExitCode profile_lint(const Request& request, view::Output& output);
ExitCode profile_import(const Request& request, view::Output& output);
ExitCode profile_docs(const Request& request, view::Output& output);

}  // namespace sskj::app
