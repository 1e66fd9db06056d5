// Durations and sizes as users write them.
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

#include "sskj/core/text.hpp"

namespace sskj::text {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};
constexpr std::array k_time_units{Unit{"ms", 1}, Unit{"s", 1000}, Unit{"m", 60'000}, Unit{"h", 3'600'000}, Unit{"d", 86'400'000}};
constexpr std::int64_t k_longest_ms = 366LL * 86'400'000;  // a year: longer is a typo

Error bad_duration(std::string_view text, std::string_view why) {
  return Error{Errc::usage, "'" + std::string(text) + "' is not a duration: " + std::string(why), "write e.g. 90s, 15m or 1h30m"};
}

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text, bool bare_seconds) {
  std::string_view rest = text;
  std::int64_t total = 0;
  if (rest.empty()) return tl::unexpected(bad_duration(text, "it is empty"));
  while (!rest.empty()) {
    std::int64_t number = 0;
    const auto [end, ec] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (ec != std::errc{} || number < 0 || rest.front() == '-') return tl::unexpected(bad_duration(text, "a number is expected"));
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    std::size_t length = 0;
    while (length < rest.size() && rest[length] >= 'a' && rest[length] <= 'z') ++length;
    const std::string_view name = rest.substr(0, length);
    rest.remove_prefix(length);
    std::int64_t factor = 0;
    for (const Unit& unit : k_time_units) {
      if (unit.name == name) factor = unit.factor;
    }
    if (factor == 0 && name.empty() && bare_seconds && total == 0 && rest.empty()) factor = 1000;
    if (factor == 0) return tl::unexpected(bad_duration(text, name.empty() ? "the unit is missing" : "the unit is unknown (ms, s, m, h, d)"));
    if (number > k_longest_ms / factor || total + number * factor > k_longest_ms) return tl::unexpected(bad_duration(text, "longer than a year"));
    total += number * factor;
  }
  if (total == 0) return tl::unexpected(bad_duration(text, "0 would mean for ever or never"));
  return std::chrono::milliseconds(total);
}

std::string format_duration(std::chrono::milliseconds duration) {
  std::int64_t rest = duration.count();
  if (rest <= 0) return "0s";
  std::string text;
  for (std::size_t i = k_time_units.size() - 1; i > 0; --i) {  // d, h, m, s
    const std::int64_t count = rest / k_time_units[i].factor;
    rest %= k_time_units[i].factor;
    if (count > 0) text += std::to_string(count) + std::string(k_time_units[i].name);
  }
  if (rest > 0) text += std::to_string(rest) + "ms";
  return text;
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const auto bad = [&] { return fail(Errc::usage, "'" + std::string(text) + "' is not a size", "write e.g. 32g, 512m or a number of bytes"); };
  std::uint64_t number = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (ec != std::errc{}) return bad();
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  unsigned shift = 0;
  if (unit == "k" || unit == "kb" || unit == "K") {
    shift = 10;
  } else if (unit == "m" || unit == "mb" || unit == "M") {
    shift = 20;
  } else if (unit == "g" || unit == "gb" || unit == "G") {
    shift = 30;
  } else if (unit == "t" || unit == "tb" || unit == "T") {
    shift = 40;
  } else if (!unit.empty() && unit != "b") {
    return bad();
  }
  if (number > (std::numeric_limits<std::uint64_t>::max() >> shift)) return bad();
  return number << shift;
}

}  // namespace sskj::text
