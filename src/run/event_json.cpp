#include "sskj/run/event_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sskj/core/text.hpp"

namespace sskj::run {
namespace {

using nlohmann::json;

std::string utf8(std::string_view bytes) { return text::to_valid_utf8(bytes); }

/// The end of an output says why it failed, so that is what is kept.
std::string tail(std::string_view bytes, std::size_t limit) { return utf8(bytes.substr(bytes.size() - std::min(bytes.size(), limit))); }

json to(const Error& error) {
  json value{{"code", std::string(to_string(error.code))}, {"message", utf8(error.message)}};
  if (!error.hint.empty()) value["hint"] = utf8(error.hint);
  return value;
}

json to(const Finding& finding) {
  json value{{"check", utf8(finding.check)}, {"status", std::string(to_string(finding.status))}};
  const auto put = [&value](const char* name, const std::string& field) {
    if (!field.empty()) value[name] = utf8(field);
  };
  put("node", finding.node);
  put("expected", finding.expected);
  put("got", finding.got);
  put("message", finding.message);
  put("hint", finding.hint);
  if (finding.status == FindingStatus::fail) value["failure"] = std::string(to_string(finding.failure));
  return value;
}

struct Writer {
  const EventJsonOptions& options;
  json value = json::object();

  void about(const plan::Step* step) {
    if (step == nullptr) return;
    value["step"] = utf8(step->id);
    value["title"] = utf8(step->title);
    value["node"] = utf8(step->node);
  }
  void about(const plan::Stage* stage) {
    if (stage == nullptr) return;
    value["stage"] = utf8(stage->id);
    value["title"] = utf8(stage->title);
  }
  void output(const char* name, const char* size, std::string_view bytes, std::size_t dropped) {
    if (bytes.empty()) return;
    value[name] = tail(bytes, options.max_output);
    value[size] = bytes.size() + dropped;
  }
  void set_failure(const StepResult& result) {
    if (result.error) value["error"] = to(*result.error);
    if (!result.expected.empty()) value["expected"] = utf8(result.expected);
    if (!result.got.empty()) value["got"] = utf8(result.got);
    for (const auto& line : result.last_lines) value["last_lines"].push_back(utf8(line));
  }

  void operator()(const RunStarted& event) {
    value["event"] = "run_started";
    value["run"] = utf8(event.vars.run);
    value["plan_digest"] = event.vars.plan;
    value["since"] = event.vars.since;
    if (!event.directory.empty()) value["directory"] = utf8(event.directory);
    if (event.plan == nullptr) return;
    value["verb"] = utf8(event.plan->verb);
    value["deployment"] = utf8(event.plan->deployment);
    value["profile"] = utf8(event.plan->profile);
    value["stages"] = event.plan->stages.size() + event.plan->always.size();
    value["nodes"] = json::array();
    for (const auto& node : event.plan->nodes) value["nodes"].push_back(utf8(node.id));
  }
  void operator()(const StageStarted& event) {
    value["event"] = "stage_started";
    about(event.stage);
    value["number"] = event.number;
    value["count"] = event.count;
    value["undo"] = event.undo;
    value["always"] = event.always;
  }
  void operator()(const StepStarted& event) {
    value["event"] = "step_started";
    about(event.step);
  }
  void operator()(const StepOutput& event) {
    value["event"] = "step_output";
    about(event.step);
    value["stream"] = event.stream == Stream::out ? "out" : "err";
    value["text"] = utf8(event.bytes);
    value["watch"] = event.watch;
  }
  void operator()(const StepRetried& event) {
    value["event"] = "step_retried";
    about(event.step);
    value["reason"] = utf8(event.reason);
  }
  void operator()(const StepProgress& event) {
    value["event"] = "step_progress";
    about(event.step);
    value["text"] = utf8(event.text);
  }
  void operator()(const PhaseReported& event) {
    const Phase& phase = event.phase;
    value["event"] = "phase";
    value["step"] = utf8(phase.step);
    value["node"] = utf8(phase.node);
    value["phase"] = utf8(phase.name);
    if (phase.total > 0) value["done"] = phase.done, value["total"] = phase.total;
    value["fatal"] = phase.fatal;
    value["line"] = utf8(phase.line);
    if (!phase.cause.empty()) value["cause"] = utf8(phase.cause);
    if (!phase.hint.empty()) value["hint"] = utf8(phase.hint);
  }
  void operator()(const StepFinished& event) {
    const StepResult& result = event.result;
    value["event"] = "step_finished";
    about(event.step);
    value["step"] = utf8(result.step);
    value["node"] = utf8(result.node);
    value["status"] = std::string(to_string(result.status));
    value["elapsed_ms"] = result.elapsed.count();
    value["attempts"] = result.attempts;
    set_failure(result);
    if (result.exit_status) value["exit_status"] = *result.exit_status;
    output("out", "out_bytes", result.out, result.out_dropped);
    output("err", "err_bytes", result.err, result.err_dropped);
    if (result.http) {
      value["http"] = {{"status", result.http->status},
                       {"body", tail(result.http->body, options.max_output)},
                       {"truncated", result.http->truncated},
                       {"elapsed_ms", result.http->elapsed.count()}};
    }
    for (const auto& finding : result.findings) value["findings"].push_back(to(finding));
  }
  void operator()(const FindingReported& event) {
    value = to(event.finding);
    value["event"] = "finding";
  }
  void operator()(const ReportReady& event) {
    value["event"] = "report";
    value["kind"] = utf8(event.report.kind);
    json parsed = json::parse(event.report.json, nullptr, /*allow_exceptions=*/false);
    value["report"] = parsed.is_discarded() ? json(utf8(event.report.json)) : std::move(parsed);
  }
  void operator()(const StageFinished& event) {
    value["event"] = "stage_finished";
    about(event.stage);
    value["ok"] = event.ok;
    value["skipped"] = event.skipped;
    value["elapsed_ms"] = event.elapsed.count();
    if (event.error) value["error"] = to(*event.error);
  }
  void operator()(const RunFinished& event) {
    value["event"] = "run_finished";
    value["code"] = static_cast<int>(event.code);
    value["all_codes"] = json::array();
    for (const ExitCode code : event.all_codes) value["all_codes"].push_back(static_cast<int>(code));
    value["hosts"] = json::object();
    for (const HostClass host : {HostClass::ok, HostClass::failed, HostClass::unreachable, HostClass::timed_out, HostClass::lost, HostClass::skipped}) {
      value["counts"][std::string(to_string(host))] = 0;
    }
    for (const auto& [node, host] : event.summary.hosts) {
      value["hosts"][utf8(node)] = std::string(to_string(host));
      auto& count = value["counts"][std::string(to_string(host))];
      count = count.get<int>() + 1;
    }
    value["total"] = event.summary.hosts.size();
    value["elapsed_ms"] = event.elapsed.count();
    value["interrupted"] = event.interrupted;
    if (event.died) value["died"] = true;
  }
};

template <class E>
json object(const E& event, const EventJsonOptions& options) {
  Writer writer{options};
  writer(event);
  if (!options.at.empty()) writer.value["at"] = options.at;
  return std::move(writer.value);
}

}  // namespace

std::string event_to_json(const Event& event, const EventJsonOptions& options) {
  return std::visit([&](const auto& known) { return object(known, options).dump(); }, event);
}

std::string summary_json(const RunFinished& finished, const EventJsonOptions& options) { return object(finished, options).dump(2) + "\n"; }

}  // namespace sskj::run
