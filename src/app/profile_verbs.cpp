#include "profile_verbs.hpp"

#include <iterator>
#include <utility>
#include <vector>

#include "environment.hpp"
#include "execute.hpp"
#include "loaded.hpp"
#include "sskj/deploy/build.hpp"
#include "sskj/deploy/json.hpp"
#include "sskj/profile/import.hpp"
#include "sskj/profile/schema.hpp"
#include "sskj/view/diagnostics.hpp"
#include "sskj/view/tables.hpp"

namespace sskj::app {
namespace {

std::string origin_word(profile::Origin origin) {
  switch (origin) {
    case profile::Origin::built_in_default: return "default";
    case profile::Origin::user_file: return "user file";
    case profile::Origin::profile: return "profile";
    case profile::Origin::environment: return "environment";
    case profile::Origin::flag: return "flag";
  }
  return "default";
}

void append(Diagnostics& to, Diagnostics from) { std::move(from.begin(), from.end(), std::back_inserter(to)); }

// What `profile lint` would say of a converted profile.
Diagnostics faults_of(const std::string& text) {
  profile::ParseOptions options;
  options.file = "profile.env";
  profile::Parsed parsed = profile::parse(text, options);
  if (has_errors(parsed.diagnostics)) return std::move(parsed.diagnostics);
  const profile::Files files = profile_files();
  deploy::Built built = deploy::build(parsed.profile, [&](const profile::ArtifactSetting& artifact) { return profile::artifact_bytes(artifact, files); });
  append(parsed.diagnostics, std::move(built.diagnostics));
  if (!has_errors(parsed.diagnostics)) append(parsed.diagnostics, deploy::lint(built.deployment));
  return std::move(parsed.diagnostics);
}

}  // namespace

ExitCode profile_list(const Request& request, view::Output& output) {
  const profile::Places places = profile_places(request);
  const profile::Files files = profile_files();
  std::vector<view::ProfileRow> rows;
  for (const profile::Listed& listed : profile::list_profiles(places, files)) {
    if (listed.shadowed) continue;
    view::ProfileRow row{listed.name, listed.origin == "embedded" ? "embedded" : listed.file, "", ""};
    const auto found = profile::find_profile(listed.name, places, files);
    if (found) {
      profile::ParseOptions options;
      options.file = found->file;
      options.read = profile::make_reader(places, files);
      const profile::Parsed parsed = profile::parse(found->text, options);
      row.description = has_errors(parsed.diagnostics) ? "(has errors: sskj profile lint " + listed.name + ")" : parsed.profile.description;
      if (parsed.profile.file != found->file) row.alias_of = parsed.profile.name;  // only an alias leads to another file
    }
    rows.push_back(std::move(row));
  }
  view::show_profiles(output, view_options(request), rows);
  return ExitCode::done;
}

ExitCode profile_show(const Request& request, view::Output& output) {
  auto loaded = load_profile(request, request.profile);
  if (!loaded) return report(request, output, loaded.error());
  if (has_errors(loaded->diagnostics)) return report(request, output, invalid_profile(request.profile, loaded->diagnostics), loaded->diagnostics);
  std::vector<view::SettingRow> rows;
  for (const profile::Setting& setting : loaded->profile.settings) {
    if (!request.resolved && setting.origin == profile::Origin::built_in_default) continue;
    rows.push_back({setting.path, setting.value, origin_word(setting.origin), setting.at});
  }
  const view::Options options = view_options(request);
  if (options.format == view::Format::text) {
    view::show_settings(output, options, request.profile, rows);
  } else {
    view::show_settings(output, options, request.profile, rows, deploy::to_json(loaded->deployment));
  }
  return ExitCode::done;
}

ExitCode profile_lint(const Request& request, view::Output& output) {
  Diagnostics all;
  for (const std::string& name : request.words) {
    auto loaded = load_profile(request, name);
    if (!loaded) {
      all.push_back({Severity::error, "profile-not-found", loaded.error().message, loaded.error().hint, SourceRef{name, 0, 0}, ""});
      continue;
    }
    append(all, std::move(loaded->diagnostics));
    append(all, std::move(loaded->lints));
  }
  view::show_diagnostics(output, view_options(request), all, true);
  return has_errors(all) ? ExitCode::usage : ExitCode::done;
}

ExitCode profile_import(const Request& request, view::Output& output) {
  if (request.words.size() != 1) return report(request, output, Error{Errc::usage, "profile import takes one file", "sskj profile import FILE > profiles/NAME.env"});
  auto text = read_file(request.words.front(), 1U << 20U);
  if (!text) return report(request, output, text.error());
  const profile::Imported imported = profile::import_env(*text, request.words.front());
  if (request.output != Output::text) {
    std::vector<view::UnplacedRow> rows;
    for (const profile::Unplaced& one : imported.unplaced) rows.push_back({one.line, one.text, one.reason});
    view::show_import(output, view_options(request), request.words.front(), imported.env_text, rows, faults_of(imported.env_text));
    return ExitCode::done;
  }
  view::show_text(output, imported.env_text);
  Diagnostics left;
  for (const profile::Unplaced& one : imported.unplaced) {
    left.push_back({Severity::warning, "not-placed", one.text, one.reason, SourceRef{request.words.front(), one.line, 0}, ""});
  }
  view::show_diagnostics(output, view_options(request), left, false);
  return ExitCode::done;
}

ExitCode profile_docs(const Request& request, view::Output& output) {
  const std::string what = request.words.empty() ? "" : request.words.front();
  if (what != "markdown" && what != "schema") return report(request, output, Error{Errc::usage, "profile docs takes markdown or schema", ""});
  view::show_text(output, what == "markdown" ? profile::profile_markdown() : profile::profile_json_schema());
  return ExitCode::done;
}

}  // namespace sskj::app
