// docker's own directory has room: writable layers, logs and unpacked images live there.
#include <charconv>

#include "rows.hpp"

namespace sskj::checks {
namespace {

constexpr std::uint64_t k_min_free_kib = 1ULL << 20U;  ///< 1 GiB: five rotated logs of 200 MB a container
constexpr std::uint64_t k_min_free_inodes = 10'000;

constexpr std::string_view k_body = R"sh(
root=$(docker info -f '{{.DockerRootDir}}' 2>/dev/null); [ -n "$root" ] || root=/var/lib/docker
echo "root $root"
df -Pk "$root" 2>&1 | awk 'NR == 2 {print "space", $4, $2}'
df -Pi "$root" 2>&1 | awk 'NR == 2 {print "inodes", $4, $2}'
echo end
)sh";

std::optional<Probe> probe(const NodeView& view) {
  if (view.ranks.empty()) return std::nullopt;
  return Probe{{}, Json{{"free_kib", k_min_free_kib}, {"free_inodes", k_min_free_inodes}}.dump()};
}

/// "AVAILABLE TOTAL" as df prints them.
std::optional<std::pair<std::uint64_t, std::uint64_t>> two_numbers(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const auto words = split_blanks(*text, 2);
  if (words.size() != 2) return std::nullopt;
  std::uint64_t values[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto* end = words[i].data() + words[i].size();
    const auto parsed = std::from_chars(words[i].data(), end, values[i]);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  }
  return std::pair{values[0], values[1]};
}

Findings judge(const Json& expectation, const Output& output) {
  if (!complete(output)) return {incomplete(output, "docker's directory")};
  const auto root = output.value("root").value_or("docker's directory");
  const auto space = two_numbers(output.value("space"));
  if (!space) return {unsure("free space in " + root + " is not known", output.first_line())};
  const auto wanted = expectation.value("free_kib", k_min_free_kib);
  if (space->first < wanted) {
    return {bad("the disk with " + root + " is full", std::to_string(wanted >> 10U) + " MiB free", std::to_string(space->first >> 10U) + " MiB free",
                "free space on this node: docker system df; journalctl --vacuum-size=1G")};
  }
  // Some filesystems (btrfs, some network ones) count no inodes: 0 of 0, or "-".
  const auto inodes = two_numbers(output.value("inodes"));
  if (inodes && inodes->second != 0 && inodes->first < expectation.value("free_inodes", k_min_free_inodes)) {
    return {bad("the disk with " + root + " has no inodes left", std::to_string(k_min_free_inodes) + " free", std::to_string(inodes->first) + " free",
                "remove small files on this node: docker system df")};
  }
  return {good(std::to_string(space->first >> 20U) + " GiB free in " + root)};
}

}  // namespace

Check disk_docker_check() {
  return {.id = "disk-docker",
          .title = "docker's disk is not full",
          .why = "a full disk fails container creation half-way and loses logs",
          .remedy = "df -h; docker system df",
          .source = "sglang.md D4; peers.md 4.4 dk.root",
          .seconds = 15,
          .body = k_body,
          .probe = probe,
          .judge = judge};
}

}  // namespace sskj::checks
