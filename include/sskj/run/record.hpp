// Records: what the journals of earlier and other runs left in <state>/runs (journal.hpp), as far as a list or a choice among them needs it. Reads only.
//
// Whether a run lives is told by the lock of its directory alone: its process holds it from before the directory has its name until it ends, however it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/run/event.hpp"

namespace sskj::run {

/// run.json: what a run says about itself when it begins.
struct RunInfo {
  std::string run, verb, deployment, profile;
  std::string command;     ///< as typed, quoted for a shell; empty where nobody typed one
  std::int64_t pid = 0;    ///< 0 = not known (yet)
};
std::string to_json(const RunInfo& info);

enum class RunState {
  running,  ///< its process holds the lock
  done,     ///< exit code 0
  failed,   ///< ended by itself, with another exit code
  died,     ///< nobody holds the lock and it never said that it ended: kill -9, power loss
};
std::string_view to_string(RunState state);

struct RunRecord {
  RunInfo info;                        ///< `run` is the directory's name; the rest is empty where run.json cannot be read
  std::string directory;
  std::int64_t started = 0;            ///< seconds since 1970, from the id
  RunState state = RunState::died;
  std::optional<RunFinished> finished; ///< for done and failed
  std::optional<std::int64_t> last_sign;  ///< seconds since 1970: when the journal was last written
};

/// Where a run began, in seconds since 1970, by its id (YYYYMMDD-HHMMSS-xxxx, UTC); nothing where the text is no run id.
std::optional<std::int64_t> start_of_run(std::string_view id);

/// "2026-01-01T00:00:00Z", also with a fraction of a second, in milliseconds since 1970.
std::optional<Millis> parse_time(std::string_view text);
/// The inverse, in whole seconds: "2026-01-01T00:00:00Z".
std::string format_time(std::int64_t seconds);

/// Ids of the runs in `runs_directory`, newest first; empty where it cannot be read. Whatever else lies there is left out.
std::vector<std::string> list_runs(const std::string& runs_directory);

RunRecord read_run(const std::string& runs_directory, const std::string& id);

/// Whether somebody holds the directory's lock. Asking disturbs nobody.
bool is_held(const std::string& directory);

}  // namespace sskj::run
