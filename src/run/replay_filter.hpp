// A followed log that is read again from its start after a lost connection: passes on what was not seen yet, so that no line is lost or doubled.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sskj::run {

/// One stream. A restart is taken for a replay when its first bytes (up to 256) equal those seen first; anything else is new output and passes whole.
class ReplayFilter {
 public:
  /// The same script runs again.
  void restart();
  /// What of `bytes` is new.
  std::string feed(std::string_view bytes);
  /// True once after a restart that turned out to be no replay: an unfinished line of before will not be completed.
  bool took_new_start();

 private:
  std::string first_;          // first bytes ever seen
  std::size_t seen_ = 0;       // bytes passed on from the start of the log
  std::string held_;           // bytes of a restarted stream until it is known whether it replays
  std::size_t skip_ = 0;       // bytes of the replay still to pass over
  bool deciding_ = false;
  bool new_start_ = false;
};

}  // namespace sskj::run
