// Pulse: sends the plan's heartbeat to every node that holds something for this run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "context.hpp"
#include "sskj/run/event.hpp"

namespace sskj::run {

class Pulse : public std::enable_shared_from_this<Pulse> {
 public:
  /// `gone` is called once, from the loop, when a node says that the hold is this run's no more.
  Pulse(Context& context, const plan::Heartbeat& heartbeat, std::function<void(const std::string& node, const Error&)> gone);

  /// A step of `stage` ended: its node is held from now on, if it is the stage that takes hold and the step ended well.
  void step_ended(const plan::Stage& stage, const plan::Step& step, StepStatus status);
  /// No more beats; those in flight are given up.
  void stop();

 private:
  struct Beat {
    const plan::Step* step = nullptr;
    CallId timer = 0, call = 0;
    std::string script;          // the bytes of a call in flight
    std::string answer;          // what the script said on stderr, bounded
  };

  void schedule(Beat& beat, Millis pause);
  void send(Beat& beat);
  void ended(Beat& beat, const Outcome& outcome);

  Context& context_;
  const plan::Heartbeat& heartbeat_;
  std::function<void(const std::string& node, const Error&)> gone_;
  std::map<std::string, Beat> beats_;  // by node; begun ones have a timer or a call
  bool stopped_ = false;
};

}  // namespace sskj::run
