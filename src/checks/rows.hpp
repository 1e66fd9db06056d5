// The functions that make the rows of catalog.cpp; one per file.
#pragma once

#include <algorithm>

#include "support.hpp"

namespace sskj::checks {

Check docker_check();
Check image_check();
Check gpu_count_check();
Check gpu_idle_check();
Check ports_check();
Check weights_check();
Check mounts_check();
Check disk_docker_check();
Check disk_cache_check();
Check data_address_check();
Check names_check();

}  // namespace sskj::checks
