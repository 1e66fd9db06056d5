// GPUs are idle, or held by containers of this deployment only (start removes those).
#include <charconv>
#include <map>

#include "owner.hpp"
#include "rows.hpp"

namespace sskj::checks {
namespace {

constexpr std::string_view k_body = R"sh(
if ! command -v nvidia-smi >/dev/null; then echo missing; echo end; exit 0; fi
gpus=$(nvidia-smi --query-gpu=index,uuid,memory.used --format=csv,noheader,nounits 2>&1) || { echo "error $gpus"; echo end; exit 0; }
apps=$(nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory,process_name --format=csv,noheader,nounits 2>&1) || { echo "error $apps"; echo end; exit 0; }
printf '%s\n' "$gpus" | sed 's/^/gpu /; s/, / /g'
printf '%s\n' "$apps" | sed 's/, / /g' | while read -r uuid pid used name; do
  case $pid in ''|*[!0-9]*) [ -n "$uuid" ] && echo "strange $uuid $pid $used $name"; continue;; esac
  echo "app $uuid $pid $used $(whose "$pid") ($name)"
done
echo end
)sh";

std::optional<Probe> probe(const NodeView& view) {
  const RankOnNode* first = nullptr;
  for (const auto& on : view.ranks) {
    if (first == nullptr && !on.rank->spec.gpus.empty()) first = &on;
  }
  if (first == nullptr) return std::nullopt;
  return Probe{owner_vars(view), Json{{"idle_mib", first->group->preflight.gpu_memory_idle_mib}, {"gpus", first->rank->spec.gpus}}.dump()};
}

struct Gpu {
  std::string index, uuid;
  std::optional<std::uint64_t> used_mib;
  std::string used_text;
  std::vector<std::string> own, strangers;
  std::optional<std::uint64_t> own_mib = 0;  ///< what our processes hold; nullopt = the driver does not say
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "device=0,2" restricts the check to those indexes or uuids; "all" to none.
bool concerned(const Gpu& gpu, const std::string& gpus) {
  const auto at = gpus.find("device=");
  if (at == std::string::npos) return true;
  const auto listed = "," + gpus.substr(at + 7) + ",";
  return listed.find("," + gpu.index + ",") != std::string::npos || listed.find("," + gpu.uuid + ",") != std::string::npos;
}

/// UUID PID MIB OWNER NAME
void add_process(Gpu& gpu, const std::vector<std::string>& words) {
  const bool own = words[3] == "own";
  (own ? gpu.own : gpu.strangers).push_back("pid " + words[1] + " " + words[3] + " " + words[4]);
  if (!own) return;
  const auto mib = number(words[2]);
  gpu.own_mib = mib && gpu.own_mib ? std::optional(*gpu.own_mib + *mib) : std::nullopt;
}

std::vector<Gpu> read_gpus(const Output& output) {
  std::vector<Gpu> gpus;
  for (const auto& line : output.values("gpu")) {
    const auto words = split_blanks(line, 3);
    if (words.size() != 3 || !number(words[0])) return {};
    gpus.push_back({words[0], words[1], number(words[2]), words[2], {}, {}, 0});
  }
  for (const auto& line : output.values("app")) {
    const auto words = split_blanks(line, 5);
    if (words.size() != 5) return {};
    for (auto& gpu : gpus) {
      if (gpu.uuid == words[0]) add_process(gpu, words);
    }
  }
  return gpus;
}

/// About one GPU; the message leaves out which.
Finding judge_gpu(const Gpu& gpu, std::uint64_t idle_mib, bool owner_known) {
  if (!gpu.used_mib) return unsure("memory in use is not known", gpu.used_text);
  const auto used = std::to_string(*gpu.used_mib) + " MiB";
  const auto limit = "at most " + std::to_string(idle_mib) + " MiB, or held by this deployment only";
  const bool busy = *gpu.used_mib > idle_mib;
  if (!gpu.strangers.empty() && !owner_known) return unsure("whose processes are on it cannot be told: docker does not answer", used);
  if (!gpu.strangers.empty()) {
    auto found = bad("held by another process", limit, used + ": " + some_of(unique(gpu.strangers)), "end that job or ask its owner; then start again");
    if (!busy) found.status = FindingStatus::warn;
    return found;
  }
  if (busy && gpu.own.empty()) {
    return bad("holds memory without a visible process", limit, used, "find the holder as root: fuser -v /dev/nvidia*; a leaked context may need a GPU reset");
  }
  if (busy && !gpu.own_mib) {
    auto found = unsure("held by this deployment, and the driver does not say how much of it", used);
    found.status = FindingStatus::warn;  // the removal looks again when our containers are gone
    return found;
  }
  if (busy && *gpu.used_mib > *gpu.own_mib + idle_mib) {
    return bad("holds more memory than this deployment's processes", "at most " + std::to_string(*gpu.own_mib + idle_mib) + " MiB", used,
               "find the other holder as root: fuser -v /dev/nvidia*; a leaked context may need a GPU reset");
  }
  return good(gpu.own.empty() ? "idle" : "held by this deployment", used);
}

/// GPUs of which the same is said share a finding: a job usually holds several.
Findings folded(const std::vector<std::pair<std::string, Finding>>& by_gpu) {
  Findings findings;
  std::vector<std::vector<std::string>> indexes;
  for (const auto& entry : by_gpu) {
    const auto& index = entry.first;
    const Finding& found = entry.second;
    auto at = std::find_if(findings.begin(), findings.end(), [&](const Finding& one) { return one.message == found.message && one.status == found.status; });
    if (at == findings.end()) {
      findings.push_back(found);
      indexes.emplace_back();
      at = findings.end() - 1;
    } else if (found.got != at->got && at->got.size() < 200) {
      at->got += "; " + found.got;
    }
    indexes[static_cast<std::size_t>(at - findings.begin())].push_back(index);
  }
  for (std::size_t i = 0; i < findings.size(); ++i) {
    std::string list;
    for (const auto& index : indexes[i]) list += (list.empty() ? "" : ",") + index;
    findings[i].message = (indexes[i].size() == 1 ? "GPU " : "GPUs ") + list + ": " + findings[i].message;
  }
  return findings;
}

Findings judge(const Json& expectation, const Output& output) {
  if (!complete(output)) return {incomplete(output, "GPU memory")};
  if (!output.values("missing").empty()) return {unsure("GPU memory cannot be read: nvidia-smi is missing")};
  if (const auto error = output.value("error")) return {unsure("GPU memory cannot be read: nvidia-smi fails", text::printable(*error))};
  const auto gpus = read_gpus(output);
  if (gpus.empty()) return {unsure("the list of GPUs is not understood", output.first_line())};
  if (!output.values("strange").empty()) return {unsure("the list of GPU processes is not understood", output.values("strange").front())};
  std::vector<std::pair<std::string, Finding>> by_gpu;
  for (const auto& gpu : gpus) {
    if (!concerned(gpu, expectation.value("gpus", "all"))) continue;
    by_gpu.emplace_back(gpu.index, judge_gpu(gpu, expectation.value("idle_mib", std::uint64_t{0}), !owner_unknown(output)));
  }
  return folded(by_gpu);
}

}  // namespace

Check gpu_idle_check() {
  return {.id = "gpu-idle",
          .title = "GPUs idle or held by this deployment",
          .why = "memory held by another job fails the start after minutes (state cache, memory imbalance)",
          .remedy = "nvidia-smi on this node shows who holds its GPUs",
          .source = "manual section 9; sglang.md M1, M3; sglang#1533, #4233",
          .seconds = 45,
          .prelude = k_owner_sh,
          .body = k_body,
          .probe = probe,
          .judge = judge};
}

}  // namespace sskj::checks
