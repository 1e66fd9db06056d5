// Structural faults of a plan, found before anything runs. Saved plans come from files that people edit.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "sskj/core/sha256.hpp"
#include "sskj/core/text.hpp"
#include "sskj/plan/plan.hpp"

namespace sskj::plan {
namespace {

constexpr Millis k_shortest_beat{500};
constexpr Millis k_max_duration = std::chrono::hours(24 * 30);

tl::unexpected<Error> fault(std::string_view where, std::string_view what) {
  return fail(Errc::usage, fmt::format("plan: {}: {}", text::printable(where), what));
}

bool is_plain(std::string_view name) { return !name.empty() && text::printable(name) == name; }
bool in_range(Millis duration) { return duration >= Millis{0} && duration <= k_max_duration; }

Result<void> check_judgement(const Judgement& verdict, std::string_view where) {
  if (verdict.judge.empty()) return fault(where, "a verdict names no judge");
  if (!nlohmann::json::accept(verdict.expectation)) return fault(where, "the verdict's expectation is not JSON");
  return {};
}

Result<void> check_script(const std::string& script, std::string_view where) {
  if (script.empty()) return fault(where, "the script is empty");
  if (script.size() > k_max_script) return fault(where, fmt::format("the script has {} bytes, at most {} are allowed", script.size(), k_max_script));
  if (script.find('\0') != std::string::npos) return fault(where, "the script holds a NUL byte");
  return {};
}

bool is_secret_ref(std::string_view ref) {
  for (const std::string_view kind : {"from_env:", "from_file:"}) {
    if (ref.starts_with(kind) && ref.size() > kind.size()) return true;
  }
  return false;
}

Result<void> check_secret(const PutFile& put, std::string_view where) {
  const auto& ref = std::get<SecretRef>(put.content).ref;
  if (!is_secret_ref(ref)) return fault(where, "a secret is `from_env:NAME` or `from_file:PATH`");
  if (put.secret_template.find("{secret}") == std::string::npos) return fault(where, "the secret's template does not contain {secret}");
  if (!put.sha256.empty()) return fault(where, "a plan holds no sha256 of a secret");
  if ((put.mode & 077U) != 0) return fault(where, "a file with a secret must be readable by its owner only");
  return {};
}

Result<void> check(const RunScript& run, std::string_view where) { return check_script(run.script, where); }

Result<void> check(const PutFile& put, std::string_view where) {
  if (!put.path.starts_with('/') || put.path.ends_with('/') || put.path.find('\0') != std::string::npos) {
    return fault(where, "the path to write must be absolute and name a file");
  }
  if (put.mode > 07777U) return fault(where, "the file mode is above 07777");
  if (std::holds_alternative<SecretRef>(put.content)) return check_secret(put, where);
  const auto& content = std::get<std::string>(put.content);
  if (content.size() > k_max_content) return fault(where, fmt::format("the content has {} bytes, at most {} are allowed", content.size(), k_max_content));
  if (sha256_hex(content) != put.sha256) return fault(where, "the content does not have the sha256 that the step names");
  return check_script(put_script(put), where);
}

Result<void> check(const HttpProbe& probe, std::string_view where) {
  // A blank, CR or LF in the request line would make it another request.
  const auto splits = [](const std::string& part) {
    return part.empty() || std::any_of(part.begin(), part.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
  };
  if (splits(probe.method) || splits(probe.target) || splits(probe.host)) return fault(where, "method, target and host must be non-empty and without blanks");
  if (!probe.target.starts_with('/')) return fault(where, "the target must begin with /");
  if (probe.port == 0) return fault(where, "the port is 0");
  if (probe.request_timeout <= Millis{0} || !in_range(probe.request_timeout)) return fault(where, "the request timeout is out of range");
  if (!in_range(probe.poll_every)) return fault(where, "the polling interval is out of range");
  if (probe.bearer && !is_secret_ref(probe.bearer->ref)) return fault(where, "a secret is `from_env:NAME` or `from_file:PATH`");
  return check_judgement(probe.verdict, where);
}

Result<void> check(const CheckNode& check_node, std::string_view where) {
  SSKJ_TRY(check_script(check_node.script, where));
  return check_judgement(check_node.verdict, where);
}

bool is_follow(const Step& step) {
  const auto* run = std::get_if<RunScript>(&step.action);
  return run != nullptr && run->follow;
}

struct Seen {
  std::set<std::string> nodes, steps, stages;
};

Result<void> check_step(const Step& step, Seen& seen) {
  if (!is_plain(step.id)) return fault(step.id, "a step's id must be printable text");
  if (!seen.steps.insert(step.id).second) return fault(step.id, "two steps have this id");
  if (!seen.nodes.contains(step.node)) return fault(step.id, fmt::format("node \"{}\" is not in the plan", text::printable(step.node)));
  if (!in_range(step.deadline)) return fault(step.id, "the deadline is out of range");
  if (step.deadline == Millis{0} && !is_follow(step)) return fault(step.id, "only a step that follows output may go without a deadline");
  return std::visit([&](const auto& action) { return check(action, step.id); }, step.action);
}

Result<void> check_stage(const Stage& stage, Seen& seen) {
  if (!is_plain(stage.id)) return fault(stage.id, "a stage's id must be printable text");
  if (!stage.only_if_stage.empty() && !seen.stages.contains(stage.only_if_stage)) return fault(stage.id, "only_if_stage names no earlier stage");
  for (const auto& settled : stage.settles) {
    if (!seen.stages.contains(settled)) return fault(stage.id, "settles names no earlier stage");
  }
  if (!seen.stages.insert(stage.id).second) return fault(stage.id, "two stages have this id");
  if (!in_range(stage.deadline) || !in_range(stage.no_progress)) return fault(stage.id, "the deadline is out of range");
  for (const auto& step : stage.watch) {
    if (!is_follow(step)) return fault(step.id, "a watch must be a script that follows output");
  }
  for (const auto* steps : {&stage.steps, &stage.watch, &stage.undo}) {
    for (const auto& step : *steps) SSKJ_TRY(check_step(step, seen));
  }
  return stage.verdict ? check_judgement(*stage.verdict, stage.id) : Result<void>{};
}

Result<void> check_heartbeat(const Heartbeat& heartbeat, Seen& seen) {
  if (!seen.stages.contains(heartbeat.stage)) return fault("heartbeat", "its stage is not in the plan");
  if (heartbeat.every < k_shortest_beat || !in_range(heartbeat.every)) return fault("heartbeat", "its interval is out of range");
  std::set<std::string> nodes;
  for (const auto& step : heartbeat.steps) {
    if (!std::holds_alternative<RunScript>(step.action) || is_follow(step)) return fault(step.id, "a heartbeat must be a script that ends");
    if (!nodes.insert(step.node).second) return fault(step.id, "a node has one heartbeat");
    SSKJ_TRY(check_step(step, seen));
  }
  return {};
}

}  // namespace

Result<void> validate(const Plan& plan) {
  if (plan.schema_version != 1) return fault("schema_version", fmt::format("this program reads version 1, the plan has {}", plan.schema_version));
  if (!in_range(plan.deadline)) return fault("deadline", "out of range");
  for (const auto& secret : plan.redact) {
    if (!is_secret_ref(secret.ref)) return fault("redact", "a secret is `from_env:NAME` or `from_file:PATH`");
  }
  Seen seen;
  for (const auto& node : plan.nodes) {
    if (!is_plain(node.id)) return fault(node.id, "a node's id must be printable text");
    if (!seen.nodes.insert(node.id).second) return fault(node.id, "two nodes have this id");
  }
  for (const auto* stages : {&plan.stages, &plan.always}) {
    for (const auto& stage : *stages) SSKJ_TRY(check_stage(stage, seen));
  }
  if (plan.heartbeat) SSKJ_TRY(check_heartbeat(*plan.heartbeat, seen));
  return {};
}

}  // namespace sskj::plan
