#include "screen.hpp"

#include <algorithm>
#include <cstdlib>

namespace sskj::view::testing {

Screen::Row& Screen::row() {
  if (rows_.size() <= y_) {
    rows_.resize(y_ + 1);
  }
  return rows_[y_];
}

void Screen::put(std::string glyph) {
  if (x_ == width_) {
    row().continues = true;
    ++wraps_;
    ++y_;
    x_ = 0;
  }
  auto& cells = row().cells;
  if (cells.size() <= x_) {
    cells.resize(x_ + 1, " ");
  }
  cells[x_++] = std::move(glyph);
}

void Screen::sequence(std::string_view arguments, char final) {
  const std::size_t count = arguments.empty() ? 1 : static_cast<std::size_t>(std::atoi(std::string(arguments).c_str()));
  if (final == 'A') {
    y_ -= std::min(y_, count);
  } else if (final == 'J') {
    row().cells.resize(std::min(row().cells.size(), x_));
    rows_.resize(y_ + 1);
  } else if (final == 'K') {
    row().cells.resize(std::min(row().cells.size(), x_));
    row().continues = false;
  } else if (final != 'm') {
    ++unknown_;
  }
}

void Screen::feed(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (byte == 0x1B && i + 1 < bytes.size() && bytes[i + 1] == '[') {
      const std::size_t end = bytes.find_first_not_of("0123456789;?", i + 2);
      sequence(bytes.substr(i + 2, end - i - 2), bytes[end]);
      i = end + 1;
    } else if (byte == '\n') {
      ++y_;
      x_ = 0;
      row();
      ++i;
    } else if (byte == '\r') {
      x_ = 0;
      ++i;
    } else if (byte < 0x20) {
      ++unknown_;
      ++i;
    } else {
      std::size_t end = i + 1;
      while (end < bytes.size() && (static_cast<unsigned char>(bytes[end]) & 0xC0U) == 0x80) {
        ++end;
      }
      put(std::string(bytes.substr(i, end - i)));
      i = end;
    }
  }
}

void Screen::resize(std::size_t width) {
  std::vector<Row> reflowed;
  std::size_t cursor = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    std::vector<std::string> line = rows_[i].cells;
    const bool here = i == y_;
    while (rows_[i].continues && i + 1 < rows_.size()) {
      ++i;
      line.insert(line.end(), rows_[i].cells.begin(), rows_[i].cells.end());
    }
    if (here) {
      cursor = reflowed.size();
    }
    for (std::size_t from = 0; from < std::max<std::size_t>(line.size(), 1); from += width) {
      const auto begin = line.begin() + static_cast<std::ptrdiff_t>(std::min(from, line.size()));
      const auto end = line.begin() + static_cast<std::ptrdiff_t>(std::min(from + width, line.size()));
      reflowed.push_back({{begin, end}, from + width < line.size()});
    }
  }
  rows_ = std::move(reflowed);
  width_ = width;
  y_ = cursor;
}

std::string Screen::text() const {
  std::string text;
  for (const Row& one : rows_) {
    std::string line;
    for (const std::string& cell : one.cells) {
      line += cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + (one.continues ? "⏎" : "") + "\n";
  }
  while (text.ends_with("\n\n")) {
    text.pop_back();
  }
  return text;
}

}  // namespace sskj::view::testing
