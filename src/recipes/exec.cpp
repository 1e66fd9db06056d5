// exec: the user's own command on nodes.
#include "sskj/core/shell.hpp"
#include "verbs.hpp"

namespace sskj::recipes {
namespace {

Result<plan::Plan> fill(plan::Plan plan, const Request& request) {
  if (request.command.empty()) return fail(Errc::usage, "exec needs a command", "for example: sskj exec -- uptime");
  if (plan.nodes.empty()) return fail(Errc::usage, "no node to run on", "name a profile, or hosts with --limit");
  plan::Stage stage;
  stage.id = "exec";
  stage.title = "run " + request.command.front();
  const auto script = shell::join(request.command) + "\n";
  for (const auto& node : plan.nodes) {
    auto step = script_step("exec." + node.id, "run " + request.command.front(), node.id, script, request.timeout);
    step.action = plan::RunScript{script, true, true};
    stage.steps.push_back(std::move(step));
  }
  plan.stages.push_back(std::move(stage));
  return plan;
}

}  // namespace

Result<plan::Plan> make_exec(const Request& request, const deploy::Deployment& deployment) {
  const auto context = make_context(request, deployment);
  if (!context) return tl::unexpected<Error>(context.error());
  return fill(begin_plan(*context), request);
}

Result<plan::Plan> make_exec_plan(std::vector<plan::Node> hosts, const Request& request) {
  plan::Plan plan;
  plan.verb = request.verb;
  plan.nodes = std::move(hosts);
  plan.deadline = request.timeout;
  return fill(std::move(plan), request);
}

}  // namespace sskj::recipes
