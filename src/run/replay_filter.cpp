#include "replay_filter.hpp"

#include <algorithm>
#include <utility>

namespace sskj::run {
namespace {
constexpr std::size_t k_compared = 256;  // with `docker logs -t` the first line alone carries a time in nanoseconds
}

void ReplayFilter::restart() {
  held_.clear();
  skip_ = 0;
  deciding_ = seen_ > 0;
}

std::string ReplayFilter::feed(std::string_view bytes) {
  std::string joined;
  if (deciding_) {
    held_.append(bytes);
    const auto known = std::min(held_.size(), first_.size());
    const bool same = std::string_view(held_).substr(0, known) == std::string_view(first_).substr(0, known);
    if (same && held_.size() < first_.size()) return {};
    deciding_ = false;
    if (same) {
      skip_ = seen_;
    } else {
      seen_ = 0;
      first_.clear();
      new_start_ = true;
    }
    joined = std::exchange(held_, {});
    bytes = joined;
  }
  const auto skipped = std::min(skip_, bytes.size());
  skip_ -= skipped;
  bytes.remove_prefix(skipped);
  first_.append(bytes.substr(0, k_compared - std::min(k_compared, first_.size())));
  seen_ += bytes.size();
  return std::string(bytes);
}

bool ReplayFilter::took_new_start() { return std::exchange(new_start_, false); }

}  // namespace sskj::run
