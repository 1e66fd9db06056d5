#include <fmt/format.h>

#include "sskj/profile/embedded.hpp"
#include "sskj/profile/lookup.hpp"

namespace sskj::profile {

ArtifactPlace artifact_place(const ArtifactSetting& artifact) {
  std::string_view source = artifact.source;
  if (source.starts_with("node:")) {
    source.remove_prefix(5);
    const std::size_t colon = source.starts_with('/') ? std::string_view::npos : source.find(":/");
    if (colon == std::string_view::npos) {
      return {ArtifactPlace::Kind::on_node, std::string(source), ""};
    }
    return {ArtifactPlace::Kind::on_node, std::string(source.substr(colon + 1)), std::string(source.substr(0, colon))};
  }
  if (source.starts_with("embedded:")) {
    return {ArtifactPlace::Kind::embedded, std::string(source.substr(9)), ""};
  }
  if (source.starts_with("file:")) {
    source.remove_prefix(5);
  }
  const std::string_view base = artifact.base_dir;
  if (source.starts_with('/') || base.empty()) {
    return {ArtifactPlace::Kind::local_file, std::string(source), ""};
  }
  if (base.starts_with("embedded:")) {
    return {ArtifactPlace::Kind::embedded, fmt::format("{}{}{}", base.substr(9), base.size() > 9 ? "/" : "", source), ""};
  }
  return {ArtifactPlace::Kind::local_file, fmt::format("{}/{}", base, source), ""};
}

Result<std::string> artifact_bytes(const ArtifactSetting& artifact, const Files& files) {
  const ArtifactPlace place = artifact_place(artifact);
  switch (place.kind) {
    case ArtifactPlace::Kind::local_file: return files.read(place.path);
    case ArtifactPlace::Kind::embedded:
      if (const EmbeddedFile* file = find_embedded(place.path)) {
        return std::string(file->bytes);
      }
      return fail(Errc::profile, fmt::format("the binary holds no file {}", place.path), "`sskj profile list` shows what is built in");
    case ArtifactPlace::Kind::on_node: break;
  }
  return fail(Errc::internal, fmt::format("artifact {} lies on a node: its bytes are not known here", artifact.name));
}

}  // namespace sskj::profile
