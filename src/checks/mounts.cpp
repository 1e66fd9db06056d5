// What containers mount or are given from the node is there (artifacts and secrets are placed by sskj itself and not looked for).
#include "rows.hpp"

namespace sskj::checks {
namespace {

constexpr std::string_view k_body = R"sh(
printf '%s\n' "$paths" | while IFS= read -r path; do
  if [ -e "$path" ]; then echo "there $path"; else echo "gone $path"; fi
done
echo end
)sh";

bool placed_by_us(const NodeView& view, const RankOnNode& on, const std::string& path) {
  if (!on.group->api_key_path.empty() && path == on.group->api_key_path) return true;
  const auto& artifacts = view.deployment->artifacts;
  return std::any_of(artifacts.begin(), artifacts.end(), [&](const deploy::Artifact& one) { return one.node_path == path; });
}

std::optional<Probe> probe(const NodeView& view) {
  std::vector<std::string> paths;
  for (const auto& on : view.ranks) {
    for (const auto& mount : on.rank->spec.mounts) {
      if (!mount.create && !placed_by_us(view, on, mount.source)) paths.push_back(mount.source);
    }
    for (const auto& device : on.rank->spec.devices) paths.push_back(device.substr(0, device.find(':')));
  }
  paths = unique(paths);
  if (paths.empty()) return std::nullopt;
  return Probe{{{"paths", lines(paths)}}, Json{{"paths", paths}}.dump()};
}

Findings judge(const Json& expectation, const Output& output) {
  if (!complete(output)) return {incomplete(output, "mount sources")};
  const auto there = output.values("there"), gone = output.values("gone");
  Findings findings;
  for (const auto& path : expectation.value("paths", std::vector<std::string>{})) {
    if (std::find(gone.begin(), gone.end(), path) != gone.end()) {
      const bool device = path.starts_with("/dev/");
      findings.push_back(bad(path + " does not exist", device ? "a device" : "a file or directory", "nothing",
                             device ? "load its driver on this node (RDMA: modprobe mlx5_ib)" : "create or mount it on this node, or correct the profile"));
    } else if (std::find(there.begin(), there.end(), path) == there.end()) {
      findings.push_back(unsure(path + " was not looked at", output.first_line()));
    }
  }
  if (findings.empty()) findings.push_back(good(std::to_string(there.size()) + " mount sources and devices exist"));
  return findings;
}

}  // namespace

Check mounts_check() {
  return {.id = "mounts",
          .title = "mount sources and devices exist",
          .why = "a missing model directory is taken as a Hugging Face id, a missing device refuses the container",
          .remedy = "ls -ld the path on this node",
          .source = "sglang.md 1.1, D6, F7",
          .seconds = 10,
          .body = k_body,
          .probe = probe,
          .judge = judge};
}

}  // namespace sskj::checks
