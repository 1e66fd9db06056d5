// Starting the ranks of a group together, waiting until all are ready, and making sure that none restarted on the way.
#include <algorithm>

#include "sskj/deploy/spec.hpp"
#include "stages.hpp"

namespace sskj::recipes {
namespace {

std::string run_script(const Context& context, const Member& member) {
  std::vector<std::string> create;
  for (const auto& mount : member.rank->spec.mounts) {
    if (mount.create) create.push_back(mount.source);
  }
  return Script("start one container")
      .set("state_dir", context.deployment.state_dir)
      .set("deployment", context.deployment.name)
      .set("name", member.rank->spec.name)
      .list("create", create)
      .function("start_container", deploy::docker_run_command(member.rank->spec))
      .with({sh::k_common, sh::k_state, sh::k_need_lock, sh::k_run});
}

std::string undo_script(const Context& context, const deploy::Group& group) {
  return Script("remove what this run started")
      .set("deployment", context.deployment.name)
      .set("group", group.name)
      .set("remove_seconds", k_remove_seconds)
      .with({sh::k_common, sh::k_undo_run});
}

plan::Step watch_step(const Context& context, const Member& member) {
  auto step = script_step(context.id("log", member), "log of " + Context::who(member), member.rank->node,
                          Script("follow a rank's log").set("name", member.rank->spec.name).with({sh::k_common, sh::k_watch}), Millis{0});
  step.action = plan::RunScript{std::get<plan::RunScript>(step.action).script, false, true, true};
  step.hint = "read the whole log: " + context.command("logs --rank " + std::to_string(member.rank->rank));
  return step;
}

plan::Step health_step(const Context& context, const Member& member) {
  const auto& group = *member.group;
  plan::HttpProbe probe;
  probe.host = probe_host(*member.group, *member.rank);
  probe.port = member.rank->api_port;
  probe.target = group.readiness.health_path;
  probe.bearer = group.api_key;
  probe.request_timeout = group.readiness.request_timeout;
  probe.poll_every = group.readiness.poll;
  probe.verdict = {"health", Json{{"rank", member.rank->rank}, {"path", group.readiness.health_path}}.dump()};
  plan::Step step;
  step.id = context.id("ready", member);
  step.title = "wait until " + Context::who(member) + " is ready";
  step.node = member.rank->node;
  step.action = std::move(probe);
  step.deadline = group.readiness.deadline;
  step.failure = Errc::not_ready;
  step.hint = "see how far it came: " + context.command("logs --rank " + std::to_string(member.rank->rank));
  return step;
}

}  // namespace

plan::Stage run_stage(const Context& context, const deploy::Group& group) {
  plan::Stage stage;
  stage.id = context.stage_id("run", group);
  stage.title = "start the ranks of " + group.name;
  std::vector<std::string> undone;
  for (const auto& member : context.members(group)) {
    stage.steps.push_back(script_step(context.id("run", member), "start " + Context::who(member), member.rank->node, run_script(context, member), k_docker));
    std::get<plan::RunScript>(stage.steps.back().action).engine_log = true;  // a container that ends at once shows its last lines
    if (std::find(undone.begin(), undone.end(), member.rank->node) != undone.end()) continue;
    undone.push_back(member.rank->node);
    stage.undo.push_back(script_step(context.id("undo", member.rank->node) + "." + group.name, "remove what this run started", member.rank->node, undo_script(context, group),
                                     std::chrono::seconds(k_remove_seconds) + k_docker));
  }
  return stage;
}

plan::Stage ready_stage(const Context& context, const deploy::Group& group) {
  plan::Stage stage;
  stage.id = context.stage_id("ready", group);
  stage.title = "wait until " + group.name + " is ready";
  stage.deadline = group.readiness.deadline;
  stage.no_progress = group.readiness.no_progress;
  for (const auto& member : context.members(group)) {
    stage.watch.push_back(watch_step(context, member));
    stage.steps.push_back(health_step(context, member));
  }
  return stage;
}

plan::Stage running_stage(const Context& context, const deploy::Group& group) {
  plan::Stage stage;
  stage.id = context.stage_id("running", group);
  stage.title = "every container of " + group.name + " runs and has not restarted";
  for (const auto* node : context.nodes) {
    std::vector<std::string> names;
    for (const auto& member : context.members(node->id)) {
      if (member.group == &group) names.push_back(member.rank->spec.name);
    }
    if (names.empty()) continue;
    const auto script = Script("state of the containers").list("names", names).with({sh::k_common, sh::k_running});
    auto step = check_step(context.id(stage.id, node->id), "look at the containers", node->id, script, {"running", Json{{"names", names}}.dump()}, k_docker);
    step.failure = Errc::not_ready;
    stage.steps.push_back(std::move(step));
  }
  // From here on the group is ready: what fails later (another group, a wrong answer) does not take it away.
  stage.settles = {context.stage_id("run", group)};
  return stage;
}

}  // namespace sskj::recipes
