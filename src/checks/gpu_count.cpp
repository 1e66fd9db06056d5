// As many GPUs as the profile says.
#include "rows.hpp"

namespace sskj::checks {
namespace {

constexpr std::string_view k_body = R"sh(
if ! command -v nvidia-smi >/dev/null; then echo missing; echo end; exit 0; fi
out=$(nvidia-smi --query-gpu=index,uuid,name --format=csv,noheader,nounits 2>&1); rc=$?
echo "rc $rc"
printf '%s\n' "$out" | sed 's/^/gpu /'
echo end
)sh";

std::optional<Probe> probe(const NodeView& view) {
  unsigned expected = 0;
  for (const auto& on : view.ranks) {
    if (!on.rank->spec.gpus.empty()) expected = std::max(expected, on.group->preflight.gpus_per_node);
  }
  if (expected == 0) return std::nullopt;
  return Probe{{}, Json{{"gpus", expected}}.dump()};
}

/// "0, GPU-…, NAME": an index and a uuid make a line that of a GPU.
bool is_gpu(const std::string& line) {
  const auto comma = line.find(", ");
  return comma != std::string::npos && comma > 0 && line.find_first_not_of("0123456789") == comma && line.compare(comma + 2, 4, "GPU-") == 0;
}

Findings judge(const Json& expectation, const Output& output) {
  if (output.timed_out()) return {bad("nvidia-smi does not answer within its deadline", "an answer", "none", "look for Xid messages in dmesg; the node may need a reboot")};
  if (!complete(output)) return {incomplete(output, "GPUs")};
  if (!output.values("missing").empty()) return {unsure("GPUs cannot be counted: nvidia-smi is missing")};
  const auto expected = expectation.value("gpus", 0U);
  std::size_t gpus = 0, other = 0;
  for (const auto& line : output.values("gpu")) ++(is_gpu(line) ? gpus : other);
  if (const auto rc = output.value("rc"); rc != "0") {
    return {bad("nvidia-smi fails", "exit status 0", "exit status " + rc.value_or("?") + ": " + text::printable(output.value("gpu").value_or("")),
                "check the driver on this node: nvidia-smi; dmesg | grep NVRM")};
  }
  if (gpus == 0 || other != 0) return {unsure("the GPU list is not understood", output.value("gpu").value_or(""))};
  if (gpus != expected) {
    return {bad("wrong number of GPUs", std::to_string(expected), std::to_string(gpus),
                gpus < expected ? "a GPU fell off the bus or is hidden: lspci -d 10de: and dmesg | grep Xid" : "set gpus_per_node to what this node has")};
  }
  return {good(std::to_string(gpus) + " GPUs")};
}

}  // namespace

Check gpu_count_check() {
  return {.id = "gpu-count",
          .title = "GPUs present",
          .why = "a world of fixed size needs all of them; a missing one fails after minutes of loading",
          .remedy = "nvidia-smi -L on this node",
          .source = "peers.md 4.1 gpu.count",
          .seconds = 25,
          .body = k_body,
          .probe = probe,
          .judge = judge};
}

}  // namespace sskj::checks
