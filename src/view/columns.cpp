#include "columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "sskj/core/text.hpp"

namespace sskj::view {

namespace {

struct Range {
  char32_t first, last;
};

// table: code points of no width (marks, joiners) and of two columns (East Asian wide, emoji); Unicode 15, folded to blocks.
constexpr std::array k_zero_width{Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD}, Range{0x200B, 0x200F}, Range{0x202A, 0x202E},
                                  Range{0x2060, 0x2064}, Range{0x20D0, 0x20F0}, Range{0xFE00, 0xFE0F}, Range{0xFEFF, 0xFEFF}};
constexpr std::array k_double_width{Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0x33FF},   Range{0x3400, 0x4DBF}, Range{0x4E00, 0x9FFF},
                                    Range{0xA000, 0xA4CF},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F}, Range{0xFF00, 0xFF60},
                                    Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F6FF}, Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};

bool within(std::span<const Range> ranges, char32_t point) {
  return std::any_of(ranges.begin(), ranges.end(), [point](const Range& range) { return point >= range.first && point <= range.last; });
}

std::size_t width_of(char32_t point) {
  if (within(k_zero_width, point)) {
    return 0;
  }
  return within(k_double_width, point) ? 2 : 1;
}

struct Glyph {
  std::size_t bytes = 1;
  std::size_t width = 1;
};

std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) {
    return 1;
  }
  return lead < 0xE0 ? 2 : (lead < 0xF0 ? 3 : 4);
}

// The text is valid UTF-8 already; a stray byte counts as one column.
Glyph glyph_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = sequence_length(lead);
  if (length == 1 || at + length > text.size()) {
    return {};
  }
  auto point = static_cast<char32_t>(lead & (0xFFU >> (length + 1)));
  for (std::size_t i = 1; i < length; ++i) {
    point = (point << 6U) | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
  }
  return {length, width_of(point)};
}

}  // namespace

std::size_t columns(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Glyph glyph = glyph_at(text, at);
    width += glyph.width;
    at += glyph.bytes;
  }
  return width;
}

std::string cut(std::string_view text, std::size_t limit) {
  if (columns(text) <= limit) {
    return std::string(text);
  }
  if (limit == 0) {
    return {};
  }
  std::size_t width = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const Glyph glyph = glyph_at(text, at);
    if (width + glyph.width > limit - 1) {
      break;
    }
    width += glyph.width;
    at += glyph.bytes;
  }
  return std::string(text.substr(0, at)) + "…";
}

std::string pad(std::string_view text, std::size_t width) {
  std::string padded = cut(text, width);
  padded.append(width - std::min(width, columns(padded)), ' ');
  return padded;
}

std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view indent) {
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    auto& clean = cells.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      clean.push_back(text::printable(row[i]));
      widths.resize(std::max(widths.size(), row.size()), 0);
      widths[i] = std::max(widths[i], columns(clean.back()));
    }
  }
  std::string result;
  for (const auto& row : cells) {
    std::string line{indent};
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i + 1 < row.size() ? pad(row[i], widths[i]) + "  " : row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  }
  return result;
}

std::string paint(Tone tone, std::string_view text, bool color) {
  constexpr std::array<std::string_view, 6> codes{"", "32", "33", "31", "2", "1"};
  const std::string_view code = codes.at(static_cast<std::size_t>(tone));
  if (!color || code.empty() || text.empty()) {
    return std::string(text);
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string clock_text(std::int64_t milliseconds) {
  const std::int64_t seconds = std::max<std::int64_t>(milliseconds, 0) / 1000;
  if (seconds < 60) {
    return fmt::format("{}s", seconds);
  }
  if (seconds < 3600) {
    return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  }
  return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
}

std::string remote_line(std::string_view bytes, std::size_t limit) {
  while (!bytes.empty() && (bytes.back() == '\n' || bytes.back() == '\r')) {
    bytes.remove_suffix(1);
  }
  const std::size_t carriage = bytes.rfind('\r');
  if (carriage != std::string_view::npos) {
    bytes.remove_prefix(carriage + 1);
  }
  std::string line = text::printable(text::to_valid_utf8(bytes, limit), true);  // holds no newline; tabs stay
  if (bytes.size() > limit) {
    line += fmt::format("… ({} bytes cut)", bytes.size() - limit);
  }
  return line;
}

std::vector<std::string> remote_lines(std::string_view bytes, std::size_t limit) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    lines.push_back(remote_line(bytes.substr(0, end), limit));
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  }
  return lines;
}

std::vector<std::string> last_lines(std::string_view bytes, std::size_t count, std::size_t limit) {
  std::vector<std::string> lines;
  while (!bytes.empty() && lines.size() < count) {
    while (!bytes.empty() && bytes.back() == '\n') {
      bytes.remove_suffix(1);
    }
    const std::size_t start = bytes.rfind('\n');
    std::string line = remote_line(start == std::string_view::npos ? bytes : bytes.substr(start + 1), limit);
    bytes = start == std::string_view::npos ? std::string_view{} : bytes.substr(0, start);
    if (!text::trim(line).empty()) {
      lines.push_back(std::move(line));
    }
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

std::string counted(std::size_t count, std::string_view noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

}  // namespace sskj::view
