// Profile: the text a user writes, parsed and validated against the schema table, still close to the text.
//
// Both syntaxes (env and YAML) become the same list of settings with positions, then the same typed Profile; one table (profile/schema.hpp) is the parser's key list,
// the validator, docs/profile.md and the JSON Schema.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/core/diagnostic.hpp"
#include "sskj/core/result.hpp"

namespace sskj::profile {

/// Where a value came from; later wins: default < user file < profile < environment < flag.
enum class Origin { built_in_default, user_file, profile, environment, flag };

/// One leaf setting as read: what `profile show --resolved` prints.
struct Setting {
  std::string path;      ///< schema path, e.g. "groups.server.env.NCCL_DEBUG"
  std::string value;     ///< text; lists as they were written
  Origin origin = Origin::profile;
  SourceRef at;
};

struct EnvSetting { std::string name, value; };
struct MountSetting { std::string source, target; bool read_only = false, create = false; };
struct UlimitSetting { std::string name; std::int64_t soft = -1, hard = -1; };

struct ArtifactSetting {
  std::string name;
  std::string source;                    ///< "file:REL", "embedded:NAME", "node:/path" (on the group's first node) or "node:HOST:/path"
  std::string sha256;                    ///< optional, 64 hex digits
  std::string path;                      ///< optional fixed path on the node; empty = content-addressed below the state directory
  std::string target;                    ///< mount target in the container; empty = not mounted
  std::uint32_t mode = 0644;
  std::string base_dir;                  ///< directory of the profile that declares it, or "embedded:"
};

struct NodeSetting {
  std::string host;                      ///< also the node's id
  std::string user, identity_file, jump;
  std::uint16_t port = 0;
  bool sudo = false;
  std::string data_address;              ///< default: host when it is a numeric address
  std::string nic;                       ///< overrides NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME on this node
  std::string hca;                       ///< overrides NCCL_IB_HCA on this node
  std::vector<EnvSetting> env;
};

struct GroupSetting {
  std::string name, role;
  std::vector<NodeSetting> nodes;
  std::string image, model_path, served_model;
  std::vector<std::string> launch_args;
  std::string bootstrap;                 ///< shell command line run in the container before the engine
  std::uint16_t api_port = 30000, dist_init_port = 20000;
  std::string host_bind = "0.0.0.0";
  std::vector<EnvSetting> env;
  std::vector<MountSetting> mounts;
  std::vector<std::string> devices, cap_add;
  std::vector<UlimitSetting> ulimits;
  std::string network = "host", ipc = "host", gpus = "all", workdir;
  std::uint64_t shm_bytes = 0;
  bool privileged = false, init = true;
  std::string restart = "no";            ///< docker restart policy; a lint refuses anything else, no container is ever given one
  std::string log_max_size = "200m";
  unsigned log_max_files = 5;
  std::string api_key;                   ///< "", "from_env:NAME" or "from_file:PATH"
  std::chrono::milliseconds ready_deadline{45L * 60 * 1000}, no_progress{20L * 60 * 1000}, health_poll{2'000}, health_timeout{25'000}, stop_grace{60'000};
  unsigned failures_for_down = 3;
  bool warmup = true;
  unsigned warmup_prompt_tokens = 16384, warmup_max_tokens = 16;
  std::chrono::milliseconds warmup_timeout{600'000};
  std::string smoke_question = "What is 23*47? Answer briefly.", smoke_expect = "1081";
  unsigned smoke_max_tokens = 128, smoke_max_tokens_retry = 2048;
  std::chrono::milliseconds smoke_timeout{300'000};
  unsigned gpus_per_node = 0;
  std::uint64_t gpu_memory_idle_mib = 1024;
  std::vector<std::string> preflight_skip;
};

struct Profile {
  std::string name;                      ///< canonical deployment name
  std::string description;
  std::string file;                      ///< as found
  std::vector<GroupSetting> groups;
  std::vector<ArtifactSetting> artifacts;
  std::string state_dir = "/var/lib/sskj";
  std::chrono::milliseconds start_deadline{45L * 60 * 1000};
  std::vector<Setting> settings;         ///< every leaf with origin and position, in schema order
  std::map<std::string, SourceRef, std::less<>> where;  ///< schema path -> position (leaves and containers)
};

struct Override { std::string key, value; SourceRef at; Origin origin = Origin::flag; };

/// Reads files for `extends:` and lookups; app supplies one over the filesystem and the embedded set. Errc::profile with the path when absent.
using FileReader = std::function<Result<std::string>(const std::string& path)>;

struct ParseOptions {
  std::string file;                      ///< shown in positions; its extension (.env, .yaml, .yml) selects the syntax
  std::vector<Override> overrides;       ///< environment first, flags last
  std::vector<std::string> variants;     ///< overlays to apply, in order
  FileReader read;                       ///< for `extends:`
};

struct Parsed {
  Profile profile;
  Diagnostics diagnostics;               ///< all of them at once; errors mean: do not use `profile`
};

/// Parse and validate. Pure except through `options.read`. Never throws; bounded: text at most 1 MiB, nesting 32, extends depth 8.
Parsed parse(std::string_view text, const ParseOptions& options);

}  // namespace sskj::profile
