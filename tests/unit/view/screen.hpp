// A small terminal: enough of one to see what a person sees after the bytes of the live table went through it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sskj::view::testing {

class Screen {
 public:
  explicit Screen(std::size_t width) : width_(width) {}

  /// Feeds bytes; SGR is ignored, unknown sequences are counted in unknown().
  void feed(std::string_view bytes);
  /// A terminal that reflows (as most do) on a change of width.
  void resize(std::size_t width);

  std::string text() const;                         ///< all rows from the first, without blanks at their ends
  std::size_t wraps() const { return wraps_; }      ///< how often a line ran over the last column
  std::size_t unknown() const { return unknown_; }

 private:
  struct Row {
    std::vector<std::string> cells;
    bool continues = false;  ///< the row below belongs to the same line
  };
  void put(std::string glyph);
  void sequence(std::string_view arguments, char final);
  Row& row();

  std::size_t width_;
  std::vector<Row> rows_{1};
  std::size_t y_ = 0, x_ = 0;
  std::size_t wraps_ = 0, unknown_ = 0;
};

}  // namespace sskj::view::testing
