#include "sskj/view/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "columns.hpp"
#include "json_text.hpp"
#include "sskj/core/exit_code.hpp"
#include "sskj/core/text.hpp"

namespace sskj::view {

namespace {

using nlohmann::ordered_json;

Tone tone_of(Severity severity) {
  if (severity == Severity::note) {
    return Tone::dim;
  }
  return severity == Severity::warning ? Tone::warn : Tone::bad;
}

std::size_t count(const Diagnostics& diagnostics, Severity severity) {
  return static_cast<std::size_t>(std::count_if(diagnostics.begin(), diagnostics.end(), [severity](const Diagnostic& entry) { return entry.severity == severity; }));
}

// A message may hold lines of the text it is about; continuation lines are indented.
std::string block(std::string_view label, std::string_view text) {
  std::string result;
  for (const std::string& line : remote_lines(text)) {
    result += fmt::format("{}{}\n", result.empty() ? label : std::string_view("    "), line);
  }
  return result;
}

ordered_json document_of(const Diagnostics& diagnostics) {
  return {{"schema_version", 1},
          {"errors", count(diagnostics, Severity::error)},
          {"warnings", count(diagnostics, Severity::warning)},
          {"notes", count(diagnostics, Severity::note)},
          {"diagnostics", diagnostics_array(diagnostics)}};
}

ordered_json error_document(const Error& error, const Diagnostics& diagnostics, std::string_view verb) {
  const int code = static_cast<int>(exit_code_of(error.code));
  return {{"schema_version", 1},
          {"verb", text::to_valid_utf8(verb)},
          {"exit_code", code},
          {"exit_codes", ordered_json::array({code})},
          {"error", {{"category", to_string(error.code)}, {"message", text::to_valid_utf8(error.message)}, {"hint", text::to_valid_utf8(error.hint)}}},
          {"diagnostics", diagnostics_array(diagnostics)}};
}

int indent_of(const Options& options) { return options.format == Format::ndjson ? -1 : 2; }

}  // namespace

std::string diagnostics_text(const Diagnostics& diagnostics, bool color) {
  std::string result;
  for (const Diagnostic& entry : diagnostics) {
    const std::string place = text::printable(to_string(entry.at));
    const std::string severity = paint(tone_of(entry.severity), to_string(entry.severity), color);
    const std::string id = entry.id.empty() ? "" : fmt::format(" [{}]", entry.id);
    result += block(fmt::format("{}{}: ", place.empty() ? "" : paint(Tone::bold, place, color) + ": ", severity), entry.message + id);
    result += entry.hint.empty() ? "" : block("  hint: ", entry.hint);
    result += entry.reference.empty() ? "" : block("  see: ", entry.reference);
  }
  if (!diagnostics.empty()) {
    result += fmt::format("{}, {}\n", counted(count(diagnostics, Severity::error), "error"), counted(count(diagnostics, Severity::warning), "warning"));
  }
  return result;
}

std::string diagnostics_json(const Diagnostics& diagnostics) { return dump(document_of(diagnostics)) + "\n"; }

std::string error_text(const Error& error, bool color) {
  const std::string message = error.message.empty() ? std::string(to_string(error.code)) : error.message;
  return block(paint(Tone::bad, "error:", color) + " ", message) + (error.hint.empty() ? "" : block("  next: ", error.hint));
}

std::string error_json(const Error& error, const Diagnostics& diagnostics, std::string_view verb) { return dump(error_document(error, diagnostics, verb)) + "\n"; }

void show_diagnostics(Output& output, const Options& options, const Diagnostics& diagnostics, bool answer) {
  if (options.format != Format::text) {
    output.out.write(dump(document_of(diagnostics), indent_of(options)) + "\n");
    return;
  }
  (answer ? output.out : output.err).write(diagnostics_text(diagnostics, answer ? output.out_color : output.err_color));
}

void show_error(Output& output, const Options& options, const Error& error, const Diagnostics& diagnostics, std::string_view verb) {
  if (options.format != Format::text) {
    output.out.write(dump(error_document(error, diagnostics, verb), indent_of(options)) + "\n");
    return;
  }
  output.err.write(diagnostics_text(diagnostics, output.err_color) + error_text(error, output.err_color));
}

}  // namespace sskj::view
