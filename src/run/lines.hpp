// Bytes of a log -> lines, as a log matcher wants them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace sskj::run {

inline constexpr std::size_t k_max_line = 8U << 10;  ///< bytes of a line that are looked at; the rest is passed over

/// Splits on \n and \r (progress bars repaint with \r), passes over empty lines, cuts at k_max_line, removes ANSI escapes.
class LineSplitter {
 public:
  using Line = std::function<void(std::string_view)>;
  void feed(std::string_view bytes, const Line& line);
  /// Hands out an unfinished last line.
  void finish(const Line& line);

 private:
  std::string partial_;
};

/// Without CSI (colours, cursor), OSC (titles, links) and two-byte escapes.
std::string strip_ansi(std::string_view text);

}  // namespace sskj::run
