// The verb table: every command that the binary has, once.
#pragma once

#include <span>
#include <string_view>

namespace sskj::app {

/// Which flags beyond the global ones a verb takes. A verb refuses flags that it does not take.
enum class VerbFlags : unsigned {
  none = 0,
  lifecycle = 1U << 0U,   ///< --keep-failed --adopt --reason
  ensure = 1U << 1U,      ///< --ensure
  force = 1U << 2U,       ///< --force --name PATTERN
  logs = 1U << 3U,        ///< -F/--follow --tail --since --rank
  command = 1U << 4U,     ///< positional CMD...
  files = 1U << 5U,       ///< positional FILE...
  resolved = 1U << 6U,    ///< --resolved
  host = 1U << 7U,        ///< positional HOST
  detach = 1U << 8U,      ///< --detach
  run = 1U << 9U,         ///< positional RUN
};
constexpr VerbFlags operator|(VerbFlags a, VerbFlags b) { return static_cast<VerbFlags>(static_cast<unsigned>(a) | static_cast<unsigned>(b)); }
constexpr bool has(VerbFlags set, VerbFlags one) { return (static_cast<unsigned>(set) & static_cast<unsigned>(one)) != 0; }

enum class VerbKind {
  plan,    ///< makes a plan and runs it on nodes
  local,   ///< answers on this machine
};

struct Verb {
  std::string_view name;         ///< one or two words
  std::string_view title;        ///< one line for --help
  VerbKind kind = VerbKind::plan;
  VerbFlags flags = VerbFlags::none;
  bool needs_profile = true;
  bool partial = true;           ///< may act on a part of a group (-l); start and restart may not
  bool hidden = false;
  bool needs_yes = false;        ///< refused without --yes
  bool lints = false;            ///< the profile's lints are shown, and their errors block it
};

std::span<const Verb> verbs();
/// One line about the first word of two-word verbs ("profile", "ssh", "lock").
std::string_view verb_group_title(std::string_view group);
const Verb* find_verb(std::string_view name);

}  // namespace sskj::app
