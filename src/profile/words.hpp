// POSIX shell word splitting: quotes are honoured, nothing is expanded.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/core/result.hpp"

namespace sskj::profile {

struct ShellWord {
  std::string text;
  std::size_t offset = 0;  ///< of its first byte in the input
};

struct WordsError {
  std::string message;
  std::size_t offset = 0;
};

/// Split as `sh` would before any expansion: blanks and newlines separate, '...' is literal, "..." knows \\ \" \$ \` and backslash-newline, a backslash outside quotes takes the
/// next byte literally (and joins lines). `$`, backticks, globs and `#` are ordinary bytes.
tl::expected<std::vector<ShellWord>, WordsError> split_words(std::string_view text);

}  // namespace sskj::profile
