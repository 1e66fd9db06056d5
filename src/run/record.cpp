#include "sskj/run/record.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "files.hpp"
#include "sskj/core/text.hpp"
#include "sskj/run/event_json.hpp"

namespace sskj::run {
namespace {

using nlohmann::json;

constexpr std::size_t k_max_info = std::size_t{1} << 20;     // bytes of run.json; a command line has its limit in the kernel
constexpr std::size_t k_max_summary = std::size_t{16} << 20;
constexpr std::size_t k_last_lines = std::size_t{1} << 20;   // bytes at the end of events.ndjson in which its last line is looked for

std::optional<unsigned> digits(std::string_view text, std::size_t at, std::size_t count) {
  unsigned value = 0;
  const char* const begin = text.data() + std::min(at, text.size());
  const char* const end = begin + std::min(count, text.size() - std::min(at, text.size()));
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc{} || stop != begin + count) return std::nullopt;
  return value;
}

/// Seconds since 1970; `at` are the places of year, month, day, hour, minute and second in `text`.
std::optional<std::int64_t> seconds_of(std::string_view text, const std::array<std::size_t, 6>& at) {
  std::array<unsigned, 6> value{};
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto number = digits(text, at[i], i == 0 ? 4 : 2);
    if (!number) return std::nullopt;
    value[i] = *number;
  }
  const std::chrono::year_month_day day{std::chrono::year(static_cast<int>(value[0])), std::chrono::month(value[1]), std::chrono::day(value[2])};
  if (!day.ok() || value[3] > 23 || value[4] > 59 || value[5] > 60) return std::nullopt;
  const auto days = std::chrono::sys_days(day).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(days).count() + value[3] * 3600 + value[4] * 60 + value[5];
}

std::string text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

RunInfo read_info(const std::string& directory) {
  RunInfo info;
  const auto text = read_whole(directory + "/run.json", k_max_info);
  const json value = text ? json::parse(*text, nullptr, /*allow_exceptions=*/false) : json();
  if (!value.is_object()) return info;
  info.verb = text_of(value, "verb");
  info.deployment = text_of(value, "deployment");
  info.profile = text_of(value, "profile");
  info.command = text_of(value, "command");
  const auto pid = value.find("pid");
  if (pid != value.end() && pid->is_number_unsigned()) info.pid = pid->get<std::int64_t>();
  return info;
}

std::optional<RunFinished> finished_in(std::string_view json_text) {
  const plan::Plan none;
  const auto read = event_from_json(json_text, PlanIndex(none));
  if (!read || !*read) return std::nullopt;
  const auto* finished = std::get_if<RunFinished>(&(*read)->event);
  return finished == nullptr ? std::nullopt : std::optional<RunFinished>(*finished);
}

// summary.json is written after the last event: where a full disk or a power cut came in between, that event still says how the run ended.
std::optional<RunFinished> read_finished(const std::string& directory) {
  if (const auto summary = read_whole(directory + "/summary.json", k_max_summary)) {
    if (auto finished = finished_in(*summary)) return finished;
  }
  const File events = open_file(directory + "/events.ndjson", O_RDONLY);
  struct stat info {};
  if (!events || ::fstat(events.fd(), &info) != 0 || info.st_size <= 0) return std::nullopt;
  const auto size = static_cast<std::size_t>(info.st_size);
  const auto tail = read_some(events, size - std::min(size, k_last_lines), k_last_lines);
  if (!tail || !tail->ends_with('\n')) return std::nullopt;
  const std::string_view lines(tail->data(), tail->size() - 1);
  const std::size_t newline = lines.rfind('\n');
  return finished_in(newline == std::string_view::npos ? lines : lines.substr(newline + 1));
}

std::optional<timespec> modified(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? std::optional<timespec>(info.st_mtim) : std::nullopt;
}

}  // namespace

std::string to_json(const RunInfo& info) {
  const auto valid = [](const std::string& text) { return text::to_valid_utf8(text); };
  return json{{"schema_version", 1},
              {"run", valid(info.run)},
              {"verb", valid(info.verb)},
              {"deployment", valid(info.deployment)},
              {"profile", valid(info.profile)},
              {"command", valid(info.command)},
              {"pid", info.pid}}
             .dump(2) +
         "\n";
}

std::string_view to_string(RunState state) {
  switch (state) {
    case RunState::running: return "running";
    case RunState::done: return "done";
    case RunState::failed: return "failed";
    case RunState::died: return "died";
  }
  return "died";
}

std::optional<std::int64_t> start_of_run(std::string_view id) {
  constexpr std::size_t k_stamp = 15;  // YYYYMMDD-HHMMSS
  if (id.size() < k_stamp + 2 || id[8] != '-' || id[k_stamp] != '-') return std::nullopt;
  const auto tail = id.substr(k_stamp + 1);
  const bool plain = std::all_of(tail.begin(), tail.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  return plain ? seconds_of(id, {0, 4, 6, 9, 11, 13}) : std::nullopt;
}

std::optional<Millis> parse_time(std::string_view text) {
  constexpr std::size_t k_whole = 19;  // 2026-01-01T00:00:00
  if (text.size() <= k_whole || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' || text.back() != 'Z') return std::nullopt;
  const auto seconds = seconds_of(text, {0, 5, 8, 11, 14, 17});
  if (!seconds) return std::nullopt;
  Millis fraction{0};
  if (text[k_whole] == '.') {
    std::string three(text.substr(k_whole + 1, text.size() - k_whole - 2));
    three.resize(3, '0');
    const auto value = digits(three, 0, 3);
    if (!value) return std::nullopt;
    fraction = Millis(*value);
  } else if (text.size() != k_whole + 1) {
    return std::nullopt;
  }
  return Millis(*seconds * 1000) + fraction;
}

std::string format_time(std::int64_t seconds) {
  const auto time = std::chrono::sys_seconds(std::chrono::seconds(seconds));
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()), static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::vector<std::string> list_runs(const std::string& runs_directory) {
  struct Entry {
    std::int64_t started;
    std::int64_t second, nanosecond;  // of plan.json: orders runs that began in the same second
    std::string id;
    bool operator<(const Entry& other) const { return std::tie(other.started, other.second, other.nanosecond, other.id) < std::tie(started, second, nanosecond, id); }
  };
  std::vector<Entry> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator it(runs_directory, error), end; !error && it != end; it.increment(error)) {
    const std::string id = it->path().filename().string();
    const auto started = start_of_run(id);
    std::error_code unreadable;
    if (!started || it->symlink_status(unreadable).type() != std::filesystem::file_type::directory) continue;
    const timespec made = modified(it->path().string() + "/plan.json").value_or(timespec{});
    entries.push_back({*started, made.tv_sec, made.tv_nsec, id});
  }
  std::sort(entries.begin(), entries.end());
  std::vector<std::string> ids;
  ids.reserve(entries.size());
  for (Entry& entry : entries) ids.push_back(std::move(entry.id));
  return ids;
}

RunRecord read_run(const std::string& runs_directory, const std::string& id) {
  RunRecord record;
  record.directory = runs_directory + "/" + id;
  const bool held = is_held(record.directory);  // before the rest: a run that ends meanwhile has written its end then
  record.info = read_info(record.directory);
  record.info.run = id;
  record.started = start_of_run(id).value_or(0);
  record.finished = read_finished(record.directory);
  if (const auto last = modified(record.directory + "/events.ndjson")) record.last_sign = last->tv_sec;
  if (record.finished) {
    record.state = record.finished->code == ExitCode::done ? RunState::done : RunState::failed;
  } else {
    record.state = held ? RunState::running : RunState::died;
  }
  return record;
}

bool is_held(const std::string& directory) {
  const File file = open_directory(directory);
  // A shared lock, given back at once: the run's own is taken before its directory has its name, so this cannot come in between.
  return file && ::flock(file.fd(), LOCK_SH | LOCK_NB) != 0;
}

}  // namespace sskj::run
