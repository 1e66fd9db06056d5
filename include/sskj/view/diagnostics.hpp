// Diagnostics about texts a user wrote, and errors before or instead of a run.
#pragma once

#include <string>
#include <string_view>

#include "sskj/core/diagnostic.hpp"
#include "sskj/core/result.hpp"
#include "sskj/view/renderer.hpp"

namespace sskj::view {

/// One block each: "FILE:LINE:COLUMN: error: message [id]", then hint and reference; last a line with the counts. Empty without diagnostics.
std::string diagnostics_text(const Diagnostics& diagnostics, bool color);

/// {"schema_version":1,"errors","warnings","notes","diagnostics":[{"severity","id","message","hint","file","line","column","reference"}]}
std::string diagnostics_json(const Diagnostics& diagnostics);

/// "error: message", then "  next: hint".
std::string error_text(const Error& error, bool color);

/// {"schema_version":1,"verb","exit_code","exit_codes":[n],"error":{"category","message","hint"},"diagnostics":[...]}
std::string error_json(const Error& error, const Diagnostics& diagnostics, std::string_view verb);

/// Writes diagnostics: to stdout where they are the answer (profile lint), else to stderr; as JSON always to stdout.
void show_diagnostics(Output& output, const Options& options, const Diagnostics& diagnostics, bool answer);

/// Writes an error that ends the process, with the diagnostics that led to it: text to stderr, or one JSON document (NDJSON: one line) to stdout.
void show_error(Output& output, const Options& options, const Error& error, const Diagnostics& diagnostics = {}, std::string_view verb = {});

}  // namespace sskj::view
