// Renderers: events in, text or JSON out. The only readers of run events besides the journal, the only writers to the terminal.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sskj/run/event.hpp"
#include "sskj/view/output.hpp"

namespace sskj::view {

enum class Format { text, json, ndjson };

/// What happens with the output of scripts that follow (RunScript::follow: exec, logs).
enum class RemoteOutput {
  hidden,    ///< life cycle verbs: only at -vv
  folded,    ///< equal outputs once, under a header with the folded node set (exec)
  prefixed,  ///< each line at once, as `node: line` (logs -f)
};

struct Options {
  Format format = Format::text;
  int verbosity = 0;                       ///< -1 (-q): failures and summary · 0 · 1 (-v): every step · 2 (-vv): remote output too · 3 (-vvv): followed logs too
  RemoteOutput remote_output = RemoteOutput::hidden;
  std::string answer;                      ///< kind of the report that is this verb's answer ("status"): on stdout, and merged into the JSON's top level; empty = none
  std::string resume;                      ///< the command that goes on after an interrupt or failure without a hint of its own, e.g. "sskj start -p NAME"
  std::function<std::string()> wall_time;  ///< "12:03:07" for plain lines; unset = time since the run began
  std::function<std::string()> timestamp;  ///< RFC 3339 time for `at` in NDJSON; unset = no `at`
  std::size_t fold_above = 30;             ///< nodes; a live table with more shows groups of equal state
  std::size_t tail_lines = 12;             ///< last remote lines shown with a failure
};

struct Context;  // the state of one renderer (src/view/model.hpp)

struct RendererRow {
  std::string_view name;  ///< human, plain, json, ndjson
  std::string_view title;
  void (*on)(Context&, const run::Event&);  ///< after the model took the event
  void (*tick)(Context&);
};

/// All renderers; a new one is a row here.
std::span<const RendererRow> renderers();

/// json and ndjson by format; text: human where stderr can be redrawn and -q was not given, else plain.
const RendererRow& choose_renderer(const Options& options, const Output& output);

/// One run through one row of the table. `output` must outlive it.
class Renderer final : public run::EventSink {
 public:
  Renderer(const RendererRow& row, Options options, Output& output);
  ~Renderer() override;
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  void on(const run::Event& event) override;
  /// Monotonic time; call at least every 100 ms while a run lasts. Redraws, heartbeats and elapsed times come from here alone.
  void tick(Millis now);
  /// The time at which the next event happened, for events of the past (a journal that is replayed): lines get their times from it, and no table is drawn for it.
  void catch_up(Millis at);
  /// A remark that is no event (a transport's warning, a journal that cannot be written): one line on stderr, above a live table; not shown with -q.
  void note(std::string_view text);
  /// The run directory is not whole: from here on nobody is sent there for the whole of anything.
  void directory_broken();
  /// The terminal has another size (SIGWINCH) or was taken away for a while (SIGCONT): draws anew.
  void resize(unsigned width, unsigned height);

 private:
  std::unique_ptr<Context> context_;
};

}  // namespace sskj::view
