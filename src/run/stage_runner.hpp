// One stage: a barrier. Runs its steps by node and order, its watches beside them, and the verdict over all outputs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "context.hpp"
#include "step_runner.hpp"
#include "watch.hpp"

namespace sskj::run {

enum class StagePart { steps, undo, always };

struct StageEnd {
  bool ok = false;
  std::optional<Error> error;       ///< the first failure, if any
  std::vector<Errc> failures;       ///< category of each failure that counts
};

class StageRunner : public std::enable_shared_from_this<StageRunner> {
 public:
  using Done = std::function<void(StageEnd)>;
  StageRunner(ContextPtr context, const plan::Stage& stage, StagePart part, std::size_t number, Done done);

  void start();
  /// No new steps; running ones end with `status` because of `why`. `done` follows.
  void abort(StepStatus status, const Error& why);

  /// Reports a stage that does not run.
  static void report_skipped(const Context& context, const plan::Stage& stage);

 private:
  struct Lane {
    std::string node;
    std::vector<std::size_t> steps;  // indices into steps_
    std::size_t next = 0;
    std::shared_ptr<StepRunner> running;
    bool closed = false;             // nothing more on this node in this stage
  };

  void make_lanes();
  void start_watches();
  void arm_deadline();
  void arm_progress();
  void pump();
  void advance(Lane& lane);
  void on_step_done(Lane& lane, std::size_t index, StepResult result);
  void on_watch_failed(const plan::Step& step, const Error& error);
  void stop_polls(const Error& why);
  void steps_done();
  void conclude();
  void take_verdict();
  void note_hosts();
  void failed(const Error& error);
  void skip(std::size_t index);
  [[nodiscard]] bool verdict_wanted() const { return part_ != StagePart::undo && stage_.verdict && !abort_; }

  ContextPtr context_;
  const plan::Stage& stage_;
  StagePart part_;
  std::size_t number_;
  Done done_;
  const std::vector<plan::Step>& steps_;
  bool waiting_ = false;

  std::vector<Lane> lanes_;
  std::size_t next_lane_ = 0;
  std::size_t active_ = 0;
  bool halted_ = false;                  // no lane begins any more
  std::vector<std::optional<StepResult>> results_;
  std::vector<std::shared_ptr<Watch>> watches_;
  std::size_t live_watches_ = 0;
  bool steps_over_ = false;
  bool verdict_failed_ = false;
  std::optional<Error> abort_;
  StageEnd end_;
  CallId deadline_ = 0;
  CallId progress_ = 0;
  Millis started_{0};
};

}  // namespace sskj::run
