#include "sskj/run/tee.hpp"

namespace sskj::run {

void TeeSink::on(const Event& event) {
  for (EventSink* sink : sinks_) sink->on(event);
}

}  // namespace sskj::run
