// The lint table. `error` blocks start, `warn` does not. Each row has a failing and a passing profile in tests/data/lints/<id>/.
#include <fmt/format.h>

#include <array>

#include "lint_rules.hpp"

namespace sskj::deploy {

namespace {

constexpr Severity k_error = Severity::error, k_warn = Severity::warning;

const std::array k_lints = {
    LintRow{"lint.nccl-algo-set", k_error, "NCCL_ALGO or NCCL_PROTO is set", "debug settings: a collective without that variant fails with `invalid usage`",
            "NVIDIA/nccl#317, #1709", rules::nccl_algo_set},
    LintRow{"lint.expandable-segments", k_error, "expandable segments with mooncake", "ibv_reg_mr fails on such memory: Bad address [14], Invalid argument [22]",
            "kvcache-ai/Mooncake#2511", rules::expandable_segments},
    LintRow{"lint.memlock-limited", k_error, "memlock is limited", "RDMA registration and completion queues fail: ibv_create_cq: Cannot allocate memory",
            "NVIDIA/nccl#380, #1191", rules::memlock_limited},
    LintRow{"lint.management-interface", k_error, "NCCL or Gloo on the management network", "slow or unreachable: ranks meet on the wrong network",
            "sgl-project/sglang#3226, #836", rules::management_interface},
    LintRow{"lint.interface-missing", k_warn, "the compute interface is not named", "Gloo resolves the host name, often to loopback or the management network",
            "sgl-project/sglang#3226, #868", rules::interface_missing},
    LintRow{"lint.nccl-ib-hca-range", k_error, "NCCL_IB_HCA in range syntax", "NCCL knows a comma list of prefixes only", "NCCL environment documentation",
            rules::nccl_ib_hca_range},
    LintRow{"lint.rdma-device-missing", k_warn, "RDMA wanted without a device", "NCCL falls back to TCP and is slow, without an error", "SGLang docker/compose.yaml",
            rules::rdma_device_missing},
    LintRow{"lint.sglang-port-set", k_error, "SGLANG_PORT is set", "read inside SGLang as a base for internal ports: the API port is taken, a crash loop follows",
            "kernelore/kimi-k3-gcp-enterprise-serving", rules::sglang_port_set},
    LintRow{"lint.worker-exits", k_error, "workers would not wait", "the main process of ranks above 0 returns and ends its container", "sglang entrypoints/engine.py",
            rules::worker_exits},
    LintRow{"lint.logging-config", k_warn, "the log format is replaced", "phases and fatal signatures are read from the log", "sglang srt/utils/common.py",
            rules::logging_config},
    LintRow{"lint.no-op-variable", k_warn, "a variable that nothing reads", "it appears in recipes, and no code reads it", "SGLang 0.5.17, 0.5.18", rules::no_op_variable},
    LintRow{"lint.secret-in-env", k_warn, "a secret in the container's environment", "docker inspect shows it", "", rules::secret_in_env},
    LintRow{"lint.flashkda", k_warn, "the flashkda backend", "known fault under concurrency, not fixed", "operator manual, appendix A", rules::flashkda},
    LintRow{"lint.parallel-size", k_error, "parallel sizes do not fit the nodes", "tp x pp must be divisible by the nodes and equal nodes x GPUs",
            "sglang srt/server_args.py", rules::parallel_size},
    LintRow{"lint.parsers-missing", k_warn, "a thinking model without its parsers", "chat answers carry raw channel markers such as <|open|>think",
            "sglang function_call/kimik3_format.py", rules::parsers_missing},
    LintRow{"lint.remote-code-missing", k_warn, "no --trust-remote-code", "the tokenizer fails to load", "sgl-project/sglang Kimi recipes", rules::remote_code_missing},
    LintRow{"lint.dist-timeout-missing", k_warn, "the collective timeout is torch's default", "the first start compiles kernels for longer than 10 minutes on the slowest rank",
            "sgl-project/sglang#3784", rules::dist_timeout_missing},
    LintRow{"lint.port-clash", k_error, "one port for two listeners on a node", "the second one cannot bind", "sgl-project/sglang#12450", rules::port_clash},
    LintRow{"lint.ephemeral-port", k_warn, "a fixed port inside the ephemeral range", "an outgoing connection may hold it when the engine binds", "ip(7), ip_local_port_range",
            rules::ephemeral_port},
    LintRow{"lint.host-loopback", k_warn, "the API listens on loopback", "the engine's default is 127.0.0.1", "sglang srt/server_args.py", rules::host_loopback},
    LintRow{"lint.image-tag-mutable", k_warn, "the image is named by a tag", "tags move; sskj compares image ids over the nodes before it starts",
            "sglang docker/kimi_k3 Dockerfile", rules::image_tag_mutable},
    LintRow{"lint.gpus-list", k_error, "a GPU list that docker misreads", "--gpus is CSV: a bare comma splits it into fields", "docker run reference", rules::gpus_list},
    LintRow{"lint.restart-policy", k_error, "a restart policy on a fixed set of ranks", "a lone restarted rank never rejoins and holds GPU memory", "", rules::restart_policy},
    LintRow{"lint.network-not-host", k_error, "not the host's network", "TCPStore, Gloo and NCCL use many dynamic ports", "SGLang docker/compose.yaml", rules::network_not_host},
    LintRow{"lint.shm-small", k_warn, "small shared memory", "Bus error, or NCCL cannot create its segments", "NVIDIA/nccl#290; sgl-project/sglang#1986", rules::shm_small},
};

}  // namespace

std::span<const LintRow> lints() { return k_lints; }

std::string lints_markdown() {
  std::string out =
      "# Lints\n\n<!-- Generated from the table in src/deploy/lints.cpp. Do not edit: change the table and run the deploy tests with SSKJ_ACCEPT=1. -->\n\n"
      "`sskj profile lint` and every verb that starts something check these on the profile alone, without any node. `error` blocks the start, `warning` does not.\n\n"
      "| id | severity | what | why | source |\n|---|---|---|---|---|\n";
  for (const LintRow& row : k_lints) {
    std::string reason(row.reason);
    for (std::size_t at = reason.find('|'); at != std::string::npos; at = reason.find('|', at + 2)) {
      reason.insert(at, "\\");
    }
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.id, to_string(row.severity), row.title, reason, row.reference);
  }
  return out;
}

Diagnostics lint(const Deployment& deployment) {
  Diagnostics out;
  for (const LintRow& row : k_lints) {
    Diagnostics found = row.run(deployment, row);
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

}  // namespace sskj::deploy
