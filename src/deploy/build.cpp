#include "sskj/deploy/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "artifacts.hpp"
#include "container.hpp"
#include "sskj/core/text.hpp"

namespace sskj::deploy {

namespace {

// Numeric: digits and dots, or a colon. The parser has checked what is written as data_address.
bool numeric(std::string_view host) {
  return host.find(':') != std::string_view::npos || host.find_first_not_of("0123456789.") == std::string_view::npos;
}

class Builder {
 public:
  Builder(const profile::Profile& profile, const ArtifactBytes& bytes) : profile_(profile), bytes_(bytes) {}

  Built run() {
    Deployment& d = out_.deployment;
    d.name = profile_.name;
    d.profile = profile_.file;
    d.state_dir = profile_.state_dir;
    d.start_deadline = profile_.start_deadline;
    for (const auto& [path, at] : profile_.where) {
      d.where.set(path, at);
    }
    if (profile_.groups.empty()) {
      error("groups", "missing", "the profile has no group", "set NODES, IMAGE, ... (YAML: groups:)");
    }
    for (const profile::GroupSetting& setting : profile_.groups) {
      group(setting);
    }
    build_artifacts(profile_, bytes_, d, out_.diagnostics);
    containers();
    order();
    return std::move(out_);
  }

 private:
  void error(const std::string& path, std::string id, std::string message, std::string hint = {}) {
    out_.diagnostics.push_back({Severity::error, std::move(id), std::move(message), std::move(hint), out_.deployment.where.find(path), ""});
  }

  static std::string at(const profile::GroupSetting& s, std::string_view key) { return fmt::format("groups.{}.{}", s.name, key); }

  void group(const profile::GroupSetting& s) {
    const RoleRow* role = find_role(s.role);
    if (role == nullptr) {
      unknown_role(s);
      return;
    }
    required(s, *role);
    Group g = settings(s);
    g.readiness.health_path = role->health_path;
    for (std::size_t i = 0; i < s.nodes.size(); ++i) {
      Rank rank;
      rank.rank = static_cast<unsigned>(i);
      rank.node = s.nodes[i].host;
      rank.data_address = s.nodes[i].data_address.empty() && numeric(s.nodes[i].host) ? s.nodes[i].host : s.nodes[i].data_address;
      rank.api_port = s.api_port;
      if (rank.data_address.empty() && s.nodes.size() > 1) {
        error(at(s, fmt::format("nodes.{}", i)), "missing", fmt::format("node {} has no data address, and its name is not a numeric address", s.nodes[i].host),
              fmt::format("set NODE_{}_DATA_ADDRESS (data_address:) to its address on the compute network", i));
      }
      add_node(s, i, rank.data_address);
      g.ranks.push_back(std::move(rank));
    }
    out_.deployment.groups.push_back(std::move(g));
    settings_.push_back(&s);
  }

  void unknown_role(const profile::GroupSetting& s) {
    std::vector<std::string> names;
    for (const RoleRow& row : roles()) {
      names.emplace_back(row.name);
    }
    const auto near = text::nearest(s.role, names);
    error(at(s, "role"), "unknown-role", fmt::format("group {}: there is no role {}", s.name, text::printable(s.role)),
          near ? fmt::format("did you mean {}?", *near) : fmt::format("roles: {}", fmt::join(names, ", ")));
  }

  void required(const profile::GroupSetting& s, const RoleRow& role) {
    const auto need = [&](bool given, std::string_view key, std::string_view env_key) {
      if (!given) {
        error(at(s, key), "missing", fmt::format("group {}: {} is not set", s.name, key), fmt::format("set {} ({}:)", env_key, key));
      }
    };
    need(!s.nodes.empty(), "nodes", "NODES");
    need(!s.image.empty(), "image", "IMAGE");
    need(!role.needs_model || !s.model_path.empty(), "model_path", "MODEL_PATH");
    need(!role.needs_model || !s.served_model.empty(), "served_model", "SERVED_MODEL");
    if (s.served_model.find(':') != std::string::npos) {
      error(at(s, "served_model"), "bad-value", "the served model name holds ':', which SGLang refuses", "use another character");
    }
    if (!s.api_key.empty() && !role.takes_api_key) {
      error(at(s, "api_key"), "bad-value", fmt::format("role {} takes no API key", s.role));
    }
    secret_arguments(s);
  }

  // A key on a command line is readable by every user of the node: refused, and not repeated here.
  void secret_arguments(const profile::GroupSetting& s) {
    constexpr std::string_view k_names[] = {"--api-key", "--admin-api-key"};
    for (const FoundArg& arg : find_args(s.launch_args, k_names)) {
      error(at(s, fmt::format("launch_args.{}", arg.index)), "literal-secret", "launch_args hold an API key (not shown here)",
            "set API_KEY=from_env:NAME or from_file:PATH, and replace the key: every user of the node could read it");
    }
    constexpr std::string_view k_config[] = {"--config"};
    const auto config = find_args(s.launch_args, k_config);
    if (!s.api_key.empty() && !config.empty()) {
      error(at(s, fmt::format("launch_args.{}", config.front().index)), "argument-disagrees",
            "launch_args hold --config, which sskj needs for the API key", "put its settings into launch_args");
    }
  }

  Group settings(const profile::GroupSetting& s) {
    Group g;
    g.name = s.name;
    g.role = s.role;
    g.image = s.image;
    g.model_path = s.model_path;
    g.served_model = s.served_model;
    g.api_port = s.api_port;
    g.dist_init_port = s.dist_init_port;
    g.host_bind = s.host_bind;
    g.launch_args = s.launch_args;
    if (!s.api_key.empty()) {
      g.api_key = plan::SecretRef{s.api_key};
      g.api_key_path = fmt::format("{}/secrets/{}/{}.yaml", profile_.state_dir, profile_.name, s.name);
    }
    g.readiness = {"", s.ready_deadline, s.no_progress, s.health_poll, s.health_timeout, s.failures_for_down};
    g.warmup = {s.warmup, s.warmup_prompt_tokens, s.warmup_max_tokens, s.warmup_timeout};
    g.smoke.question = s.smoke_question;
    g.smoke.expect = s.smoke_expect;
    g.smoke.max_tokens = s.smoke_max_tokens;
    g.smoke.max_tokens_retry = s.smoke_max_tokens_retry;
    g.smoke.timeout = s.smoke_timeout;
    g.preflight = {s.gpu_memory_idle_mib, s.gpus_per_node, s.preflight_skip};
    g.stop_grace = s.stop_grace;
    g.restart = s.restart;
    return g;
  }

  void add_node(const profile::GroupSetting& s, std::size_t index, const std::string& data_address) {
    const profile::NodeSetting& n = s.nodes[index];
    plan::Node node{n.host, {n.host, n.user, n.port, n.identity_file, n.jump, n.sudo}, data_address};
    const std::string path = at(s, fmt::format("nodes.{}", index));
    for (const plan::Node& known : out_.deployment.nodes) {
      if (known.id == node.id && !(known == node)) {
        error(path, "node-disagrees", fmt::format("node {} is described twice, differently", node.id), "write the same SSH target and data address");
        return;
      }
      if (known.id == node.id) {
        const bool here = std::count_if(s.nodes.begin(), s.nodes.end(), [&](const auto& other) { return other.host == n.host; }) > 1;
        if (here) {
          error(path, "node-twice", fmt::format("node {} stands twice in group {}", node.id, s.name), "a node holds one rank of a group");
        }
        return;
      }
    }
    out_.deployment.nodes.push_back(std::move(node));
  }

  void containers() {
    Deployment& d = out_.deployment;
    for (std::size_t i = 0; i < d.groups.size(); ++i) {
      Group& g = d.groups[i];
      const RoleRow* role = find_role(g.role);
      for (std::size_t r = 0; r < g.ranks.size(); ++r) {
        const SpecInput input{*settings_[i], settings_[i]->nodes[r], d, g, *role, g.ranks[r], profile_.groups.size() > 1};
        g.ranks[r].spec = container_spec(input, out_.diagnostics);
      }
    }
  }

  // Start order: repeatedly take the first group whose predecessors are all taken; a cycle in the role table would show as written order.
  void order() {
    std::vector<Group> rest = std::move(out_.deployment.groups), ordered;
    while (!rest.empty()) {
      const auto waits = [&](const Group& g) {
        const RoleRow* role = find_role(g.role);
        return std::any_of(role->start_after.begin(), role->start_after.end(), [&](std::string_view before) {
          return std::any_of(rest.begin(), rest.end(), [&](const Group& other) { return other.role == before; });
        });
      };
      auto next = std::find_if_not(rest.begin(), rest.end(), waits);
      next = next == rest.end() ? rest.begin() : next;
      ordered.push_back(std::move(*next));
      rest.erase(next);
    }
    out_.deployment.groups = std::move(ordered);
  }

  const profile::Profile& profile_;
  const ArtifactBytes& bytes_;
  std::vector<const profile::GroupSetting*> settings_;
  Built out_;
};

}  // namespace

Built build(const profile::Profile& profile, const ArtifactBytes& artifact_bytes) { return Builder(profile, artifact_bytes).run(); }

}  // namespace sskj::deploy
