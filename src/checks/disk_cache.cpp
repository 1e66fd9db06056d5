// The disks of the state directory and of the cache directories that containers write to are not full.
#include <charconv>

#include "rows.hpp"

namespace sskj::checks {
namespace {

constexpr std::uint64_t k_full_kib = 64ULL << 10U;     ///< below this nothing can be done: artifacts, locks and logs fail half-way
constexpr std::uint64_t k_little_kib = 2ULL << 20U;    ///< compiled kernels of one model take 1 to 2 GiB

// A directory that does not exist yet is made later: its nearest ancestor tells. Equal file systems are told apart by nobody: each path has its line.
constexpr std::string_view k_body = R"sh(
printf '%s\n' "$paths" | while IFS= read -r path; do
  at=$path
  while [ ! -e "$at" ]; do at=${at%/*}; [ -n "$at" ] || at=/; done
  df -Pk "$at" 2>&1 | awk -v path="$path" 'NR == 2 {print "free", $4, path}'
done
echo end
)sh";

std::optional<Probe> probe(const NodeView& view) {
  if (view.ranks.empty()) return std::nullopt;
  std::vector<std::string> paths{view.deployment->state_dir};
  for (const auto& on : view.ranks) {
    for (const auto& mount : on.rank->spec.mounts) {
      if (mount.create) paths.push_back(mount.source);
    }
  }
  paths = unique(paths);
  return Probe{{{"paths", lines(paths)}}, Json{{"paths", paths}}.dump()};
}

std::optional<std::uint64_t> free_kib(const Output& output, const std::string& path) {
  for (const auto& line : output.values("free")) {
    const auto words = split_blanks(line, 2);
    if (words.size() != 2 || words[1] != path) continue;
    std::uint64_t value = 0;
    const auto* end = words[0].data() + words[0].size();
    const auto parsed = std::from_chars(words[0].data(), end, value);
    if (parsed.ec == std::errc{} && parsed.ptr == end) return value;
  }
  return std::nullopt;
}

Findings judge(const Json& expectation, const Output& output) {
  if (!complete(output)) return {incomplete(output, "free space")};
  Findings findings;
  for (const auto& path : expectation.value("paths", std::vector<std::string>{})) {
    const auto free = free_kib(output, path);
    if (!free) {
      findings.push_back(unsure("free space at " + path + " is not known", output.first_line()));
      continue;
    }
    const auto got = std::to_string(*free >> 10U) + " MiB free";
    if (*free < k_full_kib) findings.push_back(bad("the disk with " + path + " is full", std::to_string(k_full_kib >> 10U) + " MiB free", got, "free space on this node: df -h " + path));
    else if (*free < k_little_kib) findings.push_back(careful("the disk with " + path + " has little space: compiled kernels take 1 to 2 GiB", got));
  }
  if (findings.empty()) findings.push_back(good("state and cache directories have space"));
  return findings;
}

}  // namespace

Check disk_cache_check() {
  return {.id = "disk-cache",
          .title = "state and cache directories have space",
          .why = "a full disk leaves half-written files, and the engine compiles its kernels again on every start",
          .remedy = "df -h the directory on this node",
          .source = "sglang.md D4; peers.md 4.4",
          .seconds = 10,
          .body = k_body,
          .probe = probe,
          .judge = judge};
}

}  // namespace sskj::checks
