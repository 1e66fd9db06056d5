// Reads log lines by the table of signatures, in linear time.
#pragma once

#include "sskj/run/executor.hpp"

namespace sskj::recipes {

run::LineMatcher make_line_matcher();

}  // namespace sskj::recipes
