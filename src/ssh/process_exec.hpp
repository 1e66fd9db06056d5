// ProcessExec: one exec through a child process that speaks the bootstrap on its stdin, stdout and stderr.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend.hpp"
#include "sskj/net/process.hpp"
#include "sskj/ssh/bootstrap.hpp"
#include "sskj/ssh/transport.hpp"

namespace sskj::ssh {

/// How the child's end is read when no trailer came.
using EndOfProcess = std::function<run::Outcome(const Decoder&, net::ExitStatus)>;

std::unique_ptr<RunningExec> exec_process(net::Loop& loop, const Options& options, std::vector<std::string> argv, const run::ExecRequest& request,
                                          run::ExecHandlers handlers, EndOfProcess end);

}  // namespace sskj::ssh
