// Output of a script, bounded: the first and the last half of the limit are kept.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sskj::run {

class Capture {
 public:
  explicit Capture(std::size_t limit) : half_(limit / 2) {}

  void add(std::string_view bytes);
  void clear();
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::size_t dropped() const;

 private:
  std::size_t half_;
  std::string head_, tail_;  // tail_ grows to twice its share before it is cut: amortised O(1) a byte
  std::size_t cut_ = 0;      // bytes already cut off tail_'s front
};

}  // namespace sskj::run
