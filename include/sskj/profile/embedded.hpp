// profiles/ and patches/ of the source tree, compiled in, so that a bare binary can deploy.
#pragma once

#include <span>
#include <string_view>

namespace sskj::profile {

struct EmbeddedFile {
  std::string_view name;   ///< path below the source tree: "profiles/kimi3_tp32ep32.env", "patches/pro6000/kimi_k3/patch_k3_sm120.py"
  std::string_view bytes;
};

/// Sorted by name.
std::span<const EmbeddedFile> embedded_files();

/// Null when there is none of that name.
const EmbeddedFile* find_embedded(std::string_view name);

}  // namespace sskj::profile
