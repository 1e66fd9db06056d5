#include "sskj/core/nodeset.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

namespace sskj::nodeset {
namespace {

constexpr std::size_t k_max_names = 4096;  // a typo such as [1-99999999] must not eat the memory
constexpr std::size_t k_max_digits = 9;

bool all_digits(std::string_view text) {
  return !text.empty() && text.size() <= k_max_digits && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

unsigned to_number(std::string_view digits) {
  unsigned value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::string padded(unsigned value, std::size_t width) {
  std::string digits = std::to_string(value);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

// Commas and blanks outside brackets separate; returns nullopt on an unbalanced bracket.
std::optional<std::vector<std::string_view>> split_outside_brackets(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') {
      if (inside) return std::nullopt;
      inside = true;
    } else if (c == ']') {
      if (!inside) return std::nullopt;
      inside = false;
    } else if (i == text.size() || (!inside && (c == ',' || std::isspace(static_cast<unsigned char>(c)) != 0))) {
      if (inside) return std::nullopt;
      if (i > begin) parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return parts;
}

Result<std::vector<std::string>> expand_ranges(std::string_view body, std::string_view whole) {
  std::vector<std::string> out;
  const auto bad = [&](std::string_view why) {
    return fail(Errc::usage, "node set '" + std::string(whole) + "': " + std::string(why), "write ranges as name[1-3,7]");
  };
  std::size_t begin = 0;
  while (begin <= body.size()) {
    const std::size_t comma = std::min(body.find(',', begin), body.size());
    const std::string_view range = body.substr(begin, comma - begin);
    const std::size_t dash = range.find('-');
    const std::string_view first = range.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
    if (!all_digits(first) || !all_digits(last)) return bad("'" + std::string(range) + "' is not a range of numbers");
    const unsigned from = to_number(first);
    const unsigned to = to_number(last);
    if (from > to) return bad("the range '" + std::string(range) + "' runs backwards");
    if (to - from >= k_max_names) return bad("more than 4096 names");
    const std::size_t width = first.size() > 1 && first.front() == '0' ? first.size() : 0;
    for (unsigned value = from; value <= to; ++value) out.push_back(padded(value, width));
    if (out.size() > k_max_names) return bad("more than 4096 names");
    begin = comma + 1;
  }
  return out;
}

Result<std::vector<std::string>> expand_one(std::string_view text) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos) return std::vector<std::string>{std::string(text)};
  const std::size_t close = text.find(']', open);
  auto middle = expand_ranges(text.substr(open + 1, close - open - 1), text);
  if (!middle) return tl::unexpected<Error>(std::move(middle.error()));
  auto tail = expand_one(text.substr(close + 1));  // close exists: brackets are balanced
  if (!tail) return tail;
  if (middle->size() * tail->size() > k_max_names) return fail(Errc::usage, "node set '" + std::string(text) + "': more than 4096 names");
  std::vector<std::string> out;
  for (const std::string& number : *middle) {
    for (const std::string& rest : *tail) out.push_back(std::string(text.substr(0, open)) + number + rest);
  }
  return out;
}

struct Split {
  std::string prefix, digits, suffix;
};

// The last run of digits varies: 174.1.60.5 -> prefix 174.1.60., digits 5. Names with brackets or without digits stay as they are.
std::optional<Split> split_name(const std::string& name) {
  if (name.find_first_of("[], ") != std::string::npos) return std::nullopt;
  const std::size_t last = name.find_last_of("0123456789");
  if (last == std::string::npos) return std::nullopt;
  std::size_t first = last;
  while (first > 0 && std::isdigit(static_cast<unsigned char>(name[first - 1])) != 0 && last - first + 1 < k_max_digits) --first;
  return Split{name.substr(0, first), name.substr(first, last - first + 1), name.substr(last + 1)};
}

std::string fold_numbers(std::vector<std::pair<unsigned, std::size_t>> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1].first == numbers[j].first + 1 && numbers[j + 1].second == numbers[i].second) ++j;
    if (!text.empty()) text += ',';
    text += padded(numbers[i].first, numbers[i].second);
    if (j > i) text += '-' + padded(numbers[j].first, numbers[j].second);
    i = j + 1;
  }
  return text;
}

}  // namespace

Result<std::vector<std::string>> expand(std::string_view text) {
  const auto parts = split_outside_brackets(text);
  if (!parts) return fail(Errc::usage, "node set '" + std::string(text) + "': brackets do not match", "write ranges as name[1-3,7]");
  std::vector<std::string> out;
  std::unordered_set<std::string> seen;
  for (const std::string_view part : *parts) {
    auto names = expand_one(part);
    if (!names) return names;
    for (std::string& name : *names) {
      if (seen.insert(name).second) out.push_back(std::move(name));
    }
    if (out.size() > k_max_names) return fail(Errc::usage, "node set '" + std::string(text) + "': more than 4096 names");
  }
  return out;
}

std::string fold(std::span<const std::string> names) {
  struct Family {
    std::string prefix, suffix;
    std::vector<std::pair<unsigned, std::size_t>> numbers;  // value, padded width (0 = none)
  };
  std::vector<Family> families;
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  std::unordered_set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) continue;
    const auto split = split_name(name);
    if (!split) {
      families.push_back({name, {}, {}});
      continue;
    }
    const auto [it, fresh] = index.try_emplace({split->prefix, split->suffix}, families.size());
    if (fresh) families.push_back({split->prefix, split->suffix, {}});
    const std::size_t width = split->digits.size() > 1 && split->digits.front() == '0' ? split->digits.size() : 0;
    families[it->second].numbers.emplace_back(to_number(split->digits), width);
  }
  std::string text;
  for (const Family& family : families) {
    if (!text.empty()) text += ',';
    text += family.prefix;
    if (family.numbers.size() == 1) {
      text += padded(family.numbers.front().first, family.numbers.front().second);
    } else if (!family.numbers.empty()) {
      text += '[' + fold_numbers(family.numbers) + ']';
    }
    text += family.suffix;
  }
  return text;
}

}  // namespace sskj::nodeset
