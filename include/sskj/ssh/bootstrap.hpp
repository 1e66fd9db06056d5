// The constant bootstrap: the only text that ever reaches a login shell, whatever the node, user, step or value.
//
// Everything that varies (script, input, variables) is sent in the channel, by byte count, never built into shell text. Per call the client sends
//
//     KEY \n  SCRIPT_BYTES INPUT_BYTES \n  SSKJ_RUN \n  SSKJ_PLAN \n  SSKJ_SINCE \n  script  [ input  KEY \n ]
//
// and keeps the channel's stdin open: the watchdog on the node reads it, and when it ends (closed, cancelled, TCP connection cut) the remote process group gets
// SIGTERM and, 2 s later, SIGKILL. KEY is 0x1e "sskj:" and 16 random hex digits. The node answers KEY "(" on both streams before the script runs (what
// came before is noise of login files) and KEY status ")" on stderr after it. No trailer = lost, never success. The closing KEY line tells "input complete" from
// "connection cut in the middle of the input": only then does the script see the end of its input.
//
// The text must parse alike in sh, bash, dash, zsh, fish and csh: one line, no single quote and no backslash inside. What it needs on the node: a POSIX sh with printf built in, head -c that takes no more than it was asked for (coreutils), /proc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sskj/run/transport.hpp"

namespace sskj::ssh {

inline constexpr std::size_t k_max_script = 64U << 10;  ///< bytes; the script travels as one argument of `sh -c` on the node

/// What `sh -c` gets. Printed in the dry-run's header.
std::string_view bootstrap_script();
/// The exec request: `exec sh -c '...'`, or `exec sudo -n -- sh -c '...'`.
std::string bootstrap_command(bool sudo);

/// 0x1e "sskj:" and 16 hex digits from the kernel's random source.
std::string new_key();

/// The bytes of one call in order, handed out piece by piece; the pieces' addresses stay where they are until they are consumed (libssh2 wants the same buffer
/// again after a half-sent packet). `script` and `input` must outlive it.
class Feed {
 public:
  Feed(const std::string& key, std::string_view script, std::string_view input, const run::RunVars& vars);
  std::string_view peek() const;      ///< empty = everything was handed out
  void consume(std::size_t bytes);

 private:
  std::string head_, tail_;
  std::string_view parts_[4];
  std::size_t at_ = 0;
};

/// Takes marks and trailer out of the two streams.
class Decoder {
 public:
  using Emit = std::function<void(run::Stream, std::string_view)>;
  explicit Decoder(std::string key) : key_(std::move(key)) {}

  void feed(run::Stream stream, std::string_view bytes, const Emit& emit);
  /// Both streams ended: what was held back as a possible trailer is passed on.
  void finish(const Emit& emit);

  bool started() const { return started_; }                 ///< the bootstrap runs: variables and script length were read
  std::optional<int> status() const { return status_; }     ///< of the trailer
  const std::string& noise() const { return noise_; }       ///< what the login shell (or sudo) said before the mark, at most 4 KiB of it

 private:
  void before_mark(run::Stream stream, std::string& held, bool& marked, const Emit& emit);
  void scan_trailer(const Emit& emit);

  std::string key_;
  std::string out_held_, err_held_, noise_;
  bool out_marked_ = false, err_marked_ = false, started_ = false;
  std::optional<int> status_;
};

}  // namespace sskj::ssh
