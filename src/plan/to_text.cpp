// Plan -> what `--dry-run` prints.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sskj/core/nodeset.hpp"
#include "sskj/core/sha256.hpp"
#include "sskj/core/text.hpp"
#include "sskj/plan/plan.hpp"

namespace sskj::plan {
namespace {

constexpr std::size_t k_shown_content = 16U << 10;  // a patch script is shown, a wheel is not
constexpr std::string_view k_indent = "      ";

bool is_text(std::string_view bytes) { return text::printable(bytes, /*keep_newlines=*/true) == bytes; }

/// All but plain ASCII as \xNN and the backslash doubled: exact bytes, whatever they are.
std::string escaped(std::string_view line) {
  std::string out;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      out += "\\\\";
    } else if (byte < 0x20 || byte >= 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

/// Every line of `bytes` behind a mark, so that nothing in them can pass for a line of ours.
void quote_lines(std::string& out, std::string_view bytes, char mark) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto line = bytes.substr(0, end);
    out += is_text(line) ? fmt::format("{}{} {}\n", k_indent, mark, line) : fmt::format("{}! {}\n", k_indent, escaped(line));
    if (end == std::string_view::npos) {
      out += fmt::format("{}\\ no newline at end\n", k_indent);
      return;
    }
    bytes.remove_prefix(end + 1);
  }
}

void script_lines(std::string& out, const std::string& script, std::string_view what) {
  out += fmt::format("{}{}: {} bytes, sha256 {}\n", k_indent, what, script.size(), sha256_hex(script));
  quote_lines(out, script, '|');
}

std::string verdict_line(const Judgement& verdict) {
  return fmt::format("judged by {} {}", text::printable(verdict.judge), text::printable(verdict.expectation));
}

void describe(std::string& out, const RunScript& run) {
  const std::string kind = run.follow ? "script, output followed" : run.mutates ? "script" : "read-only script";
  script_lines(out, run.script, kind + (run.engine_log ? ", API keys in its output masked" : ""));
}

void describe(std::string& out, const PutFile& put) {
  out += fmt::format("{}file {} mode {:04o}", k_indent, text::printable(put.path), put.mode);
  if (const auto* secret = std::get_if<SecretRef>(&put.content)) {
    out += fmt::format(", {{secret}} = {}\n", text::printable(secret->ref));
    quote_lines(out, put.secret_template, '>');
  } else {
    const auto& content = std::get<std::string>(put.content);
    out += fmt::format(": {} bytes, sha256 {}\n", content.size(), put.sha256);
    if (content.size() <= k_shown_content && is_text(content)) quote_lines(out, content, '>');
  }
  script_lines(out, put_script(put), "script that writes it from its input");
}

void describe(std::string& out, const HttpProbe& probe) {
  out += fmt::format("{}{} http://{}:{}{} as the node sees it, answer within {}", k_indent, text::printable(probe.method), text::printable(probe.host), probe.port,
                     text::printable(probe.target), text::format_duration(probe.request_timeout));
  if (probe.poll_every > Millis{0}) out += fmt::format(", again every {} until it is ok", text::format_duration(probe.poll_every));
  out += '\n';
  if (probe.bearer) out += fmt::format("{}Authorization: Bearer {{secret}}, {{secret}} = {}\n", k_indent, text::printable(probe.bearer->ref));
  quote_lines(out, probe.body, '>');
  out += fmt::format("{}{}\n", k_indent, verdict_line(probe.verdict));
}

void describe(std::string& out, const CheckNode& check) {
  script_lines(out, check.script, "read-only script");
  out += fmt::format("{}{}\n", k_indent, verdict_line(check.verdict));
}

std::string body(const Step& step) {
  std::string out;
  std::visit([&](const auto& action) { describe(out, action); }, step.action);
  return out;
}

std::string terms(const Step& step) {
  std::string out = step.deadline == Millis{0} ? "no deadline" : "within " + text::format_duration(step.deadline);
  if (step.on_failure == OnFailure::tolerate) out += ", its failure is tolerated";
  return out;
}

/// The title with the node taken out, so that "start rank on A" and "start rank on B" can share a heading when their bytes are equal.
std::string common_title(const Step& step) {
  std::string title = step.title;
  for (auto at = title.find(step.node); at != std::string::npos && !step.node.empty(); at = title.find(step.node, at + 1)) {
    title.replace(at, step.node.size(), "*");
  }
  return title;
}

bool same_bytes(const Step& a, const Step& b) {
  return a.action == b.action && a.deadline == b.deadline && a.on_failure == b.on_failure && a.failure == b.failure && a.hint == b.hint &&
         common_title(a) == common_title(b);
}

struct Fold {
  const Step* first = nullptr;
  std::vector<std::string> numbers, nodes;
};

std::vector<Fold> fold(const std::vector<Step>& steps, std::string_view stage_number, std::string_view kind) {
  std::vector<Fold> folds;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto same = std::find_if(folds.begin(), folds.end(), [&](const Fold& known) { return same_bytes(*known.first, steps[i]); });
    Fold& target = same == folds.end() ? folds.emplace_back(Fold{&steps[i], {}, {}}) : *same;
    target.numbers.push_back(fmt::format("{}.{}{}", stage_number, kind, i + 1));
    if (std::find(target.nodes.begin(), target.nodes.end(), steps[i].node) == target.nodes.end()) target.nodes.push_back(steps[i].node);
  }
  return folds;
}

void describe_steps(std::string& out, const std::vector<Step>& steps, std::string_view stage_number, std::string_view kind, std::string_view lead) {
  for (const auto& known : fold(steps, stage_number, kind)) {
    const std::string title = known.nodes.size() == 1 ? known.first->title : common_title(*known.first);
    out += fmt::format("  {} {}{}  {} ({})\n", nodeset::fold(known.numbers), lead, text::printable(title), text::printable(nodeset::fold(known.nodes)),
                       terms(*known.first));
    out += body(*known.first);
  }
}

std::string condition(const Stage& stage) {
  const std::string which = stage.only_if_stage.empty() ? "an earlier stage" : "stage " + text::printable(stage.only_if_stage);
  switch (stage.only_if) {
    case OnlyIf::always: return ", whatever happened before";
    case OnlyIf::previous_failed: return fmt::format(", only if {} failed", which);
    case OnlyIf::previous_ok: break;
  }
  return stage.only_if_stage.empty() ? "" : fmt::format(", only if {} ended ok", which);
}

std::string limits(const Stage& stage) {
  std::string out;
  if (stage.deadline > Millis{0}) out += ", within " + text::format_duration(stage.deadline);
  if (stage.no_progress > Millis{0}) out += ", never " + text::format_duration(stage.no_progress) + " without progress";
  return out;
}

void describe_stage(std::string& out, const Stage& stage, std::size_t number, bool at_end) {
  out += fmt::format("\n{} {}{}{}{}{}\n", number, text::printable(stage.title), stage.order == Order::one_by_one ? ", one node after the other" : "",
                     condition(stage), limits(stage) + (stage.on_failure == OnFailure::tolerate ? ", its failure is tolerated" : ""), at_end ? ", always at the end" : "");
  const std::string name = std::to_string(number);
  describe_steps(out, stage.watch, name, "w", "while the stage runs: ");
  describe_steps(out, stage.steps, name, "", "");
  if (stage.verdict) out += fmt::format("  {} verdict over all nodes: {}\n", number, verdict_line(*stage.verdict));
  describe_steps(out, stage.undo, name, "u", "if the run fails: ");
}

void describe_heartbeat(std::string& out, const Heartbeat& heartbeat) {
  out += fmt::format("\nheartbeat every {}, from the end of a node's step in stage {} to the stages at the end\n", text::format_duration(heartbeat.every),
                     text::printable(heartbeat.stage));
  describe_steps(out, heartbeat.steps, "0", "b", "");
}

std::vector<std::string> node_ids(const Plan& plan) {
  std::vector<std::string> ids;
  std::transform(plan.nodes.begin(), plan.nodes.end(), std::back_inserter(ids), [](const Node& node) { return node.id; });
  return ids;
}

}  // namespace

std::string to_text(const Step& step) { return fmt::format("{}  {} ({})\n{}", text::printable(step.title), text::printable(step.node), terms(step), body(step)); }

std::string to_text(const Plan& plan) {
  std::string out = fmt::format("{}{}{}: {} node{} {}\nplan {}\n", plan.verb, plan.deployment.empty() ? "" : " ", text::printable(plan.deployment),
                                plan.nodes.size(), plan.nodes.size() == 1 ? "" : "s", text::printable(nodeset::fold(node_ids(plan))), digest(plan));
  if (!plan.profile.empty()) out += fmt::format("profile {}\n", text::printable(plan.profile));
  if (plan.deadline > Millis{0}) out += fmt::format("total deadline {}\n", text::format_duration(plan.deadline));
  if (plan.heartbeat) describe_heartbeat(out, *plan.heartbeat);
  for (const auto& secret : plan.redact) out += fmt::format("masks the value of {} in all output\n", text::printable(secret.ref));
  std::size_t number = 0;
  for (const auto& stage : plan.stages) describe_stage(out, stage, ++number, false);
  for (const auto& stage : plan.always) describe_stage(out, stage, ++number, true);
  return out;
}

}  // namespace sskj::plan
