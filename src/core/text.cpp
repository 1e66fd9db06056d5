#include "sskj/core/text.hpp"

#include <cctype>
#include <cstdint>

namespace sskj::text {
namespace {

constexpr std::string_view k_replacement = "\xEF\xBF\xBD";

// Length of the valid UTF-8 sequence at the start of `bytes` (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF); 0 if there is none.
std::size_t sequence_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  if (bytes.size() < length || at(1) < low || at(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (at(i) < 0x80 || at(i) > 0xBF) return 0;
  }
  return length;
}

void append_escaped(std::string& out, unsigned char c) {
  constexpr std::string_view k_hex = "0123456789abcdef";
  switch (c) {
    case '\r': out += "\\r"; return;
    case '\n': out += "\\n"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  out += "\\x";
  out += k_hex[c >> 4U];
  out += k_hex[c & 0xFU];
}

}  // namespace

std::string to_valid_utf8(std::string_view bytes, std::size_t max_bytes) {
  std::string out;
  out.reserve(std::min(bytes.size(), max_bytes));
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    const std::string_view piece = length == 0 ? k_replacement : bytes.substr(0, length);
    if (out.size() + piece.size() > max_bytes) break;
    out += piece;
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string printable(std::string_view bytes, bool keep_newlines) {
  const std::string valid = to_valid_utf8(bytes);
  std::string out;
  out.reserve(valid.size());
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const auto c = static_cast<unsigned char>(valid[i]);
    const bool kept = keep_newlines && (c == '\n' || c == '\t');
    // C1 controls (U+0080..U+009F) steer terminals too: CSI is U+009B. They are 0xC2 0x80..0x9F in UTF-8.
    const bool c1 = c == 0xC2 && i + 1 < valid.size() && static_cast<unsigned char>(valid[i + 1]) < 0xA0;
    if (c1) {
      append_escaped(out, static_cast<unsigned char>(valid[++i]));
    } else if (!kept && (c < 0x20 || c == 0x7F)) {
      append_escaped(out, c);
    } else {
      out += valid[i];
    }
  }
  return out;
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n' && text[i] != '\r') continue;
    lines.emplace_back(text.substr(begin, i - begin));
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
    begin = i + 1;
  }
  if (begin < text.size()) lines.emplace_back(text.substr(begin));
  return lines;
}

}  // namespace sskj::text
