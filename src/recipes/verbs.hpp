// One function per verb; recipes.cpp holds the table.
#pragma once

#include "stages.hpp"

namespace sskj::recipes {

Result<plan::Plan> make_start(const Request& request, const deploy::Deployment& deployment);
Result<plan::Plan> make_stop(const Request& request, const deploy::Deployment& deployment);
Result<plan::Plan> make_status(const Request& request, const deploy::Deployment& deployment);
Result<plan::Plan> make_logs(const Request& request, const deploy::Deployment& deployment);
Result<plan::Plan> make_smoke(const Request& request, const deploy::Deployment& deployment);
Result<plan::Plan> make_warmup(const Request& request, const deploy::Deployment& deployment);
Result<plan::Plan> make_exec(const Request& request, const deploy::Deployment& deployment);
Result<plan::Plan> make_preflight(const Request& request, const deploy::Deployment& deployment);
Result<plan::Plan> make_gc(const Request& request, const deploy::Deployment& deployment);
Result<plan::Plan> make_lock_status(const Request& request, const deploy::Deployment& deployment);
Result<plan::Plan> make_lock_release(const Request& request, const deploy::Deployment& deployment);

}  // namespace sskj::recipes
