// ProcessExec: one exec through a child process that speaks the bootstrap on its stdin, stdout and stderr.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend.hpp"
#include "gate.hpp"
#include "sskj/net/process.hpp"
#include "sskj/ssh/bootstrap.hpp"
#include "sskj/ssh/transport.hpp"

namespace sskj::ssh {

/// How the child's end is read when no trailer came.
using EndOfProcess = std::function<run::Outcome(const Decoder&, net::ExitStatus)>;

struct ProcessPlan {
  std::vector<std::string> argv;
  EndOfProcess end;
  Gate* gate = nullptr;    ///< when set: started with a place at `entrance`, kept until the bootstrap answers
  std::string entrance;
};

std::unique_ptr<RunningExec> exec_process(net::Loop& loop, const Options& options, ProcessPlan plan, const run::ExecRequest& request, run::ExecHandlers handlers);

}  // namespace sskj::ssh
