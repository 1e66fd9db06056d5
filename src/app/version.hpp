// `sskj version`: what is inside this binary.
#pragma once

#include "sskj/view/tables.hpp"

namespace sskj::app {

view::KeyValues version_values();

}  // namespace sskj::app
