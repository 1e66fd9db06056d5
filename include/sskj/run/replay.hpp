// Replay: the events of a run as its journal has them, in order, also while it is being written. Reads only; what cannot be read is told, never guessed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sskj/run/event_json.hpp"

namespace sskj::run {

class Replay {
 public:
  struct Batch {
    std::vector<ReadEvent> events;    ///< they point into plan()
    std::vector<std::string> notes;   ///< lines that are no events, output that is too long to repeat
    bool more = false;                ///< more may be there already; false = all that had been written was read
  };

  /// Errors (Errc::usage): there is no such directory, or its plan cannot be read. With `all_output`, events carry the output of every script, as -vv shows it;
  /// without, of scripts that follow (exec, logs).
  static Result<std::unique_ptr<Replay>> open(std::string directory, bool all_output = false);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  [[nodiscard]] const plan::Plan& plan() const;
  [[nodiscard]] const std::string& directory() const;
  /// The next events, a bounded number. A last line without its end is left for the next time: it is still being written, or was never finished.
  Batch next();

 private:
  struct Impl;
  explicit Replay(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sskj::run
