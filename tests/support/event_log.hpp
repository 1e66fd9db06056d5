// EventLog: a sink that keeps events and answers what tests ask.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sskj/run/event.hpp"

namespace sskj::test {

class EventLog final : public run::EventSink {
 public:
  void on(const run::Event& event) override;

  [[nodiscard]] const std::vector<run::Event>& events() const { return events_; }
  /// One short line an event, in order: "stage put", "step a", "a changed", "stage put ok", "run 0", ...
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] const run::StepResult* result(std::string_view step) const;  ///< null where the step did not finish
  [[nodiscard]] const run::StageFinished* stage(std::string_view id) const;  ///< the first of that id (its undo, if any, is another)
  [[nodiscard]] const run::RunFinished* finished() const;
  [[nodiscard]] std::size_t position(std::string_view line) const;           ///< of the first equal line; lines().size() if there is none
  template <class E>
  [[nodiscard]] std::vector<const E*> all() const {
    std::vector<const E*> out;
    for (const auto& event : events_) {
      if (const auto* one = std::get_if<E>(&event)) out.push_back(one);
    }
    return out;
  }

 private:
  std::vector<run::Event> events_;
  std::vector<std::string> lines_;
};

}  // namespace sskj::test
