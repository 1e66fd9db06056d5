// The schema table. Adding a setting = one row here, one member in profile.hpp; then SSKJ_ACCEPT=1 on the docs test.
#include "sskj/profile/schema.hpp"

#include <array>

#include <fmt/format.h>

#include "sskj/core/text.hpp"

namespace sskj::profile {

namespace {

using P = Profile;
using G = GroupSetting;
using N = NodeSetting;
using A = ArtifactSetting;
constexpr Scope k_deployment = Scope::deployment, k_group = Scope::group, k_node = Scope::node, k_artifact = Scope::artifact;
constexpr std::uint64_t k_any = 0, k_u32 = 4294967295U, k_day = 86'400'000;

const std::array k_rows = {
    // path, env key, type, default, scope, doc, example, field, min, max, choices
    Row{"name", "NAME", Type::name, "", k_deployment,
        "Canonical name of the deployment: it names containers, lock and claim; the file's name without extension when it is not set, and never inherited.",
        "kimi3_pro6000_sglang_tp32ep32", &P::name},
    Row{"description", "DESCRIPTION", Type::text, "", k_deployment, "What `profile list` shows.", "Kimi-K3 on 4 nodes", &P::description},
    Row{"alias_of", "ALIAS_OF", Type::reference, "", k_deployment,
        "This text is a second name of that profile: same deployment, same containers, same lock. Nothing else may be set beside it.",
        "pro6000/kimi3_pro6000_sglang_tp32ep32", {}},
    Row{"extends", "", Type::reference, "", k_deployment, "Start from that profile (env or YAML); what is set here is laid over it.", "pro6000/base", {}},
    Row{"variants", "", Type::variants, "", k_deployment, "Named overlays of this same shape, applied by --variant NAME in the order given.", "", {}},
    Row{"state_dir", "STATE_DIR", Type::path, "/var/lib/sskj", k_deployment,
        "Directory on the nodes for artifacts, secrets, lock and job state.", "/var/lib/sskj", &P::state_dir},
    Row{"start_deadline", "START_DEADLINE", Type::duration, "45m", k_deployment,
        "Whole time that `start` and `restart` may take, checks, loading, warm-up and smoke question included; --timeout replaces it.", "45m", &P::start_deadline, k_any, k_day},

    Row{"groups.*.role", "ROLE", Type::name, "server", k_group, "What the group is for; decides engine arguments, ports, health and start order.", "server",
        &G::role},
    Row{"groups.*.nodes", "NODES", Type::nodes, "", k_group,
        "The machines, in rank order: a node set, or in YAML a list whose items are node sets or maps of the node settings.", "174.1.60.[5-8]", {}},
    Row{"groups.*.image", "IMAGE", Type::word, "", k_group, "Image reference, the same on every node; pin it by digest where you can.",
        "lmsysorg/sglang:kimi-k3", &G::image},
    Row{"groups.*.model_path", "MODEL_PATH", Type::path, "", k_group, "Directory of the weights, on the node and (mounted read-only) in the container.",
        "/data/hf_models/Kimi-K3", &G::model_path},
    Row{"groups.*.served_model", "SERVED_MODEL", Type::word, "", k_group, "Model id that the API answers to.", "kimi-k3", &G::served_model},
    Row{"groups.*.port", "PORT", Type::port, "30000", k_group, "TCP port of the API on rank 0, and of the dummy health server on the others.", "30000",
        &G::api_port},
    Row{"groups.*.dist_init_port", "DIST_INIT_PORT", Type::port, "20000", k_group,
        "TCP port of the rendezvous on rank 0's data address; not the API port.", "20000", &G::dist_init_port},
    Row{"groups.*.host_bind", "HOST_BIND", Type::address, "0.0.0.0", k_group, "Address that the API listens on in each node.", "0.0.0.0", &G::host_bind},
    Row{"groups.*.launch_args", "LAUNCH_ARGS", Type::words, "", k_group,
        "Engine arguments beyond those sskj adds (model path, served name, host, port, nodes, rank, rendezvous).",
        "--tp-size 32 --ep-size 32", &G::launch_args},
    Row{"groups.*.bootstrap", "BOOTSTRAP", Type::text, "", k_group, "Shell command line run in the container before the engine; its failure ends the container.",
        "python3 /tmp/patch_k3_sm120.py", &G::bootstrap},
    Row{"groups.*.env", "ENV_*", Type::env, "", k_group, "Environment of the container; passed on byte for byte.", "ENV_NCCL_SOCKET_IFNAME=bond1", &G::env},
    Row{"groups.*.mounts", "MOUNTS", Type::mounts, "", k_group,
        "Bind mounts beside the model; `ro` mounts read-only, `create` makes the directory on the node before the start.",
        "/data/sskj_cache/triton:/root/.triton:create", &G::mounts},
    Row{"groups.*.devices", "DEVICES", Type::words, "", k_group, "Host devices in the container.", "/dev/infiniband", &G::devices},
    Row{"groups.*.cap_add", "CAP_ADD", Type::words, "", k_group, "Linux capabilities added.", "IPC_LOCK", &G::cap_add},
    Row{"groups.*.ulimits", "ULIMITS", Type::ulimits, "", k_group, "Resource limits; -1 is unlimited.", "memlock=-1 stack=67108864", &G::ulimits},
    Row{"groups.*.network", "NETWORK", Type::word, "host", k_group, "Docker network mode.", "host", &G::network},
    Row{"groups.*.ipc", "IPC", Type::word, "host", k_group, "Docker IPC mode.", "host", &G::ipc},
    Row{"groups.*.gpus", "GPUS", Type::gpus, "all", k_group, "GPUs of each container.", "all", &G::gpus},
    Row{"groups.*.workdir", "WORKDIR", Type::path, "", k_group, "Working directory in the container; empty keeps the image's.", "/sgl-workspace",
        &G::workdir},
    Row{"groups.*.shm_size", "SHM_SIZE", Type::bytes, "", k_group, "Size of /dev/shm in bytes with docker's units; empty keeps docker's 64m.", "32g",
        &G::shm_bytes},
    Row{"groups.*.privileged", "PRIVILEGED", Type::boolean, "false", k_group, "Run the container privileged; prefer DEVICES and CAP_ADD.", "false",
        &G::privileged},
    Row{"groups.*.init", "INIT", Type::boolean, "true", k_group, "Run docker's init as PID 1, which reaps children and passes signals on.", "true",
        &G::init},
    Row{"groups.*.restart", "RESTART", Type::choice, "no", k_group,
        "Docker restart policy; only `no` makes sense for a fixed set of ranks (a lint says why).", "no", &G::restart, k_any, k_any,
        "no always unless-stopped on-failure"},
    Row{"groups.*.log.max_size", "LOG_MAX_SIZE", Type::bytes, "200m", k_group, "Size in bytes at which a container's log file is rotated.", "200m",
        &G::log_max_size},
    Row{"groups.*.log.max_files", "LOG_MAX_FILES", Type::uint, "5", k_group, "Number of rotated log files kept.", "5", &G::log_max_files, 1, 100},
    Row{"groups.*.api_key", "API_KEY", Type::secret, "", k_group,
        "Key that clients must present, by reference only; it reaches the engine in a 0600 file, never on a command line.", "from_env:KIMI_API_KEY",
        &G::api_key},
    Row{"groups.*.gpus_per_node", "GPUS_PER_NODE", Type::uint, "0", k_group, "GPUs that each node must have; 0 = not checked.", "8", &G::gpus_per_node,
        k_any, 1024},
    Row{"groups.*.stop_grace", "STOP_GRACE", Type::duration, "1m", k_group, "Time between SIGTERM and SIGKILL when a container is stopped.", "60s",
        &G::stop_grace, k_any, k_day},
    Row{"groups.*.readiness.deadline", "READY_DEADLINE", Type::duration, "45m", k_group, "Whole time that all ranks may take until ready.", "45m",
        &G::ready_deadline, k_any, k_day},
    Row{"groups.*.readiness.no_progress", "READY_NO_PROGRESS", Type::duration, "20m", k_group, "Longest time in which no rank of the group comes further (phase or count in its log).", "20m",
        &G::no_progress, k_any, k_day},
    Row{"groups.*.readiness.poll", "HEALTH_POLL", Type::duration, "2s", k_group, "Pause between two health requests.", "2s", &G::health_poll, 100, 600'000},
    Row{"groups.*.readiness.request_timeout", "HEALTH_TIMEOUT", Type::duration, "25s", k_group,
        "Time allowed for one health request; SGLang takes up to 20 s to answer that it is not healthy.", "25s", &G::health_timeout, 21'000, 600'000},
    Row{"groups.*.readiness.failures_for_down", "FAILURES_FOR_DOWN", Type::uint, "3", k_group, "Failed health requests in a row that mean down.", "3",
        &G::failures_for_down, 1, 1000},
    Row{"groups.*.warmup.enabled", "WARMUP", Type::boolean, "true", k_group, "Send a long prompt once after ready, so that kernels are compiled.", "true",
        &G::warmup},
    Row{"groups.*.warmup.prompt_tokens", "WARMUP_PROMPT_TOKENS", Type::uint, "16384", k_group, "Approximate length of the warm-up prompt in tokens.",
        "16384", &G::warmup_prompt_tokens, 1, 10'000'000},
    Row{"groups.*.warmup.max_tokens", "WARMUP_MAX_TOKENS", Type::uint, "16", k_group, "Tokens to generate in the warm-up.", "16", &G::warmup_max_tokens, 1,
        1'000'000},
    Row{"groups.*.warmup.timeout", "WARMUP_TIMEOUT", Type::duration, "10m", k_group, "Time allowed for the warm-up request.", "10m", &G::warmup_timeout,
        k_any, k_day},
    Row{"groups.*.smoke.question", "SMOKE_QUESTION", Type::text, "What is 23*47? Answer briefly.", k_group, "Question whose answer is known.",
        "What is 23*47? Answer briefly.", &G::smoke_question},
    Row{"groups.*.smoke.expect", "SMOKE_EXPECT", Type::line, "1081", k_group, "Text that the answer or its reasoning must hold, digit grouping ignored.",
        "1081", &G::smoke_expect},
    Row{"groups.*.smoke.max_tokens", "SMOKE_MAX_TOKENS", Type::uint, "128", k_group, "Tokens allowed for the answer.", "128", &G::smoke_max_tokens, 1,
        1'000'000},
    Row{"groups.*.smoke.max_tokens_retry", "SMOKE_MAX_TOKENS_RETRY", Type::uint, "2048", k_group,
        "Tokens allowed when the first answer was cut by its length.", "2048", &G::smoke_max_tokens_retry, 1, 1'000'000},
    Row{"groups.*.smoke.timeout", "SMOKE_TIMEOUT", Type::duration, "5m", k_group, "Time allowed for one smoke request.", "5m", &G::smoke_timeout, k_any,
        k_day},
    Row{"groups.*.preflight.gpu_memory_idle_mib", "GPU_MEMORY_IDLE_MIB", Type::uint, "1024", k_group,
        "Memory in MiB that an idle GPU may show as used.", "1024", &G::gpu_memory_idle_mib, k_any, k_u32},
    Row{"groups.*.preflight.skip", "PREFLIGHT_SKIP", Type::words, "", k_group, "Ids of checks to leave out; they are shown as skipped.", "gpu-idle",
        &G::preflight_skip},

    Row{"groups.*.nodes.*.host", "NODE_#_HOST", Type::host, "", k_node, "Host name, address or ssh_config alias; also the node's id.", "174.1.60.5",
        &N::host},
    Row{"groups.*.nodes.*.user", "NODE_#_USER", Type::word, "", k_node, "SSH user; empty leaves it to ssh_config.", "root", &N::user},
    Row{"groups.*.nodes.*.port", "NODE_#_PORT", Type::port, "", k_node, "SSH port; empty leaves it to ssh_config.", "22", &N::port},
    Row{"groups.*.nodes.*.identity_file", "NODE_#_IDENTITY_FILE", Type::line, "", k_node, "SSH private key on the operator's machine.",
        "~/.ssh/id_ed25519", &N::identity_file},
    Row{"groups.*.nodes.*.jump", "NODE_#_JUMP", Type::word, "", k_node, "Jump hosts as for ssh -J; `none` switches ProxyJump off.", "ops@bastion:22",
        &N::jump},
    Row{"groups.*.nodes.*.sudo", "NODE_#_SUDO", Type::boolean, "false", k_node, "Run scripts through `sudo -n`.", "true", &N::sudo},
    Row{"groups.*.nodes.*.data_address", "NODE_#_DATA_ADDRESS", Type::address, "", k_node,
        "Address on the compute network (rendezvous, SGLANG_HOST_IP); the host when that is a numeric address.", "10.0.0.5", &N::data_address},
    Row{"groups.*.nodes.*.nic", "NODE_#_NIC", Type::word, "", k_node, "Interface for NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME on this node.", "bond1",
        &N::nic},
    Row{"groups.*.nodes.*.hca", "NODE_#_HCA", Type::word, "", k_node, "NCCL_IB_HCA on this node: a comma list, no ranges.", "mlx5_0,mlx5_1", &N::hca},
    Row{"groups.*.nodes.*.env", "NODE_#_ENV_*", Type::env, "", k_node, "Environment of this node's container, over the group's.",
        "NODE_2_ENV_NCCL_IB_GID_INDEX=3", &N::env},

    Row{"artifacts.*.source", "ARTIFACT_*", Type::artifact_source, "", k_artifact,
        "Where the file comes from: beside the profile, inside the binary, or on a node (the group's first one unless named).",
        "ARTIFACT_PATCH=\"source=embedded:patches/fix.py target=/tmp/fix.py\"", &A::source},
    Row{"artifacts.*.target", "", Type::path, "", k_artifact, "Where it is mounted read-only in the container; empty = not mounted.", "/tmp/fix.py",
        &A::target},
    Row{"artifacts.*.sha256", "", Type::sha256, "", k_artifact,
        "Checksum it must have; without one it is taken at the source in the run and must be equal on all nodes.", "", &A::sha256},
    Row{"artifacts.*.mode", "", Type::mode, "0644", k_artifact, "Permission bits on the node.", "0644", &A::mode},
    Row{"artifacts.*.path", "", Type::path, "", k_artifact, "Fixed path on the node; empty = content-addressed below state_dir.", "/data/wheels/x.whl",
        &A::path},
};

}  // namespace

std::span<const Row> schema() { return k_rows; }

std::string_view to_string(Type type) {
  switch (type) {
    case Type::text: return "text";
    case Type::line: return "line";
    case Type::name: return "name";
    case Type::reference: return "profile";
    case Type::words: return "words";
    case Type::nodes: return "nodes";
    case Type::host: return "host";
    case Type::address: return "address";
    case Type::word: return "word";
    case Type::path: return "path";
    case Type::duration: return "duration";
    case Type::bytes: return "bytes";
    case Type::boolean: return "boolean";
    case Type::uint: return "number";
    case Type::port: return "port";
    case Type::choice: return "choice";
    case Type::gpus: return "gpus";
    case Type::env: return "env";
    case Type::mounts: return "mounts";
    case Type::ulimits: return "ulimits";
    case Type::sha256: return "sha256";
    case Type::mode: return "mode";
    case Type::secret: return "secret";
    case Type::artifact_source: return "source";
    case Type::variants: return "variants";
  }
  return "?";
}

namespace {

std::string range_text(const Row& row) {
  const auto milliseconds = [](std::uint64_t v) { return text::format_duration(std::chrono::milliseconds(static_cast<std::int64_t>(v))); };
  if (row.type == Type::duration && row.max != 0) {
    return fmt::format(", {} to {}", milliseconds(row.min == 0 ? 1 : row.min), milliseconds(row.max));
  }
  return row.type == Type::uint ? fmt::format(", {} to {}", row.min, row.max) : std::string();
}

}  // namespace

std::string describe(const Row& row) {
  switch (row.type) {
    case Type::text: return "any text";
    case Type::line: return "one line of text without control characters";
    case Type::name: return "a name: small letters, digits, '_', '-', '.', first a letter or digit, at most 63";
    case Type::reference: return "a profile's path or name";
    case Type::words: return "words as a POSIX shell splits them (no expansion), or in YAML a list";
    case Type::nodes: return "a node set such as 174.1.60.[5-8], or in YAML a list";
    case Type::host: return "a host name, address or ssh_config alias";
    case Type::address: return "a numeric IPv4 or IPv6 address";
    case Type::word: return "one word of letters, digits and @ % + = : , . / _ - ^, not starting with '-'";
    case Type::path: return "an absolute path without '..'";
    case Type::duration: return "a duration such as 90s, 15m, 1h30m" + range_text(row) + "; 0 is refused";
    case Type::bytes: return "a size such as 512m, 32g or a number of bytes (powers of 1024)";
    case Type::boolean: return "true or false (also yes, no, on, off, 1, 0)";
    case Type::uint: return "a decimal number" + range_text(row);
    case Type::port: return "a TCP port, 1 to 65535";
    case Type::choice: return fmt::format("one of: {}", row.choices);
    case Type::gpus: return "all, none, a count, or device=0,1";
    case Type::env: return "variables, NAME: value";
    case Type::mounts: return "SOURCE:TARGET[:ro,create] words with absolute paths, or in YAML a list of such strings or of maps";
    case Type::ulimits: return "NAME=SOFT[:HARD] words, numbers or -1 for unlimited";
    case Type::sha256: return "64 hexadecimal digits";
    case Type::mode: return "octal permission bits such as 0644";
    case Type::secret: return "from_env:NAME or from_file:PATH";
    case Type::artifact_source: return "file:REL, embedded:NAME, node:/PATH or node:HOST:/PATH";
    case Type::variants: return "a map of overlays";
  }
  return "?";
}

}  // namespace sskj::profile
