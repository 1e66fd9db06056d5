// Answers of verbs that ask no node: profile list, profile show --resolved, version, and any text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sskj/core/diagnostic.hpp"
#include "sskj/view/renderer.hpp"

namespace sskj::view {

struct ProfileRow {
  std::string name;
  std::string origin;       ///< "embedded", or the file
  std::string description;
  std::string alias_of;     ///< canonical name where this is a second name; else empty
};

struct SettingRow {
  std::string path, value;
  std::string origin;       ///< "flag", "environment", "profile", "user file", "default"
  SourceRef at;
};

using KeyValues = std::vector<std::pair<std::string, std::string>>;

/// NAME, SOURCE, DESCRIPTION; JSON {"schema_version":1,"profiles":[{"name","source","description","alias_of"}]}.
void show_profiles(Output& output, const Options& options, std::span<const ProfileRow> rows);

/// KEY, ORIGIN, WHERE (file:line), VALUE; JSON {"schema_version":1,"profile","settings":[{"key","value","origin","file","line","column"}],"deployment":{...}}.
/// Values are shown whole. `deployment_json` is the resolved deployment, left out when empty.
void show_settings(Output& output, const Options& options, std::string_view profile, std::span<const SettingRow> rows, std::string_view deployment_json = {});

/// A line of a converted profile that found no place in it.
struct UnplacedRow {
  std::size_t line = 0;
  std::string text, reason;
};

/// `profile import -o json`: {"schema_version":1,"file","profile","unplaced":[{"line","text","reason"}],"warnings":[{"severity","id","message","hint","file","line","column","reference"}]}.
/// `profile` is the whole converted text; `warnings` are about it.
void show_import(Output& output, const Options& options, std::string_view file, std::string_view profile, std::span<const UnplacedRow> unplaced, const Diagnostics& warnings);

/// "key: value" lines; JSON one object of strings with "schema_version". For `version`, `lock status`, `ssh explain`.
void show_values(Output& output, const Options& options, const KeyValues& values);

/// A JSON document that another module made (profile show), indented, or on one line with ndjson.
void show_document(Output& output, const Options& options, std::string_view json);

/// A text for stdout as it is (help, completion scripts, a converted profile); not for remote bytes.
void show_text(Output& output, std::string_view text);

/// A remark for stderr, one line, made printable; not shown with -q.
void show_note(Output& output, const Options& options, std::string_view note);

}  // namespace sskj::view
