// What both syntaxes refuse before they are parsed.
#pragma once

#include <string>
#include <string_view>

#include "sskj/core/diagnostic.hpp"

namespace sskj::profile {

inline constexpr std::size_t k_max_text = std::size_t{1} << 20;

struct SourceText {
  std::string text;         ///< without BOM, CRLF turned into LF
  Diagnostics diagnostics;  ///< stray bytes with their positions; with errors `text` must not be parsed
};

/// Size, NUL, control characters, lone CR, invalid UTF-8.
SourceText clean_source(std::string_view bytes, const std::string& file);

/// Length of the valid UTF-8 sequence at `at`, or 0.
std::size_t utf8_length(std::string_view bytes, std::size_t at);

}  // namespace sskj::profile
