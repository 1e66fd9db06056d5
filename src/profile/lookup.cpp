#include "sskj/profile/lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "sskj/core/text.hpp"
#include "sskj/profile/embedded.hpp"

namespace sskj::profile {

namespace {

constexpr std::array<std::string_view, 3> k_extensions = {".yaml", ".yml", ".env"};
constexpr std::string_view k_embedded_root = "profiles/";

struct Directory {
  std::string path, origin;
};

std::vector<Directory> directories(const Places& places) {
  std::vector<Directory> out;
  const auto add = [&](std::string_view path, const char* origin) {
    if (!path.empty()) {
      out.push_back({std::string(path), origin});
    }
  };
  add(places.flag, "--profiles-dir");
  for (std::string_view rest = places.environment; !rest.empty();) {
    const std::size_t colon = rest.find(':');
    add(rest.substr(0, colon), "$SSKJ_PROFILES");
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
  add(places.working, "./profiles");
  add(places.user, "user");
  return out;
}

std::string_view extension_of(std::string_view file) {
  for (const std::string_view extension : k_extensions) {
    if (file.ends_with(extension)) {
      return extension;
    }
  }
  return {};
}

std::vector<std::string> file_names(const std::string& name) {
  if (!extension_of(name).empty()) {
    return {name};
  }
  std::vector<std::string> out;
  out.reserve(std::size(k_extensions));
  for (const std::string_view extension : k_extensions) {
    out.push_back(name + std::string(extension));
  }
  return out;
}

Result<Found> read_embedded(std::string_view name) {
  if (const EmbeddedFile* file = find_embedded(name)) {
    return Found{fmt::format("embedded:{}", name), std::string(file->bytes), "embedded"};
  }
  return fail(Errc::profile, fmt::format("the binary holds no file {}", name));
}

Error not_found(const std::string& name, const Places& places, const Files& files) {
  std::vector<std::string> looked, names, whole;
  for (const Directory& directory : directories(places)) {
    looked.push_back(fmt::format("{} ({})", directory.path, directory.origin));
  }
  if (places.embedded) {
    looked.emplace_back("the binary");
  }
  // A name may be meant without its directory: compare with both, answer with the whole.
  for (const Listed& listed : list_profiles(places, files)) {
    names.push_back(listed.name);
    whole.push_back(listed.name);
    names.push_back(listed.name.substr(listed.name.rfind('/') + 1));
    whole.push_back(listed.name);
  }
  std::string hint = "`sskj profile list` shows all";
  if (const auto near = text::nearest(name, names)) {
    const auto at = std::find(names.begin(), names.end(), *near) - names.begin();
    hint = fmt::format("did you mean {}?", whole[static_cast<std::size_t>(at)]);
  }
  return {Errc::profile, fmt::format("no profile {} was found; looked in {}", text::printable(name), fmt::join(looked, ", ")), std::move(hint)};
}

}  // namespace

Result<Found> find_profile(const std::string& name, const Places& places, const Files& files) {
  if (name.empty()) {
    return fail(Errc::usage, "the profile's name is empty", "give -p NAME or a path");
  }
  if (name.starts_with("embedded:")) {
    return read_embedded(std::string_view(name).substr(9));
  }
  if (!extension_of(name).empty()) {
    if (auto text = files.read(name)) {
      return Found{name, std::move(*text), "path"};
    }
  }
  const bool only_path = name.starts_with('/') || name.starts_with("./") || name.starts_with("../");
  for (const std::string& file : file_names(name)) {
    auto text = only_path ? files.read(file) : Result<std::string>(fail(Errc::profile, ""));
    if (text) {
      return Found{file, std::move(*text), "path"};
    }
  }
  if (only_path) {
    return tl::unexpected<Error>(Error{Errc::profile, fmt::format("there is no profile at {}", text::printable(name)), "profiles end in .env, .yaml or .yml"});
  }
  for (const Directory& directory : directories(places)) {
    for (const std::string& file : file_names(name)) {
      if (auto text = files.read(directory.path + "/" + file)) {
        return Found{directory.path + "/" + file, std::move(*text), directory.origin};
      }
    }
  }
  for (const std::string& file : places.embedded ? file_names(name) : std::vector<std::string>()) {
    if (auto found = read_embedded(std::string(k_embedded_root) + file)) {
      return found;
    }
  }
  return tl::unexpected<Error>(not_found(name, places, files));
}

FileReader make_reader(Places places, Files files) {
  return [places = std::move(places), files = std::move(files)](const std::string& path) -> Result<std::string> {
    if (path.starts_with("embedded:")) {
      auto found = read_embedded(std::string_view(path).substr(9));
      return found ? Result<std::string>(std::move(found->text)) : Result<std::string>(tl::unexpected<Error>(found.error()));
    }
    if (auto text = files.read(path)) {
      return text;
    }
    if (!path.starts_with('/')) {
      for (const Directory& directory : directories(places)) {
        if (auto text = files.read(directory.path + "/" + path)) {
          return text;
        }
      }
      if (const EmbeddedFile* file = places.embedded ? find_embedded(std::string(k_embedded_root) + path) : nullptr) {
        return std::string(file->bytes);
      }
    }
    return fail(Errc::profile, fmt::format("there is no file {}", text::printable(path)));
  };
}

std::vector<Listed> list_profiles(const Places& places, const Files& files) {
  std::vector<Listed> out;
  std::set<std::string> seen;
  const auto add = [&](std::string_view relative, std::string file, const std::string& origin) {
    const std::string_view extension = extension_of(relative);
    if (!extension.empty()) {
      std::string name(relative.substr(0, relative.size() - extension.size()));
      const bool shadowed = !seen.insert(name).second;
      out.push_back({std::move(name), std::move(file), origin, shadowed});
    }
  };
  for (const Directory& directory : directories(places)) {
    std::vector<std::string> names = files.list ? files.list(directory.path) : std::vector<std::string>();
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      add(name, directory.path + "/" + name, directory.origin);
    }
  }
  for (const EmbeddedFile& file : places.embedded ? embedded_files() : std::span<const EmbeddedFile>()) {
    if (file.name.starts_with(k_embedded_root)) {
      add(file.name.substr(k_embedded_root.size()), fmt::format("embedded:{}", file.name), "embedded");
    }
  }
  return out;
}

}  // namespace sskj::profile
