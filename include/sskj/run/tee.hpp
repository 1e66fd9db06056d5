// TeeSink: one event stream for several readers (renderer and journal), in the given order.
#pragma once

#include <utility>
#include <vector>

#include "sskj/run/event.hpp"

namespace sskj::run {

class TeeSink final : public EventSink {
 public:
  /// The sinks outlive this object.
  explicit TeeSink(std::vector<EventSink*> sinks) : sinks_(std::move(sinks)) {}
  void on(const Event& event) override;

 private:
  std::vector<EventSink*> sinks_;
};

}  // namespace sskj::run
