// Reports: the machine-readable answers of verbs, as text.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sskj::view {

/// A kind of report with a text of its own.
///
/// status: {"schema_version":1,"deployment","state","endpoint","groups":[{"name","role","state","ranks":[{"rank","node","container","state","id","exit_code","restarts",
///   "started_at","image_id","run","plan","health","http_status","diff":[{"field","want","have"}]}]}],"lock":{...}|null,"problems":[...]}
/// smoke: {"schema_version":1,"model","models_ok","question","answer","reasoning","finish_reason","expected","correct","elapsed_ms"}
///
/// lock: {"schema_version":1,"deployment","nodes":[{"node","lock":{...}|null,"claim":{...}|null}],"not_asked":[NODE]}; a lock's fields are those of src/recipes/shell/state.sh
///   and age, beat_age (seconds), stale.
///
/// A member that is absent or of another type shows as "-" or "unknown", never as a good value.
struct ReportRow {
  std::string_view kind;
  std::string_view title;
};
std::span<const ReportRow> report_kinds();

/// Text of a report; kinds without a row are shown as indented JSON, broken JSON as one printable line.
std::string report_text(std::string_view kind, std::string_view json, bool color);

}  // namespace sskj::view
