// Lines for a log file or a pipe: on change, and at least one a minute. No carriage return, no escape sequence, ever.
#pragma once

#include "model.hpp"

namespace sskj::view {

void plain_on(Context& context, const run::Event& event);
void plain_tick(Context& context);

}  // namespace sskj::view
