// Diagnostics about texts a user wrote: they accumulate, carry a position and a hint, and are rendered by view/.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sskj {

/// A place in a text. Lines and columns count from 1; column counts bytes; 0 = unknown.
struct SourceRef {
  std::string file;  ///< path as the user named it, "embedded:NAME", "--set KEY", or an environment variable's name
  std::size_t line = 0;
  std::size_t column = 0;
  bool operator==(const SourceRef&) const = default;
};

/// "file:line:column", leaving out what is unknown.
std::string to_string(const SourceRef& at);

enum class Severity { note, warning, error };
std::string_view to_string(Severity severity);

struct Diagnostic {
  Severity severity = Severity::error;
  std::string id;         ///< stable kebab-case id, e.g. "unknown-key" or "lint.nccl-algo-set"
  std::string message;    ///< one sentence
  std::string hint;       ///< nearest name, accepted range, next action; may be empty
  SourceRef at;
  std::string reference;  ///< where the fact comes from (issue, document); may be empty
};

using Diagnostics = std::vector<Diagnostic>;

bool has_errors(const Diagnostics& diagnostics);

}  // namespace sskj
