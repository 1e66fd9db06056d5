// Recorded runs: plans and timed events that replay through every renderer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sskj/run/event.hpp"
#include "sskj/view/renderer.hpp"

namespace sskj::view::testing {

struct Timed {
  Millis at{0};
  run::Event event;
};

struct Scenario {
  std::string name;
  std::shared_ptr<plan::Plan> plan;
  std::vector<Timed> events;
  Options options;
};

/// All scenarios by name; a golden exists for each and every renderer.
std::vector<Scenario> scenarios();

Scenario start_done();
Scenario start_done_on(std::size_t nodes);
Scenario exec_folded();

plan::Plan small_plan(const std::string& verb, std::size_t nodes);

/// Replays through `row`, ticking every 50 ms of the scenario's own time.
struct Replayed {
  std::string out, err;
  std::size_t writes = 0;  ///< frames and lines written to stderr
};
Replayed replay(const Scenario& scenario, std::string_view row, bool color = false, unsigned width = 80, unsigned height = 24);

}  // namespace sskj::view::testing
