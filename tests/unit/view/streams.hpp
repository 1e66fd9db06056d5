// Output into two strings, no terminal, 80 columns: what most of the view's cases print to.
#pragma once

#include <string>

#include "sskj/view/output.hpp"
#include "sskj/view/renderer.hpp"

namespace sskj::view {

struct Streams {
  std::string out, err;
  Output output{string_stream(out), string_stream(err), false, false, false, 80, 24};
};

inline Options as(Format format) {
  Options options;
  options.format = format;
  return options;
}

}  // namespace sskj::view
