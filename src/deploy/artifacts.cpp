#include "artifacts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sskj/core/sha256.hpp"
#include "sskj/core/text.hpp"
#include "sskj/profile/lookup.hpp"

namespace sskj::deploy {

namespace {

std::string base_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/:");
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

class Builder {
 public:
  Builder(const profile::ArtifactSetting& setting, Deployment& deployment, Diagnostics& diagnostics)
      : setting_(setting), deployment_(deployment), diagnostics_(diagnostics) {}

  void run(const ArtifactBytes& bytes) {
    artifact_.name = setting_.name;
    artifact_.sha256 = lower(setting_.sha256);
    artifact_.container_path = setting_.target;
    artifact_.mode = setting_.mode;
    if (!resolve() || (artifact_.source != Artifact::Source::on_node && !read(bytes))) {
      return;
    }
    place();
    deployment_.artifacts.push_back(std::move(artifact_));
  }

 private:
  bool error(std::string_view key, std::string id, std::string message, std::string hint = {}) {
    diagnostics_.push_back({Severity::error, std::move(id), fmt::format("artifact {}: {}", setting_.name, message), std::move(hint),
                            deployment_.where.find(fmt::format("artifacts.{}.{}", setting_.name, key)), ""});
    return false;
  }

  bool resolve() {
    if (setting_.source.empty()) {
      return error("source", "missing", "no source is given", "source=file:NAME, embedded:NAME or node:/PATH");
    }
    const profile::ArtifactPlace place = profile::artifact_place(setting_);
    artifact_.source_path = place.path;
    switch (place.kind) {
      case profile::ArtifactPlace::Kind::local_file: artifact_.source = Artifact::Source::local_file; return true;
      case profile::ArtifactPlace::Kind::embedded: artifact_.source = Artifact::Source::embedded; return true;
      case profile::ArtifactPlace::Kind::on_node: artifact_.source = Artifact::Source::on_node; break;
    }
    if (place.node.empty()) {
      artifact_.source_node = deployment_.nodes.empty() ? std::string() : deployment_.nodes.front().id;
      return true;
    }
    artifact_.source_node = place.node;
    const auto known = std::any_of(deployment_.nodes.begin(), deployment_.nodes.end(), [&](const plan::Node& n) { return n.id == place.node; });
    return known || error("source", "bad-value", fmt::format("{} is not a node of this deployment", text::printable(place.node)),
                          "the source must lie on one of its nodes");
  }

  bool read(const ArtifactBytes& bytes) {
    auto content = bytes(setting_);
    if (!content) {
      return error("source", "not-found", content.error().message, content.error().hint);
    }
    artifact_.content = std::move(*content);
    const std::string have = sha256_hex(artifact_.content);
    if (!artifact_.sha256.empty() && artifact_.sha256 != have) {
      return error("sha256", "sha256-differs", fmt::format("{} has sha256 {}, the profile wants {}", artifact_.source_path, have, artifact_.sha256),
                   "the file or the profile was changed; put the right one in place");
    }
    artifact_.sha256 = have;
    return true;
  }

  // Without a checksum known beforehand the path cannot be content-addressed: the plan must not depend on what a run finds.
  void place() {
    const std::string name = base_name(setting_.target.empty() ? artifact_.source_path : setting_.target);
    if (!setting_.path.empty()) {
      artifact_.node_path = setting_.path;
    } else if (!artifact_.sha256.empty()) {
      artifact_.node_path = fmt::format("{}/artifacts/{}/{}", deployment_.state_dir, artifact_.sha256, name);
    } else {
      artifact_.node_path = fmt::format("{}/artifacts/unpinned/{}/{}/{}", deployment_.state_dir, deployment_.name, setting_.name, name);
    }
  }

  const profile::ArtifactSetting& setting_;
  Deployment& deployment_;
  Diagnostics& diagnostics_;
  Artifact artifact_;
};

}  // namespace

void build_artifacts(const profile::Profile& profile, const ArtifactBytes& bytes, Deployment& deployment, Diagnostics& diagnostics) {
  for (const profile::ArtifactSetting& setting : profile.artifacts) {
    Builder(setting, deployment, diagnostics).run(bytes);
  }
}

std::string artifacts_label(const Deployment& deployment) {
  std::string label;
  for (const Artifact& artifact : deployment.artifacts) {
    label += fmt::format("{}{}={}", label.empty() ? "" : ",", artifact.name, artifact.sha256.empty() ? "unpinned" : artifact.sha256);
  }
  return label;
}

}  // namespace sskj::deploy
