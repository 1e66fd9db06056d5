#include "sskj/profile/embedded.hpp"

#include <algorithm>

namespace sskj::profile {

const EmbeddedFile* find_embedded(std::string_view name) {
  const auto files = embedded_files();
  const auto it = std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& file) { return file.name == name; });
  return it == files.end() ? nullptr : &*it;
}

}  // namespace sskj::profile
