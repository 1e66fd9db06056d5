// Journal: the run directory. An EventSink that leaves on disk what a person, `attach` or `history` reads later; kill -9 at any point leaves a readable prefix.
//
//   <state>/runs/<id>/            0700, files 0600; held by flock(LOCK_EX) on the directory while the run lives. It gets this name when it is locked and holds the
//                                 plan, so whoever sees it can read it and knows by the lock whether its run lives (record.hpp)
//     plan.json                   the plan, canonical
//     run.json                    verb, deployment, profile, command line, pid
//     events.ndjson               one event a line (event_json.hpp), each written whole
//     nodes/<node>/<step>.out     raw bytes of stdout (.err: stderr): of a followed script as they come, else when the step ends; only where there are any
//     summary.json                the last event, when there was one: written to a temporary name, then renamed
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sskj/run/event.hpp"

namespace sskj::run {

inline constexpr std::size_t k_max_output_file = std::size_t{64} << 20;

struct JournalOptions {
  std::string state_directory;                     ///< $XDG_STATE_HOME/sskj or its default; the composition root knows it
  std::string run;                                 ///< run id, made by the composition root: YYYYMMDD-HHMMSS-xxxx
  std::string command;                             ///< for run.json: the command line, quoted for a shell
  std::int64_t pid = 0;                            ///< for run.json: the process that runs it; 0 = not known yet
  std::function<std::string()> now;                ///< wall-clock time for `at`, RFC 3339; this module has no clock. May be empty
  std::function<void(const Error&)> on_error;      ///< told once when writing fails (disk full); the run goes on without a journal. May be empty
  std::size_t max_output_file = k_max_output_file; ///< bytes of one raw output file; then a line says that it was cut
};

class Journal final : public EventSink {
 public:
  /// Makes the directory, locks it and writes plan.json. Errors (Errc::usage): it cannot be made (read-only home, disk full) or the run exists; the hint says what
  /// else to name.
  static Result<std::unique_ptr<Journal>> open(const plan::Plan& plan, JournalOptions options);
  /// Takes over the directory that another process of ours opened for this run: `lock` is its lock_fd(), inherited, so that the lock was never free in between.
  /// Errc::usage where the descriptor is not that directory.
  static Result<std::unique_ptr<Journal>> adopt(const plan::Plan& plan, JournalOptions options, int lock);
  ~Journal() override;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void on(const Event& event) override;
  [[nodiscard]] const std::string& directory() const;
  [[nodiscard]] int lock_fd() const;  ///< for a child that shall hold the lock from its birth on; close-on-exec

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A node's or step's name as a file name: all but [A-Za-z0-9._-] as %XX, never "." or "..", at most 200 bytes.
std::string journal_file_name(std::string_view name);

/// Where a step's raw output lies.
std::string journal_output_path(const std::string& directory, const plan::Step& step, Stream stream);

}  // namespace sskj::run
