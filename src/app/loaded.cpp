#include "loaded.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "environment.hpp"
#include "sskj/core/text.hpp"
#include "sskj/deploy/build.hpp"

namespace sskj::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_max_listed = 2000;  // a mistyped --profiles-dir / must not walk the whole disk

std::vector<std::string> files_below(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code ec;
  fs::recursive_directory_iterator it(directory, fs::directory_options::skip_permission_denied, ec);
  for (const fs::recursive_directory_iterator end; !ec && it != end && names.size() < k_max_listed; it.increment(ec)) {
    std::error_code type_ec;
    if (it->is_regular_file(type_ec)) names.push_back(fs::relative(it->path(), directory, type_ec).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> read_profile_file(const std::string& path) {
  auto content = read_file(path);
  if (!content) content.error().code = Errc::profile;
  return content;
}

// The user's own defaults for profile settings: `KEY=value` lines as --set takes them, `#` comments. Absent is fine; a line that is none of these is told.
void add_user_file(std::vector<profile::Override>& overrides, Diagnostics& diagnostics) {
  const std::string path = config_home() + "/sskj/config.env";
  if (!file_exists(path)) return;
  const auto content = read_file(path, 1U << 20U);
  if (!content) {
    diagnostics.push_back({Severity::error, "user-file", content.error().message, content.error().hint, SourceRef{path, 0, 0}, ""});
    return;
  }
  std::size_t number = 0;
  for (const std::string& raw : text::split_lines(*content)) {
    const std::string line(text::trim(raw));
    const SourceRef at{path, ++number, 1};
    if (line.empty() || line.front() == '#') continue;
    const std::size_t equals = line.find('=');
    if (equals == 0 || equals == std::string::npos) {
      diagnostics.push_back({Severity::error, "user-file", "KEY=value is expected", "the keys are those of docs/profile.md; # begins a comment", at, ""});
      continue;
    }
    overrides.push_back({line.substr(0, equals), line.substr(equals + 1), at, profile::Origin::user_file});
  }
}

// A short name is the same deployment: its plan must be the same bytes, so that what -p takes for the target stands in it.
std::string canonical_name(const std::string& name, const std::string& found, const std::string& file, const profile::Places& places, const profile::Files& files) {
  if (found == file) return name;
  for (const profile::Listed& listed : profile::list_profiles(places, files)) {
    if (listed.file == file && !listed.shadowed) return listed.name;
  }
  return name;
}

}  // namespace

profile::Places profile_places(const Request& request) {
  profile::Places places;
  places.flag = request.profiles_dir;
  places.environment = get_env("SSKJ_PROFILES").value_or("");
  places.user = config_home() + "/sskj/profiles";
  return places;
}

profile::Files profile_files() { return {read_profile_file, files_below}; }

Error invalid_profile(const std::string& name, const Diagnostics& diagnostics) {
  const auto errors = std::count_if(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& one) { return one.severity == Severity::error; });
  // The profile is not at fault for what the command line put into it.
  const auto by_flag = [](const Diagnostic& one) { return one.severity != Severity::error || one.at.file.starts_with("--set ") || one.at.file == "--variant"; };
  if (errors > 0 && std::all_of(diagnostics.begin(), diagnostics.end(), by_flag)) {
    return {Errc::profile, std::to_string(errors) + (errors == 1 ? " flag does" : " flags do") + " not fit profile '" + name + "'",
            "correct --set or --variant; `sskj profile show -p " + name + " --resolved` lists the settings"};
  }
  return {Errc::profile, "profile '" + name + "' has " + std::to_string(errors) + (errors == 1 ? " error" : " errors"),
          "mend them and check with `sskj profile lint " + name + "`"};
}

Result<Loaded> load_profile(const Request& request, const std::string& name) {
  const profile::Places places = profile_places(request);
  const profile::Files files = profile_files();
  auto found = profile::find_profile(name, places, files);
  if (!found) return tl::unexpected<Error>(std::move(found.error()));

  profile::ParseOptions options;
  options.file = found->file;
  Diagnostics of_user_file;
  add_user_file(options.overrides, of_user_file);
  options.overrides.insert(options.overrides.end(), request.set.begin(), request.set.end());
  options.variants = request.variants;
  options.read = profile::make_reader(places, files);
  profile::Parsed parsed = profile::parse(found->text, options);

  Loaded loaded{std::move(parsed.profile), {}, std::move(of_user_file), {}};
  std::move(parsed.diagnostics.begin(), parsed.diagnostics.end(), std::back_inserter(loaded.diagnostics));
  if (has_errors(loaded.diagnostics)) return loaded;
  deploy::Built built =
      deploy::build(loaded.profile, [&](const profile::ArtifactSetting& artifact) { return profile::artifact_bytes(artifact, files); });
  std::move(built.diagnostics.begin(), built.diagnostics.end(), std::back_inserter(loaded.diagnostics));
  if (has_errors(loaded.diagnostics)) return loaded;
  loaded.deployment = std::move(built.deployment);
  loaded.deployment.profile = canonical_name(name, found->file, loaded.profile.file, places, files);
  loaded.lints = deploy::lint(loaded.deployment);
  return loaded;
}

}  // namespace sskj::app
