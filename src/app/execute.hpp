// The composition root of a run: loop, transport, journal, renderer and executor around one plan.
#pragma once

#include <functional>
#include <string>

#include "sskj/app/request.hpp"
#include "sskj/core/diagnostic.hpp"
#include "sskj/core/exit_code.hpp"
#include "sskj/plan/plan.hpp"
#include "sskj/ssh/transport.hpp"
#include "sskj/view/output.hpp"
#include "sskj/view/renderer.hpp"

namespace sskj::app {

/// How the flags of a request show on the terminal.
view::Options view_options(const Request& request);

/// Says an error that ends the command, with the diagnostics that led to it; the exit code that goes with it.
ExitCode report(const Request& request, view::Output& output, const Error& error, const Diagnostics& diagnostics = {});

/// `note` takes one-time remarks (no ssh program, ...): a renderer's while one draws, so that a live table is not torn.
ssh::Options ssh_options(const Request& request, std::function<void(const std::string&)> note);

/// With --dry-run prints the plan and touches nothing; else runs it to its end. Everything that is to be said has been said when it returns.
ExitCode execute(const Request& request, const plan::Plan& plan, view::Output& output);

}  // namespace sskj::app
