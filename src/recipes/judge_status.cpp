// Verdicts over a status stage.
#include <algorithm>

#include "judges.hpp"
#include "sskj/checks/check.hpp"
#include "sskj/core/text.hpp"
#include "status_report.hpp"

namespace sskj::recipes {
namespace {

Json optional(const std::optional<int>& value) { return value ? Json(*value) : Json(nullptr); }
Json text_or_null(const std::string& value) { return value.empty() ? Json(nullptr) : Json(text::to_valid_utf8(value)); }

Json rank_json(const RankStatus& rank) {
  Json diff = Json::array();
  for (const auto& one : rank.diff) diff.push_back({{"field", text::to_valid_utf8(one.field)}, {"want", text::to_valid_utf8(one.want)}, {"have", text::to_valid_utf8(one.have)}});
  return {{"rank", rank.rank},
          {"node", rank.node},
          {"container", rank.container},
          {"state", rank.state.empty() ? "unknown" : text::to_valid_utf8(rank.state)},
          {"id", text_or_null(rank.id)},
          {"exit_code", optional(rank.exit_code)},
          {"restarts", optional(rank.restarts)},
          {"started_at", text_or_null(rank.started_at)},
          {"image_id", text_or_null(rank.image_id)},
          {"run", text_or_null(rank.run)},
          {"plan", text_or_null(rank.plan)},
          {"health", to_string(rank.health)},
          {"http_status", optional(rank.http_status)},
          {"diff", std::move(diff)}};
}

Json report_json(const StatusReport& report, const std::string& state) {
  Json groups = Json::array();
  for (const auto& group : report.groups) {
    Json ranks = Json::array();
    for (const auto& rank : group.ranks) ranks.push_back(rank_json(rank));
    groups.push_back({{"name", group.name}, {"role", group.role}, {"ranks", std::move(ranks)}});
  }
  Json lock = nullptr;
  if (!report.locks.empty()) {
    lock = report.locks.front().second;
    lock["nodes"] = Json::array();
    for (const auto& [node, one] : report.locks) {
      if (text_of(one, "run") == text_of(lock, "run")) lock["nodes"].push_back(node);
    }
  }
  Json problems = Json::array();
  for (const auto& problem : report.problems) problems.push_back(text::to_valid_utf8(problem));
  return {{"schema_version", 1}, {"deployment", report.deployment}, {"state", state},       {"endpoint", report.endpoint},
          {"groups", groups},    {"lock", std::move(lock)},         {"problems", problems}, {"not_asked", report.not_asked}};
}

bool as_wanted(const StatusReport& report) {
  for (const auto& group : report.groups) {
    for (const auto& rank : group.ranks) {
      if (rank.state != "running" || rank.restarts.value_or(0) > 0 || !rank.diff.empty()) return false;
    }
  }
  return true;
}

}  // namespace

run::Verdict judge_status_node(const plan::Step& step, std::string_view, const run::StepResult& result) {
  checks::Output out;
  out.text = result.out;
  if (result.exit_status == 0 && out.ended()) return accept();
  return reject(Errc::unreachable, step.node + ": the node did not answer the whole question");
}

run::Verdict report_status(const plan::Stage&, std::string_view expectation, const NodeOutputs& nodes) {
  const auto report = read_status(object_of(expectation), nodes);
  const auto state = overall(report);
  run::Verdict verdict;
  verdict.reports.push_back({"status", report_json(report, state).dump(-1, ' ', false, Json::error_handler_t::replace)});
  verdict.ok = state == "ready";
  if (verdict.ok) return verdict;
  const auto code = report.not_asked.empty() ? Errc::not_ready : Errc::unreachable;
  verdict.error = Error{code, "deployment " + report.deployment + " is " + state + (report.problems.empty() ? "" : ": " + text::printable(report.problems.front())), ""};
  return verdict;
}

run::Verdict judge_must_start(const plan::Stage&, std::string_view expectation, const NodeOutputs& nodes) {
  const auto report = read_status(object_of(expectation), nodes);
  if (!report.not_asked.empty()) return reject(Errc::unreachable, report.problems.empty() ? "a node could not be asked" : report.problems.front());
  if (overall(report) == "unknown") return reject(Errc::not_ready, report.problems.empty() ? "it cannot be told what runs" : report.problems.front());
  if (as_wanted(report)) return reject(Errc::drift, "every rank runs as the profile wants it: nothing is replaced");
  return accept();
}

}  // namespace sskj::recipes
