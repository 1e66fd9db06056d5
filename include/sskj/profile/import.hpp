// `sskj profile import`: a shell-style env profile from elsewhere -> our env form, and a list of what could not be placed. Nothing is ever executed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sskj::profile {

/// Something of the source that has no place in the result. Values of what looks like a secret are not repeated.
struct Unplaced {
  std::size_t line = 0;
  std::string text;    ///< as written, cut to one short line
  std::string reason;
};

struct Imported {
  std::string env_text;             ///< parses without an error; what could not be placed stands at its end as comments
  std::vector<Unplaced> unplaced;   ///< in the order of lines
};

/// Understands assignments (`export`, quotes, line continuation, `+=`, arrays `( a b )`), $VAR, ${VAR}, ${VAR:-default}, "${ARRAY[@]}" of the same file, `docker run` options in strings or
/// arrays, and common names for nodes, image, model, ports and engine arguments. `file` is named in the header comment. Text at most 1 MiB.
Imported import_env(std::string_view text, const std::string& file);

}  // namespace sskj::profile
