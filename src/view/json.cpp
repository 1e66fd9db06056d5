#include "json.hpp"

#include <nlohmann/json.hpp>
#include <variant>

#include "json_text.hpp"
#include "plain.hpp"
#include "sskj/core/text.hpp"
#include "sskj/run/event_json.hpp"
#include "summary.hpp"

namespace sskj::view {

namespace {

using nlohmann::ordered_json;

std::string valid(const std::string& bytes) { return text::to_valid_utf8(bytes); }

ordered_json error_of(const Error& error) {
  return {{"category", to_string(error.code)}, {"message", valid(error.message)}, {"hint", valid(error.hint)}};
}

ordered_json hosts_of(const Model& model) {
  const HostCounts counts = count_hosts(model);
  return {{"total", counts.total},         {"ok", counts.ok},     {"failed", counts.failed},  {"unreachable", counts.unreachable},
          {"timed_out", counts.timed_out}, {"lost", counts.lost}, {"skipped", counts.skipped}};
}

ordered_json nodes_of(const Model& model) {
  ordered_json nodes = ordered_json::object();
  const auto classes = final_classes(model);
  for (const NodeState& node : model.nodes) {
    ordered_json entry{{"class", run::to_string(classes.at(node.id))}};
    if (!node.phase.empty()) {
      entry["phase"] = {{"name", valid(node.phase)}, {"done", node.done}, {"total", node.total}};
    }
    const auto text = model.texts.find(node.id);
    if (text != model.texts.end()) {
      entry["exit_status"] = text->second.exit_status ? ordered_json(*text->second.exit_status) : ordered_json(nullptr);
      entry["stdout"] = valid(text->second.out);
      entry["stderr"] = valid(text->second.err);
      entry["stdout_dropped"] = text->second.out_dropped;
      entry["stderr_dropped"] = text->second.err_dropped;
    }
    nodes[valid(node.id)] = std::move(entry);
  }
  return nodes;
}

ordered_json steps_of(const Model& model) {
  ordered_json steps = ordered_json::array();
  for (const StepRecord& record : model.steps) {
    const run::StepResult& result = record.result;
    ordered_json step{{"stage", valid(record.stage)},       {"step", valid(result.step)},         {"title", valid(record.title)},
                      {"node", valid(result.node)},         {"status", run::to_string(result.status)}, {"elapsed_ms", result.elapsed.count()},
                      {"attempts", result.attempts}};
    step["exit_status"] = result.exit_status ? ordered_json(*result.exit_status) : ordered_json(nullptr);
    step["http_status"] = result.http ? ordered_json(result.http->status) : ordered_json(nullptr);
    step["expected"] = valid(result.expected);
    step["got"] = valid(result.got);
    step["error"] = result.error ? error_of(*result.error) : ordered_json(nullptr);
    steps.push_back(std::move(step));
  }
  return steps;
}

ordered_json stages_of(const Model& model) {
  ordered_json stages = ordered_json::array();
  for (const StageRecord& stage : model.stages) {
    const char* outcome = !stage.finished ? "unfinished" : (stage.skipped ? "skipped" : (stage.ok ? "ok" : "failed"));
    stages.push_back({{"stage", valid(stage.id)},
                      {"title", valid(stage.title)},
                      {"undo", stage.undo},
                      {"outcome", outcome},
                      {"elapsed_ms", stage.elapsed.count()},
                      {"error", stage.error ? error_of(*stage.error) : ordered_json(nullptr)}});
  }
  return stages;
}

ordered_json findings_of(const Model& model) {
  ordered_json findings = ordered_json::array();
  for (const run::Finding& finding : model.findings) {
    findings.push_back({{"check", valid(finding.check)},
                        {"status", run::to_string(finding.status)},
                        {"node", valid(finding.node)},
                        {"expected", valid(finding.expected)},
                        {"got", valid(finding.got)},
                        {"message", valid(finding.message)},
                        {"hint", valid(finding.hint)}});
  }
  return findings;
}

ordered_json failures_of(const Model& model) {
  ordered_json failures = ordered_json::array();
  for (const Failure& failure : model.failures) {
    failures.push_back({{"kind", failure.word},
                        {"stage", valid(failure.stage)},
                        {"step", valid(failure.title)},
                        {"node", valid(failure.node)},
                        {"message", valid(failure.message)},
                        {"expected", valid(failure.expected)},
                        {"got", valid(failure.got)},
                        {"last_lines", failure.tail},
                        {"hint", valid(failure.hint)}});
  }
  return failures;
}

ordered_json report_of(const std::string& text) {
  ordered_json report = ordered_json::parse(text, nullptr, false);
  return report.is_discarded() ? ordered_json(nullptr) : report;
}

ordered_json document_of(const Model& model, const Options& options) {
  const run::RunFinished finished = model.finished.value_or(run::RunFinished{});
  ordered_json codes = ordered_json::array();
  for (const ExitCode code : finished.all_codes) {
    codes.push_back(static_cast<int>(code));
  }
  ordered_json document{{"schema_version", 1},
                        {"verb", valid(model.verb)},
                        {"deployment", valid(model.deployment)},
                        {"run", valid(model.run)},
                        {"plan_digest", valid(model.plan)},
                        {"run_directory", valid(model.directory)},
                        {"exit_code", static_cast<int>(finished.code)},
                        {"exit_codes", codes},
                        {"interrupted", finished.interrupted},
                        {"died", finished.died},
                        {"elapsed_ms", finished.elapsed.count()},
                        {"hosts", hosts_of(model)},
                        {"nodes", nodes_of(model)},
                        {"stages", stages_of(model)},
                        {"steps", steps_of(model)},
                        {"findings", findings_of(model)},
                        {"failures", failures_of(model)}};
  ordered_json reports = ordered_json::object();
  for (const auto& [kind, text] : model.reports) {
    ordered_json report = report_of(text);
    if (kind == options.answer && report.is_object()) {
      document.update(report);
    } else {
      reports[kind] = std::move(report);
    }
  }
  document["report"] = reports.empty() ? ordered_json(nullptr) : reports;
  return document;
}

}  // namespace

void json_on(Context& context, const run::Event& event) {
  if (context.options.verbosity >= 1 && !std::holds_alternative<run::RunFinished>(event)) {
    plain_on(context, event);
  }
  if (std::holds_alternative<run::RunFinished>(event)) {
    context.output.out.write(dump(document_of(context.model, context.options)) + "\n");
    context.output.out.drain(k_drain_limit);
  }
}

void json_tick(Context& context) {
  if (context.options.verbosity >= 1) {
    plain_tick(context);
  }
}

void ndjson_on(Context& context, const run::Event& event) {
  run::EventJsonOptions options;
  options.at = context.options.timestamp ? context.options.timestamp() : std::string{};
  context.output.out.write(escape_controls(run::event_to_json(event, options)) + "\n");
  if (std::holds_alternative<run::RunFinished>(event)) {
    context.output.out.drain(k_drain_limit);
  }
}

}  // namespace sskj::view
