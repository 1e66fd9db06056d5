// What all parts of one run share.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "ledger.hpp"
#include "secrets.hpp"
#include "sskj/run/executor.hpp"

namespace sskj::run {

class Pulse;

struct Context {
  Context(const plan::Plan& of, Transport& over, EventSink& to, Drivers with, Limits within, RunVars known)
      : plan(of), transport(over), sink(to), drivers(std::move(with)), limits(std::move(within)), vars(std::move(known)), secrets(drivers.secret), ledger(of) {
    for (const auto& node : of.nodes) nodes.emplace(node.id, &node);
  }

  void emit(const Event& event) const {
    if (!closed) sink.on(event);
  }
  /// How far each node came by its log, for messages: ", weights 37/96: n1; rendezvous: n[2-4]"; empty when no log said anything.
  [[nodiscard]] std::string where() const;
  [[nodiscard]] const plan::Node* node(const std::string& id) const {
    const auto found = nodes.find(id);
    return found == nodes.end() ? nullptr : found->second;
  }

  const plan::Plan& plan;
  Transport& transport;
  EventSink& sink;
  Drivers drivers;
  Limits limits;
  RunVars vars;
  Secrets secrets;
  Ledger ledger;
  std::map<std::string, const plan::Node*> nodes;
  std::map<std::string, std::string> phases;  ///< last phase that a watch read from a node's log, e.g. "weights 37/96"
  Millis progressed{0};                       ///< when one of them changed last
  std::shared_ptr<Pulse> pulse;               ///< set when the plan has a heartbeat
  bool closed = false;  ///< the executor is gone: late callbacks say nothing
};

using ContextPtr = std::shared_ptr<Context>;

/// The transport ends a call at its deadline; these timers are the safety behind it, so that no fault of a transport can hang a run.
inline constexpr Millis k_deadline_grace{2'000};  ///< after the deadline: the call is cancelled by us
inline constexpr Millis k_cancel_grace{10'000};   ///< after a cancel (bounded by 5 s in the transport): its answer is no longer waited for

/// Pauses between attempts to reach a node again.
inline constexpr Millis k_first_pause{500};
inline constexpr Millis k_longest_pause{5'000};

class Backoff {
 public:
  Millis next() {
    const Millis pause = pause_;
    pause_ = std::min(pause_ * 2, k_longest_pause);
    return pause;
  }
  void reset() { pause_ = k_first_pause; }

 private:
  Millis pause_ = k_first_pause;
};

}  // namespace sskj::run
