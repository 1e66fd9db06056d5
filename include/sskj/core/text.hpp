// Small text helpers shared by parsers and renderers. All pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/core/result.hpp"

namespace sskj::text {

/// Valid UTF-8 with invalid bytes replaced by U+FFFD; at most `max_bytes` (cut on a character border).
std::string to_valid_utf8(std::string_view bytes, std::size_t max_bytes = static_cast<std::size_t>(-1));

/// Valid UTF-8 without what a terminal obeys or does not show: control characters (ESC, CR, ... shown as \x1b, \r), bidirectional overrides, zero-width characters, line and
/// paragraph separators (shown as \u202e). What may reach a terminal. Newline and tab are kept if `keep_newlines`.
std::string printable(std::string_view bytes, bool keep_newlines = false);

/// The candidate nearest to `word` (Damerau-Levenshtein, at most a third of its length away), for "did you mean".
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// `90s`, `15m`, `2h`, `500ms`, `1h30m`; a bare number is refused except where `bare_seconds`; 0 is refused. Errc::usage on error.
Result<std::chrono::milliseconds> parse_duration(std::string_view text, bool bare_seconds = false);
/// Shortest text that parses back, e.g. "1m30s".
std::string format_duration(std::chrono::milliseconds duration);

/// `32g`, `512m`, `10485760` (docker's units, powers of 1024) in bytes. Errc::usage on error.
Result<std::uint64_t> parse_bytes(std::string_view text);

std::string_view trim(std::string_view text);
std::vector<std::string> split_lines(std::string_view text);  ///< splits on \n, \r\n and lone \r; no empty last line

}  // namespace sskj::text
