#include "sskj/core/diagnostic.hpp"

#include <algorithm>

namespace sskj {

std::string to_string(const SourceRef& at) {
  std::string text = at.file;
  if (at.line == 0) return text;
  text += ':' + std::to_string(at.line);
  if (at.column != 0) text += ':' + std::to_string(at.column);
  return text;
}

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::note: return "note";
    case Severity::warning: return "warning";
    case Severity::error: return "error";
  }
  return "error";
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& one) { return one.severity == Severity::error; });
}

}  // namespace sskj
