// The functions that make the rows of catalog.def; one per file.
#pragma once

#include <algorithm>

#include "support.hpp"

namespace sskj::checks {

#define SSKJ_CHECK(name) Check name##_check();
#include "catalog.def"
#undef SSKJ_CHECK

}  // namespace sskj::checks
