// One JSON document at the end, or one event per line.
#pragma once

#include "model.hpp"

namespace sskj::view {

void json_on(Context& context, const run::Event& event);
void json_tick(Context& context);
void ndjson_on(Context& context, const run::Event& event);

}  // namespace sskj::view
