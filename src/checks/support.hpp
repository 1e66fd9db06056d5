// Small helpers that the checks share: shell text about whose a process is, and findings.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/checks/check.hpp"
#include "sskj/core/text.hpp"

namespace sskj::checks {

using Json = nlohmann::json;
using Findings = std::vector<run::Finding>;
using run::Finding;
using run::FindingStatus;

inline Finding finding(FindingStatus status, std::string message, std::string expected = {}, std::string got = {}, std::string hint = {}) {
  Finding made;
  made.status = status;
  made.message = std::move(message);
  made.expected = std::move(expected);
  made.got = std::move(got);
  made.hint = std::move(hint);
  return made;
}
inline Finding good(std::string message, std::string got = {}) { return finding(FindingStatus::ok, std::move(message), {}, std::move(got)); }
inline Finding bad(std::string message, std::string expected = {}, std::string got = {}, std::string hint = {}) {
  return finding(FindingStatus::fail, std::move(message), std::move(expected), std::move(got), std::move(hint));
}
inline Finding unsure(std::string message, std::string got = {}) { return finding(FindingStatus::unknown, std::move(message), {}, std::move(got)); }

/// Worth knowing, and no reason to stop.
inline Finding careful(std::string message, std::string got = {}) { return finding(FindingStatus::warn, std::move(message), {}, std::move(got)); }

/// Did the probe run to its end? Anything else makes its answer unknown.
inline bool complete(const Output& output) { return output.status == 0 && output.ended(); }

/// What to say about a probe that did not.
inline Finding incomplete(const Output& output, std::string_view subject) {
  if (output.timed_out()) return unsure(std::string(subject) + ": no answer within the probe's deadline");
  return unsure(std::string(subject) + ": the probe did not run to its end", output.first_line());
}

/// Items one a line, as probes take lists.
template <class Range>
std::string lines(const Range& items) {
  std::string joined;
  for (const auto& item : items) joined += (joined.empty() ? "" : "\n") + std::string(item);
  return joined;
}

/// Names of the ranks' containers on this node.
inline std::vector<std::string> container_names(const NodeView& view) {
  std::vector<std::string> names;
  for (const auto& on : view.ranks) names.push_back(on.rank->spec.name);
  return names;
}

/// "a, b and 3 more"
inline std::string some_of(const std::vector<std::string>& items, std::size_t shown = 4) {
  std::string joined;
  for (std::size_t i = 0; i < items.size() && i < shown; ++i) joined += (i ? ", " : "") + items[i];
  if (items.size() > shown) joined += " and " + std::to_string(items.size() - shown) + " more";
  return joined;
}

/// Items that follow one another without repetition.
inline std::vector<std::string> unique(const std::vector<std::string>& items) {
  std::vector<std::string> once;
  std::set<std::string> seen;
  for (const auto& item : items) {
    if (seen.insert(item).second) once.push_back(item);
  }
  return once;
}

inline std::vector<std::string> split_blanks(std::string_view text, std::size_t parts) {
  std::vector<std::string> words;
  while (words.size() + 1 < parts) {
    const auto at = text.find(' ');
    if (at == std::string_view::npos) break;
    words.emplace_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  words.emplace_back(text);
  return words;
}

}  // namespace sskj::checks
