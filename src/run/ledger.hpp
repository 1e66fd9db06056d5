// Book-keeping of a run: every failure's exit code, every node's class.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sskj/run/event.hpp"

namespace sskj::run {

class Ledger {
 public:
  explicit Ledger(const plan::Plan& plan);

  /// A step ended on a node. `counts`: a failure of it is one of the run; a tolerated one is data, but a node that was not reached was not reached.
  void step(const std::string& node, StepStatus status, bool counts);
  /// A step ended on the node as `status`: was it reached?
  void contact(const std::string& node, StepStatus status) { (status == StepStatus::not_run ? unreached_ : reached_).insert(node); }
  /// It was tried and never reached: there is nothing to undo on it, and asking again would only wait.
  [[nodiscard]] bool out_of_reach(const std::string& node) const { return unreached_.contains(node) && !reached_.contains(node); }
  void failure(ExitCode code);
  void failure(Errc code) { failure(exit_code_of(code)); }

  /// The most severe code, or done.
  [[nodiscard]] ExitCode code() const;
  [[nodiscard]] const std::vector<ExitCode>& codes() const { return codes_; }
  [[nodiscard]] const HostSummary& hosts() const { return hosts_; }

 private:
  std::vector<ExitCode> codes_;  // each once, in the order they came
  std::set<std::string> cut_short_;  // nodes whose work was cancelled: what an undo does there later does not make them ok
  std::set<std::string> reached_, unreached_;
  HostSummary hosts_;            // skipped until something ran
};

}  // namespace sskj::run
