#include "capture.hpp"

#include <algorithm>

namespace sskj::run {

void Capture::add(std::string_view bytes) {
  const auto to_head = std::min(bytes.size(), half_ - std::min(half_, head_.size()));
  head_.append(bytes.substr(0, to_head));
  bytes.remove_prefix(to_head);
  if (bytes.size() > half_) {
    cut_ += tail_.size() + bytes.size() - half_;
    tail_.assign(bytes.substr(bytes.size() - half_));
    return;
  }
  tail_.append(bytes);
  if (tail_.size() > 2 * half_) {
    cut_ += tail_.size() - half_;
    tail_.erase(0, tail_.size() - half_);
  }
}

void Capture::clear() {
  head_.clear();
  tail_.clear();
  cut_ = 0;
}

std::string Capture::text() const { return head_ + tail_.substr(tail_.size() - std::min(tail_.size(), half_)); }

std::size_t Capture::dropped() const { return cut_ + tail_.size() - std::min(tail_.size(), half_); }

}  // namespace sskj::run
