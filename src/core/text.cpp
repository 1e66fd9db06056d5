#include "sskj/core/text.hpp"

#include <algorithm>
#include <array>
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

// Code point of one valid sequence of more than one byte.
char32_t code_point(std::string_view sequence) {
  auto point = static_cast<char32_t>(static_cast<unsigned char>(sequence[0]) & (0xFFU >> (sequence.size() + 1)));
  for (const char c : sequence.substr(1)) point = (point << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  return point;
}

struct Range {
  char32_t first, last;
};

// table: what steers a terminal or leaves no mark on it. C1 controls are obeyed (CSI is U+009B); directional marks, embeddings, overrides and isolates let text show in
// another order than its bytes ("Trojan Source"); zero-width characters and tags make unequal names look equal; U+2028 and U+2029 end lines for some programs.
constexpr std::array k_unseen{Range{0x80, 0x9F},     Range{0xAD, 0xAD},     Range{0x61C, 0x61C},   Range{0x180E, 0x180E},   Range{0x200B, 0x200F}, Range{0x2028, 0x202E},
                              Range{0x2060, 0x206F}, Range{0xFEFF, 0xFEFF}, Range{0xFFF9, 0xFFFB}, Range{0xE0000, 0xE007F}};

bool is_unseen(char32_t point) {
  return std::any_of(k_unseen.begin(), k_unseen.end(), [point](const Range& range) { return point >= range.first && point <= range.last; });
}

// \x9b for C1 controls, as for the controls of ASCII; \u202e and \U000e0041 beyond.
void append_escaped(std::string& out, char32_t point) {
  constexpr std::string_view k_hex = "0123456789abcdef";
  const unsigned digits = point < 0x100 ? 2 : point < 0x10000 ? 4 : 8;
  out += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
  for (unsigned shift = digits * 4; shift > 0; shift -= 4) out += k_hex[(point >> (shift - 4)) & 0xFU];
}

// How many bytes at the start of `bytes` are ASCII that is shown: logs are made of little else, so they are copied in one piece.
std::size_t plain_length(std::string_view bytes) {
  const auto* const end = std::find_if(bytes.begin(), bytes.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7F; });
  return static_cast<std::size_t>(end - bytes.begin());
}

void append_escaped(std::string& out, unsigned char c) {
  switch (c) {
    case '\r': out += "\\r"; return;
    case '\n': out += "\\n"; return;
    case '\t': out += "\\t"; return;
    default: append_escaped(out, static_cast<char32_t>(c)); return;
  }
}

}  // namespace

std::string to_valid_utf8(std::string_view bytes, std::size_t max_bytes) {
  std::string out;
  out.reserve(std::min(bytes.size(), max_bytes));
  while (!bytes.empty()) {
    const std::size_t plain = std::min(plain_length(bytes), max_bytes - out.size());
    out += bytes.substr(0, plain);
    bytes.remove_prefix(plain);
    if (bytes.empty()) break;
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
  for (std::size_t i = 0; i < valid.size();) {
    const std::size_t plain = plain_length(std::string_view(valid).substr(i));
    out.append(valid, i, plain);
    i += plain;
    if (i == valid.size()) break;
    const auto c = static_cast<unsigned char>(valid[i]);
    if (c < 0x80) {
      if (keep_newlines && (c == '\n' || c == '\t')) {
        out += valid[i];
      } else {
        append_escaped(out, c);
      }
      ++i;
      continue;
    }
    const std::size_t length = sequence_length(std::string_view(valid).substr(i));
    const char32_t point = code_point(std::string_view(valid).substr(i, length));
    if (is_unseen(point)) {
      append_escaped(out, point);
    } else {
      out.append(valid, i, length);
    }
    i += length;
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
