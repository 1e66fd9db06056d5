#include "lines.hpp"

#include <algorithm>

namespace sskj::run {

void LineSplitter::feed(std::string_view bytes, const Line& line) {
  while (!bytes.empty()) {
    const auto end = bytes.find_first_of("\n\r");
    const auto piece = bytes.substr(0, end);
    partial_.append(piece.substr(0, k_max_line - std::min(k_max_line, partial_.size())));
    if (end == std::string_view::npos) return;
    finish(line);
    bytes.remove_prefix(end + 1);
  }
}

void LineSplitter::finish(const Line& line) {
  if (partial_.empty()) return;
  const std::string whole = std::move(partial_);
  partial_.clear();
  line(strip_ansi(whole));
}

namespace {

constexpr char k_esc = '\x1b';

/// Bytes of the escape sequence that begins at text[0] == ESC.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  if (text[1] == '[') {  // CSI: parameters and intermediates 0x20..0x3F, then one final byte
    std::size_t at = 2;
    while (at < text.size() && text[at] >= 0x20 && text[at] <= 0x3F) ++at;
    return std::min(at + 1, text.size());
  }
  if (text[1] == ']') {  // OSC: up to BEL or ESC backslash
    const auto end = text.find_first_of("\x07\x1b", 2);
    if (end == std::string_view::npos) return text.size();
    return text[end] == k_esc ? std::min(end + 2, text.size()) : end + 1;
  }
  return 2;
}

}  // namespace

std::string strip_ansi(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto plain = std::min(text.find(k_esc), text.size());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(escape_length(text));
  }
  return out;
}

}  // namespace sskj::run
