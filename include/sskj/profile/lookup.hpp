// From the name a user types to a profile's text. Pure except through the injected file functions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/core/result.hpp"
#include "sskj/profile/profile.hpp"

namespace sskj::profile {

/// The file system as lookup sees it; app supplies it, tests use maps.
struct Files {
  std::function<Result<std::string>(const std::string& path)> read;            ///< Errc::profile when there is no such file
  std::function<std::vector<std::string>(const std::string& directory)> list;  ///< relative paths of all files below it; empty when there is none
};

/// Where profiles are looked for, in this order; empty = not there.
struct Places {
  std::string flag;          ///< --profiles-dir
  std::string environment;   ///< $SSKJ_PROFILES, colon-separated
  std::string working = "profiles";
  std::string user;          ///< $XDG_CONFIG_HOME/sskj/profiles or ~/.config/sskj/profiles
  bool embedded = true;
};

struct Found {
  std::string file;    ///< path, or "embedded:profiles/..."
  std::string text;
  std::string origin;  ///< "path", "--profiles-dir", "$SSKJ_PROFILES", "./profiles", "user", "embedded"
};

/// A path; else NAME.yaml, NAME.yml, NAME.env in each place. Names with '/' work. Errc::profile says where it looked and names the nearest ones.
Result<Found> find_profile(const std::string& name, const Places& places, const Files& files);

/// Reader for ParseOptions::read: "embedded:NAME", a path, or a path below one of the places.
FileReader make_reader(Places places, Files files);

struct Listed {
  std::string name;       ///< what -p takes
  std::string file, origin;
  bool shadowed = false;  ///< an earlier place has the same name
};

/// All visible profiles, by place and name.
std::vector<Listed> list_profiles(const Places& places, const Files& files);

/// Where an artifact's bytes come from.
struct ArtifactPlace {
  enum class Kind { local_file, embedded, on_node } kind = Kind::local_file;
  std::string path;  ///< file path, embedded name, or path on the node
  std::string node;  ///< on_node: the host, empty = the first node
};
ArtifactPlace artifact_place(const ArtifactSetting& artifact);

/// Bytes of a local or embedded artifact (what deploy::build wants). Errc::profile names the path.
Result<std::string> artifact_bytes(const ArtifactSetting& artifact, const Files& files);

}  // namespace sskj::profile
