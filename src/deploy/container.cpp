#include "container.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "artifacts.hpp"
#include "sskj/core/text.hpp"
#include "sskj/core/version.hpp"

namespace sskj::deploy {

namespace {

class SpecBuilder {
 public:
  SpecBuilder(const SpecInput& input, Diagnostics& diagnostics) : in_(input), diagnostics_(diagnostics) {}

  ContainerSpec run() {
    const profile::GroupSetting& s = in_.setting;
    ContainerSpec spec;
    spec.name = in_.several_groups ? fmt::format("{}_{}_node{}", in_.deployment.name, in_.group.name, in_.rank.rank)
                                   : fmt::format("{}_node{}", in_.deployment.name, in_.rank.rank);
    spec.image = s.image;
    spec.env = env();
    spec.mounts = mounts();
    spec.devices = s.devices;
    spec.cap_add = s.cap_add;
    for (const profile::UlimitSetting& limit : s.ulimits) {
      spec.ulimits.push_back({limit.name, limit.soft, limit.hard});
    }
    spec.network = s.network;
    spec.ipc = s.ipc;
    spec.shm_bytes = s.shm_bytes;
    spec.gpus = s.gpus == "none" ? "" : s.gpus;
    spec.privileged = s.privileged;
    spec.init = s.init;
    spec.workdir = s.workdir;
    spec.log_max_size = s.log_max_size;
    spec.log_max_files = s.log_max_files;
    spec.labels = labels();
    spec.command = command();
    return spec;
  }

 private:
  std::string path(std::string_view key) const { return fmt::format("groups.{}.{}", in_.group.name, key); }

  void error(const std::string& at, std::string id, std::string message, std::string hint = {}) {
    if (in_.rank.rank != 0) {
      return;  // the same for every rank: said once
    }
    diagnostics_.push_back({Severity::error, std::move(id), std::move(message), std::move(hint), in_.deployment.where.find(at), ""});
  }

  static void set(std::vector<EnvVar>& env, const std::string& name, const std::string& value) {
    const auto it = std::find_if(env.begin(), env.end(), [&](const EnvVar& e) { return e.name == name; });
    if (it == env.end()) {
      env.push_back({name, value});
    } else {
      it->value = value;
    }
  }

  // Group, then the node's NIC and HCA, then the node's own variables: the nearest wins.
  std::vector<EnvVar> env() const {
    std::vector<EnvVar> out;
    if (!in_.rank.data_address.empty() && in_.role.needs_model) {
      // First choice of a rank that decides its own address; else SGLang asks which address reaches the internet (sglang.md 1.3).
      set(out, "SGLANG_HOST_IP", in_.rank.data_address);
    }
    for (const profile::EnvSetting& e : in_.setting.env) {
      set(out, e.name, e.value);
    }
    if (!in_.node.nic.empty()) {
      set(out, "NCCL_SOCKET_IFNAME", in_.node.nic);
      set(out, "GLOO_SOCKET_IFNAME", in_.node.nic);
    }
    if (!in_.node.hca.empty()) {
      set(out, "NCCL_IB_HCA", in_.node.hca);
    }
    for (const profile::EnvSetting& e : in_.node.env) {
      set(out, e.name, e.value);
    }
    return out;
  }

  void add_mount(std::vector<Mount>& mounts, Mount mount, const std::string& at) {
    const auto taken = std::find_if(mounts.begin(), mounts.end(), [&](const Mount& m) { return m.target == mount.target; });
    if (taken != mounts.end()) {
      error(at, "mount-twice", fmt::format("{} is mounted twice in the container, from {} and {}", mount.target, taken->source, mount.source),
            "keep one of them");
      return;
    }
    mounts.push_back(std::move(mount));
  }

  std::vector<Mount> mounts() {
    std::vector<Mount> out;
    const profile::GroupSetting& s = in_.setting;
    const bool own = std::any_of(s.mounts.begin(), s.mounts.end(), [&](const profile::MountSetting& m) { return m.target == s.model_path; });
    if (!s.model_path.empty() && !own) {
      out.push_back({s.model_path, s.model_path, true, false});
    }
    for (std::size_t i = 0; i < s.mounts.size(); ++i) {
      const profile::MountSetting& m = s.mounts[i];
      add_mount(out, {m.source, m.target, m.read_only, m.create}, path(fmt::format("mounts.{}", i)));
    }
    for (const Artifact& artifact : in_.deployment.artifacts) {
      if (!artifact.container_path.empty()) {
        add_mount(out, {artifact.node_path, artifact.container_path, true, false}, fmt::format("artifacts.{}.target", artifact.name));
      }
    }
    if (in_.group.api_key) {
      add_mount(out, {in_.group.api_key_path, std::string(k_engine_config_target), true, false}, path("api_key"));
    }
    return out;
  }

  std::vector<std::pair<std::string, std::string>> labels() const {
    return {{"sskj.deployment", in_.deployment.name},
            {"sskj.group", in_.group.name},
            {"sskj.rank", std::to_string(in_.rank.rank)},
            {"sskj.version", version()},
            {"sskj.artifacts", artifacts_label(in_.deployment)}};
  }

  // True when the profile's own arguments hold the flag already and agree.
  bool already_given(const EngineFlag& flag) {
    bool given = false;
    for (const FoundArg& arg : find_args(in_.setting.launch_args, flag.names)) {
      given = true;
      if (arg.value != flag.value) {
        error(path(fmt::format("launch_args.{}", arg.index)), "argument-disagrees",
              fmt::format("launch_args say {} {}, but {} makes it {}", flag.names.front(), text::printable(arg.value), flag.from, flag.value),
              fmt::format("leave {} out of launch_args: sskj adds it for each rank", flag.names.front()));
      }
    }
    return given;
  }

  std::vector<std::string> engine_argv() {
    std::vector<std::string> argv = in_.role.entry(in_.group);
    for (const EngineFlag& flag : in_.role.flags(in_.group, in_.rank)) {
      if (!already_given(flag)) {
        argv.emplace_back(flag.names.front());
        argv.push_back(flag.value);
      }
    }
    argv.insert(argv.end(), in_.setting.launch_args.begin(), in_.setting.launch_args.end());
    if (in_.group.api_key) {
      argv.emplace_back("--config");
      argv.emplace_back(k_engine_config_target);
    }
    return argv;
  }

  std::vector<std::string> command() {
    std::vector<std::string> argv = engine_argv();
    const std::string bootstrap(text::trim(in_.setting.bootstrap));
    if (bootstrap.empty()) {
      return argv;
    }
    // A comment or a newline in it would swallow or break what follows: such text gets its own lines.
    const bool plain = bootstrap.find_first_of("\n#") == std::string::npos;
    const std::string script = plain ? bootstrap + " && exec \"$@\"" : "{ " + bootstrap + "\n} && exec \"$@\"";
    std::vector<std::string> out = {"bash", "-c", script, "sskj"};
    out.insert(out.end(), argv.begin(), argv.end());
    return out;
  }

  const SpecInput& in_;
  Diagnostics& diagnostics_;
};

}  // namespace

ContainerSpec container_spec(const SpecInput& input, Diagnostics& diagnostics) { return SpecBuilder(input, diagnostics).run(); }

}  // namespace sskj::deploy
