// JSON -> Event, leniently: a journal outlives the program that wrote it, and attach must show what can be shown.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "sskj/run/event_json.hpp"

namespace sskj::run {
namespace {

using nlohmann::json;

constexpr int k_deepest = 64;  // nesting; ours has six, and what shows a report goes down its levels by recursion

// What a word that this version does not know means: the most doubtful of its kind.
constexpr HostClass k_doubtful_host = HostClass::lost;
constexpr StepStatus k_doubtful_status = StepStatus::lost;
constexpr FindingStatus k_doubtful_finding = FindingStatus::unknown;
constexpr Errc k_doubtful_error = Errc::internal;

template <class E>
E word(std::string_view text, E last, E doubtful) {
  for (int value = 0; value <= static_cast<int>(last); ++value) {
    if (to_string(static_cast<E>(value)) == text) return static_cast<E>(value);
  }
  return doubtful;
}

/// The members of one object. The first member of another type is remembered and everything after it is a default.
class Members {
 public:
  Members(const json& object, std::optional<std::string>& fault) : object_(object), fault_(fault) {}

  [[nodiscard]] const json* find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  std::string text(const char* name) const {
    const json* value = find(name);
    if (value == nullptr) return {};
    if (!value->is_string()) return wrong(name, "a string", *value), std::string();
    return value->get<std::string>();
  }
  bool flag(const char* name) const {
    const json* value = find(name);
    if (value == nullptr) return false;
    if (!value->is_boolean()) return wrong(name, "true or false", *value), false;
    return value->get<bool>();
  }
  /// A whole number from `least` to `most`; one outside is a fault like another type.
  std::int64_t number(const char* name, std::int64_t absent = 0, std::int64_t least = 0, std::int64_t most = std::numeric_limits<std::int64_t>::max()) const {
    const json* value = find(name);
    return value == nullptr ? absent : whole(name, *value, least, most);
  }
  std::size_t size(const char* name, std::size_t absent = 0) const { return static_cast<std::size_t>(number(name, static_cast<std::int64_t>(absent))); }
  Millis millis(const char* name) const { return Millis(number(name, 0, std::numeric_limits<std::int32_t>::min(), k_longest.count())); }
  std::int64_t whole(const char* name, const json& value, std::int64_t least, std::int64_t most) const {
    const bool huge = value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!value.is_number_integer() || huge) return wrong(name, "a whole number", value), least;
    const auto number = value.get<std::int64_t>();
    if (number < least || number > most) return wrong(name, "a number in range", value), least;
    return number;
  }
  /// Calls `each` with the elements of an array; nothing where the member is absent.
  template <class Each>
  void list(const char* name, Each each) const {
    const json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_array()) return wrong(name, "an array", *value);
    for (const json& element : *value) each(element);
  }
  [[nodiscard]] std::optional<Members> object(const char* name) const {
    const json* value = find(name);
    if (value == nullptr || value->is_null()) return std::nullopt;
    return as_object(name, *value);
  }
  [[nodiscard]] std::optional<Members> as_object(const char* name, const json& value) const {
    if (!value.is_object()) return wrong(name, "an object", value), std::nullopt;
    return Members(value, fault_);
  }
  [[nodiscard]] const json& value() const { return object_; }
  void wrong(const char* name, std::string_view expected, const json& got) const {
    if (!fault_) fault_ = fmt::format("{}: expected {}, got {}", name, expected, got.type_name());
  }

 private:
  static constexpr Millis k_longest = std::chrono::hours(24 * 365 * 100);
  const json& object_;
  std::optional<std::string>& fault_;
};

std::optional<Error> error_of(const Members& from) {
  const auto object = from.object("error");
  if (!object) return std::nullopt;
  return Error{word(object->text("code"), Errc::internal, k_doubtful_error), object->text("message"), object->text("hint")};
}

Finding finding_of(const Members& from) {
  Finding finding;
  finding.check = from.text("check");
  finding.status = word(from.text("status"), FindingStatus::not_applicable, k_doubtful_finding);
  finding.node = from.text("node");
  finding.expected = from.text("expected");
  finding.got = from.text("got");
  finding.message = from.text("message");
  finding.hint = from.text("hint");
  if (from.find("failure") != nullptr) finding.failure = word(from.text("failure"), Errc::internal, k_doubtful_error);
  return finding;
}

ExitCode exit_code_of(const Members& from, const char* name, const json& value) { return static_cast<ExitCode>(from.whole(name, value, 0, 255)); }

std::optional<HttpResponse> http_of(const Members& from) {
  const auto object = from.object("http");
  if (!object) return std::nullopt;
  HttpResponse http;
  http.status = static_cast<int>(object->number("status", 0, 0, 999));
  http.body = object->text("body");
  http.truncated = object->flag("truncated");
  http.elapsed = object->millis("elapsed_ms");
  return http;
}

/// What the line holds of an output is its end; the rest counts as dropped.
void output_of(const Members& from, const char* name, const char* bytes, std::string& text, std::size_t& dropped) {
  text = from.text(name);
  const std::size_t all = from.size(bytes, text.size());
  dropped = all - std::min(all, text.size());
}

using Plan = const PlanIndex&;

Event run_started(const Members& from, Plan plan) {
  return RunStarted{&plan.plan(), {from.text("run"), from.text("plan_digest"), from.text("since")}, from.text("directory")};
}
Event stage_started(const Members& from, Plan plan) {
  return StageStarted{plan.stage(from.text("stage")), from.size("number"), from.size("count"), from.flag("undo"), from.flag("always")};
}
Event step_started(const Members& from, Plan plan) { return StepStarted{plan.step(from.text("step"))}; }
Event step_output(const Members& from, Plan plan) {
  return StepOutput{plan.step(from.text("step")), from.text("stream") == "err" ? Stream::err : Stream::out, from.text("text"), from.flag("watch")};
}
Event step_retried(const Members& from, Plan plan) { return StepRetried{plan.step(from.text("step")), from.text("reason")}; }
Event step_progress(const Members& from, Plan plan) { return StepProgress{plan.step(from.text("step")), from.text("text")}; }
Event phase(const Members& from, Plan /*plan*/) {
  return PhaseReported{{from.text("node"), from.text("step"), from.text("phase"), from.size("done"), from.size("total"), from.flag("fatal"), from.text("line"), from.text("cause"),
                        from.text("hint")}};
}
Event step_finished(const Members& from, Plan plan) {
  StepResult result;
  result.step = from.text("step");
  result.node = from.text("node");
  result.status = word(from.text("status"), StepStatus::skipped, k_doubtful_status);
  result.error = error_of(from);
  if (from.find("exit_status") != nullptr) result.exit_status = static_cast<int>(from.number("exit_status", 0, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
  output_of(from, "out", "out_bytes", result.out, result.out_dropped);
  output_of(from, "err", "err_bytes", result.err, result.err_dropped);
  result.http = http_of(from);
  from.list("findings", [&](const json& one) {
    if (const auto finding = from.as_object("findings", one)) result.findings.push_back(finding_of(*finding));
  });
  result.elapsed = from.millis("elapsed_ms");
  result.attempts = static_cast<unsigned>(from.number("attempts", 1, 0, std::numeric_limits<std::int32_t>::max()));
  result.expected = from.text("expected");
  result.got = from.text("got");
  from.list("last_lines", [&](const json& one) {
    if (!one.is_string()) return from.wrong("last_lines", "strings", one);
    result.last_lines.push_back(one.get<std::string>());
  });
  const plan::Step* step = plan.step(result.step);
  return StepFinished{step, std::move(result)};
}
Event finding(const Members& from, Plan /*plan*/) { return FindingReported{finding_of(from)}; }
Event report(const Members& from, Plan /*plan*/) {
  const json* value = from.find("report");
  if (value == nullptr) return ReportReady{{from.text("kind"), ""}};
  // A report that was not JSON stands there as text.
  return ReportReady{{from.text("kind"), value->is_string() ? value->get<std::string>() : value->dump(-1, ' ', false, json::error_handler_t::replace)}};
}
Event stage_finished(const Members& from, Plan plan) {
  return StageFinished{plan.stage(from.text("stage")), from.flag("ok"), from.flag("skipped"), from.millis("elapsed_ms"), error_of(from)};
}
Event run_finished(const Members& from, Plan /*plan*/) {
  RunFinished finished;
  if (const json* code = from.find("code")) finished.code = exit_code_of(from, "code", *code);
  from.list("all_codes", [&](const json& one) { finished.all_codes.push_back(exit_code_of(from, "all_codes", one)); });
  if (const auto hosts = from.object("hosts")) {
    for (const auto& [node, host] : hosts->value().items()) finished.summary.hosts[node] = word(hosts->text(node.c_str()), HostClass::skipped, k_doubtful_host);
  }
  finished.elapsed = from.millis("elapsed_ms");
  finished.interrupted = from.flag("interrupted");
  finished.died = from.flag("died");
  return finished;
}

struct Kind {
  std::string_view name;
  Event (*read)(const Members&, Plan);
};

// table: kinds of events
constexpr std::array k_kinds{Kind{"run_started", run_started},     Kind{"stage_started", stage_started}, Kind{"step_started", step_started},
                             Kind{"step_output", step_output},     Kind{"step_retried", step_retried},   Kind{"step_progress", step_progress},
                             Kind{"phase", phase},                 Kind{"step_finished", step_finished}, Kind{"finding", finding},
                             Kind{"report", report},               Kind{"stage_finished", stage_finished}, Kind{"run_finished", run_finished}};
static_assert(k_kinds.size() == std::variant_size_v<Event>);

}  // namespace

PlanIndex::PlanIndex(const plan::Plan& plan) : plan_(&plan) {
  for (const auto* stages : {&plan.stages, &plan.always}) {
    for (const auto& stage : *stages) {
      stages_.emplace(stage.id, &stage);
      for (const auto* steps : {&stage.steps, &stage.watch, &stage.undo}) {
        for (const auto& step : *steps) steps_.emplace(step.id, Entry{&step, steps == &stage.watch});
      }
    }
  }
}

const plan::Step* PlanIndex::step(std::string_view id) const {
  const auto found = steps_.find(id);
  return found == steps_.end() ? nullptr : found->second.step;
}

const plan::Stage* PlanIndex::stage(std::string_view id) const {
  const auto found = stages_.find(id);
  return found == stages_.end() ? nullptr : found->second;
}

bool PlanIndex::is_watch(std::string_view id) const {
  const auto found = steps_.find(id);
  return found != steps_.end() && found->second.watch;
}

Result<std::optional<ReadEvent>> event_from_json(std::string_view line, const PlanIndex& plan) {
  bool too_deep = false;
  const auto within = [&too_deep](int depth, json::parse_event_t /*event*/, const json& /*parsed*/) {
    too_deep = too_deep || depth > k_deepest;
    return !too_deep;
  };
  const json value = json::parse(line, within, /*allow_exceptions=*/false);
  if (too_deep) return fail(Errc::integrity, "it is nested too deeply");
  if (value.is_discarded()) return fail(Errc::integrity, "not JSON");
  if (!value.is_object()) return fail(Errc::integrity, fmt::format("an object was expected, got {}", value.type_name()));
  std::optional<std::string> fault;
  const Members members(value, fault);
  const std::string name = members.text("event");
  if (!fault && name.empty()) return fail(Errc::integrity, "it names no event");
  const auto* kind = std::find_if(k_kinds.begin(), k_kinds.end(), [&](const Kind& one) { return one.name == name; });
  if (!fault && kind == k_kinds.end()) return std::optional<ReadEvent>();
  std::optional<ReadEvent> read;
  if (!fault) read = ReadEvent{kind->read(members, plan), members.text("at")};
  if (fault) return fail(Errc::integrity, *fault);
  return read;
}

}  // namespace sskj::run
