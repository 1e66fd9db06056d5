// The live table on a terminal.
#pragma once

#include "model.hpp"

namespace sskj::view {

void human_on(Context& context, const run::Event& event);
void human_tick(Context& context);

/// Lines above the table.
void human_say(Context& context, const std::string& text);

/// Forgets what stands on the screen in favour of the new size.
void human_resized(Context& context);

}  // namespace sskj::view
