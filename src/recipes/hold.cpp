#include "hold.hpp"

#include <charconv>

#include "judges.hpp"
#include "sskj/core/text.hpp"

namespace sskj::recipes {
namespace {

bool is_number(std::string_view key) { return key == "age" || key == "beat_age" || key == "pid" || key == "version" || key == "uptime"; }

Json value_of(std::string_view key, std::string_view value) {
  if (key == "stale") return value == "1";
  long long number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (is_number(key) && error == std::errc{} && end == value.data() + value.size()) return number;
  return is_number(key) ? Json(nullptr) : Json(text::to_valid_utf8(value));
}

}  // namespace

Json read_hold(const checks::Output& output, std::string_view key) {
  Json object = Json::object();
  for (const auto& line : output.values(key)) {
    const auto equals = line.find('=');
    if (equals != std::string::npos) object[text::to_valid_utf8(line.substr(0, equals))] = value_of(line.substr(0, equals), std::string_view(line).substr(equals + 1));
  }
  if (!object.empty() && !object.contains("stale")) object["stale"] = false;
  return object;
}

run::Verdict report_holders(const plan::Stage&, std::string_view expectation, const NodeOutputs& nodes) {
  Json report{{"schema_version", 1}, {"deployment", text_of(object_of(expectation), "deployment")}, {"nodes", Json::array()}, {"not_asked", Json::array()}};
  run::Verdict verdict = accept();
  for (const auto& node : nodes) {
    checks::Output out;
    if (node.result != nullptr) out.text = node.result->out;
    if (node.result == nullptr || node.result->status != run::StepStatus::ok || !out.ended()) {
      report["not_asked"].push_back(node.node);
      const bool told = node.result != nullptr && node.result->error;
      if (!verdict.error) verdict = reject(Errc::unreachable, told ? node.result->error->message : node.node + ": could not be asked");
      continue;
    }
    auto lock = read_hold(out, "lock");
    auto claim = read_hold(out, "claim");
    claim.erase("stale");
    report["nodes"].push_back({{"node", node.node}, {"lock", lock.empty() ? Json(nullptr) : std::move(lock)}, {"claim", claim.empty() ? Json(nullptr) : std::move(claim)}});
  }
  verdict.reports.push_back({"lock", report.dump(-1, ' ', false, Json::error_handler_t::replace)});
  return verdict;
}

}  // namespace sskj::recipes
