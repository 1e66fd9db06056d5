// Files on every node: placed, then read back there and compared.
#include "sskj/deploy/roles.hpp"
#include "stages.hpp"

namespace sskj::recipes {
namespace {

/// Artifacts that come from a node are not carried (that is the relay's work): each node must have them already, with one sha256.
bool carried(const deploy::Artifact& artifact) { return artifact.source != deploy::Artifact::Source::on_node; }

plan::Step put_step(const Context& context, const plan::Node& node, const deploy::Artifact& artifact) {
  plan::Step step;
  step.id = context.id("artifacts", node.id) + "." + artifact.name;
  step.title = "place " + artifact.name;
  step.node = node.id;
  step.action = plan::PutFile{artifact.node_path, artifact.mode, artifact.content, "", artifact.sha256};
  step.deadline = k_put;
  step.failure = Errc::integrity;
  return step;
}

std::optional<plan::Step> secret_step(const Context& context, const plan::Node& node, const Member& member) {
  if (!member.group->api_key || member.group->api_key_path.empty()) return std::nullopt;
  plan::Step step;
  step.id = context.id("api-key", node.id) + "." + member.group->name;
  step.title = "place the API key of " + member.group->name;
  step.node = node.id;
  constexpr std::uint32_t k_owner_only = 0600;
  step.action = plan::PutFile{member.group->api_key_path, k_owner_only, *member.group->api_key, std::string(deploy::k_engine_config), ""};
  step.deadline = k_put;
  return step;
}

plan::Step verify_step(const Context& context, const plan::Node& node) {
  std::vector<std::string> paths;
  Json files = Json::array();
  for (const auto& artifact : context.deployment.artifacts) {
    paths.push_back(artifact.node_path);
    files.push_back({{"name", artifact.name}, {"path", artifact.node_path}, {"sha256", artifact.sha256}, {"carried", carried(artifact)}, {"source", artifact.source_node}});
  }
  const auto script = Script("sha256 of the artifacts").list("paths", paths).with({sh::k_common, sh::k_digests});
  auto step = check_step(context.id("verify", node.id), "verify the artifacts", node.id, script, {"artifacts", Json{{"files", files}}.dump()}, k_put);
  step.failure = Errc::integrity;
  return step;
}

Result<void> can_place(const Context& context, const deploy::Artifact& artifact) {
  if (artifact.node_path.empty() || artifact.node_path.front() != '/') {
    return fail(Errc::profile, "artifact " + artifact.name + " has no path on the nodes", "give it `path:` (an absolute path) or a sha256");
  }
  if (!carried(artifact) && !artifact.source_path.empty() && artifact.source_path != artifact.node_path) {
    return fail(Errc::profile, "artifact " + artifact.name + " comes from node " + artifact.source_node + " and would have to be copied from " + artifact.source_path + " to " +
                                   artifact.node_path + " on the others: copying between nodes is not available",
                "put the file at one path on every node and name that path, or keep it beside the profile (file:NAME): " + context.command("profile lint"));
  }
  return {};
}

}  // namespace

Result<plan::Stage> artifacts_stage(const Context& context) {
  plan::Stage stage;
  stage.id = "artifacts";
  stage.title = "place and verify files";
  for (const auto& artifact : context.deployment.artifacts) SSKJ_TRY(can_place(context, artifact));
  for (const auto* node : context.nodes) {
    for (const auto& artifact : context.deployment.artifacts) {
      if (carried(artifact)) stage.steps.push_back(put_step(context, *node, artifact));
    }
    const deploy::Group* last = nullptr;
    for (const auto& member : context.members(node->id)) {
      if (member.group == last) continue;
      last = member.group;
      if (auto step = secret_step(context, *node, member)) stage.steps.push_back(std::move(*step));
    }
    if (!context.deployment.artifacts.empty()) stage.steps.push_back(verify_step(context, *node));
  }
  if (!context.deployment.artifacts.empty()) stage.verdict = plan::Judgement{"artifacts-equal", "{}"};
  return stage;
}

}  // namespace sskj::recipes
