#include "gate.hpp"

#include <algorithm>

namespace sskj::ssh {

Gate::Ticket::~Ticket() {
  if (!alive_.expired()) {
    gate_->leave(entrance_);
  }
}

void Gate::ask(const std::string& entrance, std::function<void(std::unique_ptr<Ticket>)> enter) {
  waiting_.push_back({entrance, std::move(enter)});
  admit_soon();
}

void Gate::narrow(const std::string& entrance) { narrowed_[entrance] = std::max<std::size_t>(1, places(entrance) - 1); }

std::size_t Gate::places(const std::string& entrance) const {
  const auto known = narrowed_.find(entrance);
  return known == narrowed_.end() ? per_entrance_ : known->second;
}

void Gate::leave(const std::string& entrance) {
  --inside_;
  if (--per_[entrance] == 0) {
    per_.erase(entrance);
  }
  admit_soon();
}

void Gate::admit_soon() {
  if (scheduled_ || waiting_.empty()) {
    return;
  }
  scheduled_ = true;
  loop_.post([this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) {
      scheduled_ = false;
      admit();
    }
  });
}

void Gate::admit() {
  for (auto at = waiting_.begin(); at != waiting_.end() && inside_ < total_;) {
    const auto there = per_.find(at->entrance);
    if (there != per_.end() && there->second >= places(at->entrance)) {
      ++at;
      continue;
    }
    auto next = std::move(*at);
    at = waiting_.erase(at);
    ++inside_;
    ++per_[next.entrance];
    next.enter(std::make_unique<Ticket>(this, alive_, next.entrance));
    // A caller that gave up drops its ticket at once; leave() then asks for another round.
  }
}

}  // namespace sskj::ssh
