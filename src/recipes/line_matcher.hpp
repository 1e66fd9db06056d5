// Reads log lines by the table of signatures, in linear time.
#pragma once

#include "sskj/run/executor.hpp"

namespace sskj::recipes {

/// Remembers the last phase of each watch step, and nothing else.
run::LineMatcher make_line_matcher();

}  // namespace sskj::recipes
