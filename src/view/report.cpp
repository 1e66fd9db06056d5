#include "sskj/view/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "columns.hpp"
#include "json_text.hpp"
#include "sskj/core/text.hpp"

namespace sskj::view {

namespace {

using nlohmann::json;

constexpr std::string_view k_absent = "-";

std::string scalar(const json& value) {
  if (value.is_string()) {
    return text::printable(value.get_ref<const std::string&>());
  }
  return value.is_number() || value.is_boolean() ? value.dump() : std::string(k_absent);
}

const json& member(const json& object, const char* key) {
  static const json k_null;
  const auto at = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && at != object.end() ? *at : k_null;
}

std::string field(const json& object, const char* key, std::string_view absent = k_absent) {
  const std::string text = scalar(member(object, key));
  return text.empty() || text == k_absent ? std::string(absent) : text;
}

const json& list(const json& object, const char* key) {
  static const json k_empty = json::array();
  const json& value = member(object, key);
  return value.is_array() ? value : k_empty;
}

std::string short_id(std::string id) {
  if (id.starts_with("sha256:")) {
    id.erase(0, 7);
  }
  return id.substr(0, 12);
}

// Docker writes nanoseconds; seconds are enough for people. A container that never started has year 1.
std::string short_time(const std::string& time) {
  if (time.starts_with("0001-")) {
    return std::string(k_absent);
  }
  const std::size_t dot = time.find('.');
  return dot == std::string::npos ? time : time.substr(0, dot) + "Z";
}

std::string rank_state(const json& rank) {
  std::string state = field(rank, "state", "unknown");
  const json& code = member(rank, "exit_code");
  if (state == "exited" && code.is_number_integer()) {
    state += fmt::format(" ({})", code.dump());
  }
  const json& restarts = member(rank, "restarts");
  if (restarts.is_number_integer() && restarts.get<std::int64_t>() > 0) {
    state += fmt::format(", restarted {}x", restarts.dump());
  }
  return state;
}

std::string health_of(const json& rank) {
  const std::string health = field(rank, "health", "unknown");
  const std::string status = field(rank, "http_status", "");
  return status.empty() || status == "0" || health == status ? health : fmt::format("{} ({})", health, status);
}

Tone tone_of(std::string_view state) {
  if (state == "ready" || state == "correct") {
    return Tone::good;
  }
  return state == "starting" || state == "absent" ? Tone::warn : Tone::bad;
}

std::string diffs_text(const json& rank) {
  std::string result;
  for (const json& diff : list(rank, "diff")) {
    result += fmt::format("  {} rank on {}: {}: want {}, have {}\n", "~", field(rank, "node"), field(diff, "field"), field(diff, "want", "nothing"), field(diff, "have", "nothing"));
  }
  return result;
}

std::string holder_text(const json& lock) {
  const std::string age = field(lock, "age", "");
  const std::string beat = field(lock, "beat_age", "");
  const json& stale = member(lock, "stale");
  std::string heart = beat.empty() ? ", no heartbeat" : fmt::format(", last beat {} s ago", beat);
  if (stale.is_boolean() && stale.get<bool>()) {
    heart = ", its run is gone: the next start or stop takes the lock over";
  }
  return fmt::format("{} from {}: {} of {} (run {}, since {}{}{})", field(lock, "owner"), field(lock, "client"), field(lock, "verb"), field(lock, "deployment"), field(lock, "run"),
                     field(lock, "since"), age.empty() ? "" : ", " + age + " s ago", heart);
}

std::string lock_text(const json& report, bool /*color*/) {
  std::vector<std::vector<std::string>> rows{{"NODE", "CLAIMED BY", "LOCKED BY"}};
  for (const json& node : list(report, "nodes")) {
    const json& lock = member(node, "lock");
    rows.push_back({field(node, "node"), field(member(node, "claim"), "deployment"), lock.is_object() ? holder_text(lock) : std::string(k_absent)});
  }
  for (const json& node : list(report, "not_asked")) {
    rows.push_back({scalar(node), "unknown", "unknown"});
  }
  return table(rows);
}

std::string status_text(const json& report, bool color) {
  std::vector<std::vector<std::string>> rows{{"GROUP", "RANK", "NODE", "CONTAINER", "STATE", "HEALTH", "IMAGE", "SINCE"}};
  std::string diffs;
  for (const json& group : list(report, "groups")) {
    for (const json& rank : list(group, "ranks")) {
      rows.push_back({field(group, "name"), field(rank, "rank"), field(rank, "node"), field(rank, "container"), rank_state(rank), health_of(rank),
                      short_id(field(rank, "image_id")), short_time(field(rank, "started_at"))});
      diffs += diffs_text(rank);
    }
  }
  const std::string state = field(report, "state", "unknown");
  std::string result = fmt::format("{}: {}\n", field(report, "deployment"), paint(tone_of(state), state, color));
  result += rows.size() > 1 ? table(rows) : std::string{};
  result += diffs;
  const json& lock = member(report, "lock");
  if (lock.is_object()) {
    result += fmt::format("locked by {}\n", holder_text(lock));
  }
  for (const json& problem : list(report, "problems")) {
    const std::string text = problem.is_string() ? scalar(problem) : (problem.is_object() ? field(problem, "message") : text::printable(problem.dump(-1, ' ', false, json::error_handler_t::replace)));
    result += fmt::format("{} {}\n", paint(Tone::bad, "problem:", color), text);
    const std::string hint = field(problem, "hint", "");
    result += hint.empty() ? "" : fmt::format("  next: {}\n", hint);
  }
  return result + fmt::format("endpoint: {}\n", field(report, "endpoint"));
}

std::string smoke_verdict(const json& report) {
  const json& correct = member(report, "correct");
  if (!correct.is_boolean()) {
    return "unknown";
  }
  if (correct.get<bool>()) {
    return "correct";
  }
  return field(report, "finish_reason") == "length" ? "cut off (finish_reason length)" : "wrong";
}

std::string smoke_text(const json& report, bool color) {
  const std::string verdict = smoke_verdict(report);
  const json& models = member(report, "models_ok");
  std::vector<std::vector<std::string>> rows{{"model:", field(report, "model") + (models.is_boolean() ? (models.get<bool>() ? "" : " (not in /v1/models)") : " (/v1/models unknown)")},
                                             {"question:", field(report, "question")},
                                             {"answer:", cut(field(report, "answer"), 400)}};
  if (field(report, "answer") == k_absent && field(report, "reasoning") != k_absent) {
    rows.push_back({"reasoning:", cut(field(report, "reasoning"), 400)});
  }
  rows.push_back({"expected:", field(report, "expected")});
  return table(rows) + fmt::format("verdict:   {}\n", paint(tone_of(verdict), verdict, color));
}

struct Row {
  ReportRow row;
  std::string (*text)(const json&, bool color);
};

// table: kinds of report with a text of their own
constexpr std::array k_rows{Row{{"status", "what runs, per group and rank"}, status_text}, Row{{"smoke", "the smoke question and its answer"}, smoke_text},
                            Row{{"lock", "who holds the nodes"}, lock_text}};
constexpr std::array k_kinds{k_rows[0].row, k_rows[1].row, k_rows[2].row};
static_assert(k_kinds.size() == k_rows.size());

}  // namespace

std::span<const ReportRow> report_kinds() { return k_kinds; }

std::string report_text(std::string_view kind, std::string_view json_text, bool color) {
  const json report = json::parse(json_text, nullptr, false);
  if (report.is_discarded()) {
    return fmt::format("{}: unreadable report: {}\n", text::printable(kind), remote_line(json_text, 2000));
  }
  const auto row = std::find_if(k_rows.begin(), k_rows.end(), [kind](const Row& entry) { return entry.row.kind == kind; });
  return row != k_rows.end() && report.is_object() ? row->text(report, color) : dump(report) + "\n";
}

}  // namespace sskj::view
