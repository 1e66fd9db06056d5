// Deployment: the validated, typed result of a profile: ordered groups of nodes; a node in a group has a rank; a group has a role.
//
// Pure data, fully resolved (defaults filled in, per-node overrides applied): recipes, checks and views read it and look nothing up elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/core/diagnostic.hpp"
#include "sskj/core/result.hpp"
#include "sskj/plan/plan.hpp"

namespace sskj::deploy {

using Millis = std::chrono::milliseconds;

struct EnvVar {
  std::string name, value;
  bool operator==(const EnvVar&) const = default;
};

struct Mount {
  std::string source;   ///< absolute path on the node
  std::string target;   ///< absolute path in the container
  bool read_only = false;
  bool create = false;  ///< mkdir -p the source before the run (caches); false: it must exist
  bool operator==(const Mount&) const = default;
};

struct Ulimit {
  std::string name;     ///< memlock, stack, nofile, ...
  std::int64_t soft = -1, hard = -1;
  bool operator==(const Ulimit&) const = default;
};

/// What one container must be: `docker inspect` is compared with this, byte for byte.
struct ContainerSpec {
  std::string name;                    ///< <deployment>_node<rank> or <deployment>_<group>_node<rank>
  std::string image;                   ///< reference as in the profile
  std::vector<std::string> command;    ///< argv after the image
  std::vector<EnvVar> env;             ///< in profile order, per-node overrides applied
  std::vector<Mount> mounts;           ///< artifacts and secret files included
  std::vector<std::string> devices;    ///< e.g. /dev/infiniband
  std::vector<std::string> cap_add;    ///< e.g. IPC_LOCK
  std::vector<Ulimit> ulimits;
  std::string network = "host";
  std::string ipc = "host";
  std::uint64_t shm_bytes = 0;         ///< 0 = docker's default
  std::string gpus;                    ///< "all", "device=0,1", empty = none
  bool privileged = false;
  bool init = true;
  std::string workdir;
  std::string log_max_size = "200m";   ///< json-file rotation; startup lines are captured while starting
  unsigned log_max_files = 5;
  std::vector<std::pair<std::string, std::string>> labels;  ///< sskj.deployment, .group, .rank, .version, .artifacts; .plan and .run are added from variables
  bool operator==(const ContainerSpec&) const = default;
};

/// A file that must be on nodes.
struct Artifact {
  std::string name;                    ///< as in the profile
  enum class Source { local_file, embedded, on_node } source = Source::local_file;
  std::string source_path;             ///< path beside the profile (already resolved), embedded name, or path on the source node
  std::string source_node;             ///< on_node: Node::id
  std::string content;                 ///< bytes for local_file and embedded (read by app before the plan is made); empty for on_node
  std::string sha256;                  ///< declared or computed; empty for on_node without a declared one: taken at the source in the run, must be equal on all nodes
  std::string node_path;               ///< where it lies on every node: /var/lib/sskj/artifacts/<sha256>/NAME, or the profile's fixed path
  std::string container_path;          ///< mount target; empty = not mounted
  std::uint32_t mode = 0644;
};

struct Rank {
  unsigned rank = 0;
  std::string node;                    ///< plan::Node::id
  std::string data_address;
  std::uint16_t api_port = 0;
  ContainerSpec spec;
};

struct Readiness {
  std::string health_path = "/health";
  Millis deadline{45L * 60 * 1000};    ///< whole wait
  Millis no_progress{20L * 60 * 1000}; ///< longest time in which no rank comes further
  Millis poll{2'000};
  Millis request_timeout{25'000};
  unsigned failures_for_down = 3;
};

struct Warmup {
  bool enabled = true;
  unsigned prompt_tokens = 16384;      ///< approximate length of the generated prompt
  unsigned max_tokens = 16;
  Millis timeout{600'000};
};

struct Smoke {
  std::string question = "What is 23*47? Answer briefly.";
  std::string expect = "1081";         ///< compared after removing digit grouping
  unsigned max_tokens = 128;
  unsigned max_tokens_retry = 2048;    ///< asked again with this after finish_reason length
  double temperature = 0.1;
  Millis timeout{300'000};
};

struct Preflight {
  std::uint64_t gpu_memory_idle_mib = 1024;  ///< a GPU that uses more and is not held by our containers is occupied
  unsigned gpus_per_node = 0;                ///< 0 = not checked
  std::vector<std::string> skip;             ///< check ids; a skip is shown
};

struct Group {
  std::string name;
  std::string role;                    ///< row of the role table
  std::vector<Rank> ranks;
  std::string image;
  std::string model_path;              ///< on the node and in the container
  std::string served_model;
  std::uint16_t api_port = 30000;
  std::uint16_t dist_init_port = 0;
  std::string host_bind = "0.0.0.0";
  std::vector<std::string> launch_args;  ///< the profile's own, before sskj's additions
  std::optional<plan::SecretRef> api_key;
  std::string api_key_path;            ///< file on the node that carries it (0600); empty without one
  Readiness readiness;
  Warmup warmup;
  Smoke smoke;
  Preflight preflight;
  Millis stop_grace{60'000};
  std::string restart = "no";          ///< as the profile says; a lint refuses anything else and no container is given one
};

/// Positions of settings by schema path ("groups.server.env.NCCL_ALGO"); lookups fall back to the nearest ancestor.
class SourceMap {
 public:
  void set(std::string path, SourceRef at) { at_[std::move(path)] = std::move(at); }
  SourceRef find(std::string path) const;
  bool contains(std::string_view path) const { return at_.find(path) != at_.end(); }
 private:
  std::map<std::string, SourceRef, std::less<>> at_;
};

struct Deployment {
  std::string name;                    ///< canonical: names containers, lock and claim
  std::string profile;                 ///< as the user named it
  std::vector<plan::Node> nodes;       ///< every node once
  std::vector<Group> groups;           ///< in start order
  std::vector<Artifact> artifacts;
  std::string state_dir = "/var/lib/sskj";
  Millis start_deadline{45L * 60 * 1000};  ///< whole of start and restart
  SourceMap where;
};

}  // namespace sskj::deploy
