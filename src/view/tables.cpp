#include "sskj/view/tables.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "columns.hpp"
#include "json_text.hpp"
#include "sskj/core/text.hpp"

namespace sskj::view {

namespace {

using nlohmann::ordered_json;

void write_json(Output& output, const Options& options, const ordered_json& document) {
  output.out.write(dump(document, options.format == Format::ndjson ? -1 : 2) + "\n");
}

std::string valid(std::string_view text) { return text::to_valid_utf8(text); }

}  // namespace

void show_profiles(Output& output, const Options& options, std::span<const ProfileRow> rows) {
  if (options.format != Format::text) {
    ordered_json list = ordered_json::array();
    for (const ProfileRow& row : rows) {
      list.push_back({{"name", valid(row.name)}, {"source", valid(row.origin)}, {"description", valid(row.description)}, {"alias_of", valid(row.alias_of)}});
    }
    write_json(output, options, {{"schema_version", 1}, {"profiles", list}});
    return;
  }
  std::vector<std::vector<std::string>> cells{{"NAME", "SOURCE", "DESCRIPTION"}};
  for (const ProfileRow& row : rows) {
    cells.push_back({row.name, row.origin, row.alias_of.empty() ? row.description : fmt::format("= {}", row.alias_of)});
  }
  output.out.write(table(cells));
}

void show_settings(Output& output, const Options& options, std::string_view profile, std::span<const SettingRow> rows, std::string_view deployment_json) {
  if (options.format != Format::text) {
    ordered_json list = ordered_json::array();
    for (const SettingRow& row : rows) {
      list.push_back({{"key", valid(row.path)}, {"value", valid(row.value)}, {"origin", valid(row.origin)}, {"file", valid(row.at.file)}, {"line", row.at.line}, {"column", row.at.column}});
    }
    ordered_json document{{"schema_version", 1}, {"profile", valid(profile)}, {"settings", list}};
    if (!deployment_json.empty()) {
      document["deployment"] = ordered_json::parse(deployment_json, nullptr, false);
    }
    write_json(output, options, document);
    return;
  }
  std::vector<std::vector<std::string>> cells{{"KEY", "ORIGIN", "WHERE", "VALUE"}};
  for (const SettingRow& row : rows) {
    cells.push_back({row.path, row.origin, to_string(row.at), row.value});
  }
  output.out.write(table(cells));
}

void show_import(Output& output, const Options& options, std::string_view file, std::string_view profile, std::span<const UnplacedRow> unplaced, const Diagnostics& warnings) {
  ordered_json list = ordered_json::array();
  for (const UnplacedRow& row : unplaced) {
    list.push_back({{"line", row.line}, {"text", valid(row.text)}, {"reason", valid(row.reason)}});
  }
  write_json(output, options, {{"schema_version", 1}, {"file", valid(file)}, {"profile", valid(profile)}, {"unplaced", list}, {"warnings", diagnostics_array(warnings)}});
}

void show_values(Output& output, const Options& options, const KeyValues& values) {
  if (options.format != Format::text) {
    ordered_json document{{"schema_version", 1}};
    for (const auto& [key, value] : values) {
      document[valid(key)] = valid(value);
    }
    write_json(output, options, document);
    return;
  }
  std::vector<std::vector<std::string>> cells;
  for (const auto& [key, value] : values) {
    cells.push_back({key + ":", value});
  }
  output.out.write(table(cells));
}

void show_document(Output& output, const Options& options, std::string_view json) {
  const ordered_json document = ordered_json::parse(json, nullptr, false);
  write_json(output, options, document.is_discarded() ? ordered_json(nullptr) : document);
}

void show_text(Output& output, std::string_view text) { output.out.write(text); }

void show_note(Output& output, const Options& options, std::string_view note) {
  if (options.verbosity >= 0) {
    output.err.write(text::printable(note) + "\n");
  }
}

}  // namespace sskj::view
