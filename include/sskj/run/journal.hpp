// Journal: the run directory. An EventSink that leaves on disk what a person, `attach` or `history` reads later; kill -9 at any point leaves a readable prefix.
//
//   <state>/runs/<id>/            0700, files 0600; held by flock(LOCK_EX) on the directory while the run lives
//     plan.json                   the plan, canonical
//     events.ndjson               one event a line (event_json.hpp), each written whole
//     nodes/<node>/<step>.out     raw bytes of stdout (.err: stderr): of a followed script as they come, else when the step ends; only where there are any
//     summary.json                the last event, when there was one: written to a temporary name, then renamed
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sskj/run/event.hpp"

namespace sskj::run {

inline constexpr std::size_t k_max_output_file = std::size_t{64} << 20;

struct JournalOptions {
  std::string state_directory;                     ///< $XDG_STATE_HOME/sskj or its default; the composition root knows it
  std::string run;                                 ///< run id, made by the composition root: YYYYMMDD-HHMMSS-xxxx
  std::function<std::string()> now;                ///< wall-clock time for `at`, RFC 3339; this module has no clock. May be empty
  std::function<void(const Error&)> on_error;      ///< told once when writing fails (disk full); the run goes on without a journal. May be empty
  std::size_t max_output_file = k_max_output_file; ///< bytes of one raw output file; then a line says that it was cut
};

class Journal final : public EventSink {
 public:
  /// Makes the directory and writes plan.json. Errors (Errc::usage): it cannot be made (read-only home, disk full) or the run exists; the hint names --state-dir.
  static Result<std::unique_ptr<Journal>> open(const plan::Plan& plan, JournalOptions options);
  ~Journal() override;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void on(const Event& event) override;
  [[nodiscard]] const std::string& directory() const;

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A node's or step's name as a file name: all but [A-Za-z0-9._-] as %XX, never "." or "..", at most 200 bytes.
std::string journal_file_name(std::string_view name);

}  // namespace sskj::run
