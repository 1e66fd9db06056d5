// Output: the two streams of the process, as values. Everything a user reads goes through here; nothing else writes to a terminal.
//
// A stream never blocks the loop: what the reader does not take now is kept and sent on the next write, flush or drain. A reader that went away (EPIPE)
// closes the stream; later writes are dropped and closed() says so, so that `sskj logs -F | head` can end. The composition root ignores SIGPIPE.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sskj::view {

using Millis = std::chrono::milliseconds;

enum class ColorChoice { automatic, always, never };

struct ColorInputs {
  ColorChoice flag = ColorChoice::automatic;  ///< --color
  bool is_tty = false;
  std::optional<std::string> no_color;        ///< NO_COLOR: any non-empty value switches colour off (no-color.org)
  std::optional<std::string> clicolor_force;  ///< CLICOLOR_FORCE: non-empty and not "0" switches it on without a terminal
  std::optional<std::string> term;            ///< TERM: unset, empty or "dumb" is a terminal without colour
};

/// Flag beats NO_COLOR beats CLICOLOR_FORCE beats TERM beats the terminal test.
bool wants_color(const ColorInputs& inputs);

/// Whether a live table can be drawn: a terminal that moves its cursor.
bool can_redraw(bool is_tty, const std::optional<std::string>& term);

/// Writes some of the bytes: how many were taken, or -errno. -EAGAIN: nothing now. Without bytes: 0, or the -errno that a write would meet.
using RawWrite = std::function<std::int64_t(std::string_view)>;
/// Waits until the stream takes bytes; false when `limit` passed first.
using WaitWritable = std::function<bool(Millis limit)>;

class OutputStream {
 public:
  static constexpr std::size_t k_max_pending = std::size_t{64} << 20;  ///< bytes; beyond it a write waits for the reader

  OutputStream(RawWrite write, WaitWritable wait) : write_(std::move(write)), wait_(std::move(wait)) {}

  void write(std::string_view bytes);
  void flush();              ///< sends what goes now
  void look();               ///< with nothing to send: closes the stream when its reader is gone
  bool drain(Millis limit);  ///< sends all; false when the reader took nothing for `limit` (the rest stays pending) or is gone
  bool closed() const { return error_ != 0; }
  int error() const { return error_; }  ///< errno that closed it (EPIPE: the reader left; ENOSPC: a full disk); 0 while open
  std::size_t pending() const { return pending_.size() - sent_; }

 private:
  RawWrite write_;
  WaitWritable wait_;
  std::string pending_;
  std::size_t sent_ = 0;
  int error_ = 0;
};

struct Output {
  OutputStream out;            ///< stdout: the answer
  OutputStream err;            ///< stderr: everything else
  bool out_color = false;
  bool err_color = false;
  bool live = false;           ///< stderr can be redrawn
  unsigned width = 80;         ///< columns of the terminal
  unsigned height = 24;        ///< rows of the terminal
};

/// How long the end of a process waits for a reader that takes nothing.
inline constexpr Millis k_drain_limit{10'000};

/// Over file descriptors 1 and 2. `environment` looks a variable up (NO_COLOR, CLICOLOR_FORCE, TERM).
Output system_output(ColorChoice flag, const std::function<std::optional<std::string>(const char*)>& environment);

/// Asks the terminal on stderr for its size again (after SIGWINCH); leaves both fields as they are when there is none.
void refresh_size(Output& output);

/// Over any file descriptor; used by system_output and by tests.
OutputStream fd_stream(int fd);

/// Into a string that outlives the stream; never blocks.
OutputStream string_stream(std::string& sink);

}  // namespace sskj::view
