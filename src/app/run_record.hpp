// Where runs leave their records on this machine, and which of them a command line means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sskj/app/request.hpp"
#include "sskj/core/result.hpp"
#include "sskj/run/journal.hpp"
#include "sskj/run/prune.hpp"
#include "sskj/run/record.hpp"

namespace sskj::app {

std::string runs_directory();  ///< $XDG_STATE_HOME/sskj/runs

/// For a run of this process; `on_error` is left to the caller.
run::JournalOptions journal_options(const Request& request, const std::string& run);

/// SSKJ_KEEP_RUNS, SSKJ_KEEP_DAYS and SSKJ_KEEP_MIB, each a whole number above 0; `fault` names those that are not, whose default holds then.
run::PruneLimits prune_limits(const Getenv& env, std::string& fault);

/// Makes room among the old runs. What went wrong in it, as one remark: a run never fails for it.
std::optional<std::string> prune_old_runs(const std::string& keep);

/// The runs that -p chooses (all without it), newest first. Errc::usage where no run has to do with the profile and there is no such profile either.
Result<std::vector<run::RunRecord>> chosen_runs(const Request& request);

/// The run that RUN names; `latest` is the newest one that -p chooses. Errc::usage with the nearest id.
Result<run::RunRecord> find_run(const Request& request, const std::string& name);

}  // namespace sskj::app
