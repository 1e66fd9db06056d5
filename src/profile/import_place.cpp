#include "import_place.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "import_shell.hpp"
#include "sskj/core/shell.hpp"
#include "sskj/core/text.hpp"
#include "sskj/profile/profile.hpp"

namespace sskj::profile {

std::string env_quote(std::string_view value) {
  constexpr std::string_view k_plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-[]^{}";
  if (!value.empty() && value.find_first_not_of(k_plain) == std::string_view::npos) {
    return std::string(value);
  }
  std::string out = "'";
  for (const char c : value) {
    out += c == '\'' ? std::string("'\"'\"'") : std::string(1, c);
  }
  return out + "'";
}

// Each line is tried alone: what our own parser refuses must not reach the result.
std::string Placer::problem(const std::string& key, const std::string& value) const {
  ParseOptions options;
  options.file = "import.env";
  const bool node = key.starts_with("NODE_");
  const std::string nodes = node && has("NODES") ? "NODES=" + env_quote(this->value("NODES")) + "\n" : std::string();
  const Parsed parsed = parse(nodes + key + "=" + env_quote(value) + "\n", options);
  for (const Diagnostic& diagnostic : parsed.diagnostics) {
    if (diagnostic.severity == Severity::error) {
      return diagnostic.hint.empty() ? diagnostic.message : diagnostic.message + " (" + diagnostic.hint + ")";
    }
  }
  return {};
}

void Placer::refuse(std::size_t line, std::string_view raw, std::string reason) { unplaced_.push_back({line, shown_source(raw), std::move(reason)}); }

void Placer::set(const std::string& key, const std::string& value, std::size_t line, std::string_view raw) {
  const auto it = entries_.find(key);
  if (it != entries_.end()) {
    if (it->second.value != value) {
      refuse(line, raw, fmt::format("{} is set already, to another value", key));
    }
    return;
  }
  if (std::string reason = problem(key, value); !reason.empty()) {
    refuse(line, raw, std::move(reason));
    return;
  }
  entries_[key].value = value;
  order_.push_back(key);
}

void Placer::add(const std::string& key, const std::vector<std::string>& words, std::size_t line, std::string_view raw) {
  if (std::string reason = problem(key, shell::join(words)); !reason.empty()) {
    refuse(line, raw, std::move(reason));
    return;
  }
  if (!has(key)) {
    order_.push_back(key);
  }
  Entry& entry = entries_[key];
  entry.list = true;
  entry.words.insert(entry.words.end(), words.begin(), words.end());
}

std::string Placer::value(const std::string& key) const {
  const auto it = entries_.find(key);
  return it == entries_.end() ? std::string() : it->second.list ? shell::join(it->second.words) : it->second.value;
}

Imported Placer::finish(const std::string& file) && {
  Imported out;
  out.env_text = fmt::format("# Imported from {}. Keys and grammar: docs/profile.md.\n\n", text::printable(file));
  for (const std::string& key : order_) {
    const Entry& entry = entries_[key];
    if (!entry.list || !entry.words.empty()) {
      out.env_text += key + "=" + env_quote(value(key)) + "\n";
    }
  }
  std::stable_sort(unplaced_.begin(), unplaced_.end(), [](const Unplaced& a, const Unplaced& b) { return a.line < b.line; });
  if (!unplaced_.empty()) {
    out.env_text += "\n# Not placed:\n";
  }
  for (const Unplaced& item : unplaced_) {
    out.env_text += fmt::format("# line {}: {}: {}\n", item.line, item.text, text::printable(item.reason));
  }
  out.unplaced = std::move(unplaced_);
  return out;
}

}  // namespace sskj::profile
