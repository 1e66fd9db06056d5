#include "keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sskj/core/text.hpp"
#include "words.hpp"

namespace sskj::profile {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// '#' takes digits, '*' the (non-empty) rest.
bool match_pattern(std::string_view pattern, std::string_view key, EnvKey& out) {
  std::size_t k = 0;
  for (const char p : pattern) {
    if (p == '*') {
      out.name = std::string(key.substr(k));
      return !out.name.empty();
    }
    if (p == '#') {
      const std::size_t start = k;
      while (k < key.size() && is_digit(key[k])) {
        ++k;
      }
      out.index = std::string(key.substr(start, k - start));
      if (out.index.empty() || out.index.size() > 4) {
        return false;
      }
    } else if (k == key.size() || key[k++] != p) {
      return false;
    }
  }
  return k == key.size();
}

bool fits(std::string_view pattern, const std::vector<std::string>& path, bool env_row) {
  const std::vector<std::string> parts = split_path(pattern);
  if (parts.size() != path.size() && !(env_row && parts.size() + 1 == path.size())) {
    return false;
  }
  return std::equal(parts.begin(), parts.end(), path.begin(), [](const std::string& p, const std::string& c) { return p == "*" || p == c; });
}

}  // namespace

std::optional<EnvKey> match_env_key(std::string_view key) {
  for (const Row& row : schema()) {
    EnvKey out{&row, {}, {}};
    if (!row.env_key.empty() && match_pattern(row.env_key, key, out)) {
      return out;
    }
  }
  return std::nullopt;
}

std::string path_of(const EnvKey& key, std::string_view group) {
  std::string out;
  const std::vector<std::string> parts = split_path(key.row->path);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool star = parts[i] == "*";
    const bool is_group = star && i == 1 && key.row->scope != Scope::artifact;
    const std::string& other = key.row->scope == Scope::artifact ? key.name : key.index;
    out += (i == 0 ? "" : ".") + (is_group ? std::string(group) : star ? other : parts[i]);
  }
  return key.row->type == Type::env ? out + "." + key.name : out;
}

const Row* find_row(std::string_view path) {
  const std::vector<std::string> parts = split_path(path);
  for (const Row& row : schema()) {
    if (fits(row.path, parts, row.type == Type::env)) {
      return &row;
    }
  }
  return nullptr;
}

std::string shown_name(const Row& row, std::string_view path, const SourceRef& at) {
  const bool flag = at.file.starts_with("--set ") && at.file.find('.') == std::string::npos;  // --set PORT=...
  if ((!at.file.ends_with(".env") && !flag) || row.env_key.empty()) {
    return std::string(path);
  }
  const std::vector<std::string> parts = split_path(path);
  std::string out;
  for (const char c : row.env_key) {
    if (c == '#') {
      out += parts.size() > 3 ? parts[3] : "#";
    } else if (c == '*') {
      out += row.scope == Scope::artifact ? parts[1] : parts.back();
    } else {
      out += c;
    }
  }
  return out;
}

std::optional<std::string> nearest_env_key(std::string_view key) {
  std::string index = "0";
  if (text::nearest(key.substr(0, 5), std::vector<std::string>{"NODE_"})) {
    const std::size_t end = key.find_first_not_of("0123456789", 5);
    index = end == std::string_view::npos || end == 5 ? index : std::string(key.substr(5, end - 5));
  }
  std::vector<std::string> candidates;
  for (const Row& row : schema()) {
    std::string candidate(row.env_key);
    if (const std::size_t hash = candidate.find('#'); hash != std::string::npos) {
      candidate.replace(hash, 1, index);
    }
    if (!candidate.empty() && candidate.back() != '*') {
      candidates.push_back(std::move(candidate));
    }
  }
  return text::nearest(key, candidates);
}

std::optional<std::string> nearest_path(std::string_view path) {
  const std::vector<std::string> parts = split_path(path);
  std::vector<std::string> candidates;
  for (const Row& row : schema()) {
    std::string candidate;
    const std::vector<std::string> pattern = split_path(row.path);
    for (std::size_t i = 0; i < pattern.size() && pattern.size() == parts.size(); ++i) {
      candidate += (i == 0 ? "" : ".") + (pattern[i] == "*" ? parts[i] : pattern[i]);
    }
    if (!candidate.empty()) {
      candidates.push_back(std::move(candidate));
    }
  }
  return text::nearest(path, candidates);
}

std::string env_key_hint(std::string_view key) {
  if (const auto near = nearest_env_key(key)) {
    return fmt::format("did you mean {}?", *near);
  }
  return fmt::format("a variable for the container is written ENV_{}=..., a helper for ${{...}} VAR_{}=...", key, key);
}

namespace {

Value* child_of(Value& at, const std::string& part, const SourceRef& key_at, Diagnostics& diagnostics) {
  if (at.kind != Value::Kind::list) {
    Value& child = ensure(at, part, key_at);
    if (part == "nodes" && child.kind == Value::Kind::null) {
      child.kind = Value::Kind::list;
    }
    return &child;
  }
  std::size_t index = 0;
  const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), index);
  if (code != std::errc() || end != part.data() + part.size() || index > at.items.size()) {
    diagnostics.push_back({Severity::error, "node-index", fmt::format("there is no node {} in this group", part),
                           fmt::format("ranks count from 0; the group has {} nodes so far", at.items.size()), key_at, ""});
    return nullptr;
  }
  if (index == at.items.size()) {
    at.items.push_back(map_at(key_at));
  }
  return &at.items[index];
}

}  // namespace

bool set_path(Value& root, std::string_view path, Value value, const SourceRef& key_at, Diagnostics& diagnostics) {
  Value* at = &root;
  for (const std::string& part : split_path(path)) {
    at = child_of(*at, part, key_at, diagnostics);
    if (at == nullptr) {
      return false;
    }
  }
  *at = std::move(value);
  return true;
}

namespace {

// ARTIFACT_X="source=... target=...": one member for each word.
bool assign_artifact(Value& root, const std::string& name, const SourceRef& key_at, const Value& value, Diagnostics& diagnostics) {
  const auto words = split_words(value.text);
  if (!words) {
    diagnostics.push_back({Severity::error, "syntax", words.error().message, "", position(value, words.error().offset), ""});
    return true;
  }
  Value artifact = map_at(value.at);
  for (const ShellWord& word : *words) {
    const std::size_t equals = word.text.find('=');
    const SourceRef at = position(value, word.offset);
    const std::string key = word.text.substr(0, equals);
    if (equals == std::string::npos || key.empty()) {
      diagnostics.push_back({Severity::error, "bad-value", "an artifact is written as words KEY=value",
                             "keys: source, target, sha256, mode, path", at, ""});
    } else if (find(artifact, key) != nullptr) {
      diagnostics.push_back({Severity::error, "duplicate-key", fmt::format("{} is given twice", text::printable(key)), "keep one of them", at, ""});
    } else {
      Value& member = ensure(artifact, key, at);
      member = scalar(word.text.substr(equals + 1), at);
      member.origin = value.origin;
    }
  }
  return set_path(root, "artifacts." + name, std::move(artifact), key_at, diagnostics);
}

}  // namespace

bool assign_env_key(Value& root, std::string_view group, std::string_view key, const SourceRef& key_at, Value value, Diagnostics& diagnostics) {
  const auto match = match_env_key(key);
  if (!match) {
    diagnostics.push_back({Severity::error, "unknown-key", fmt::format("unknown key {}", text::printable(key)), env_key_hint(key), key_at, ""});
    return false;
  }
  if (match->row->scope == Scope::artifact) {
    return assign_artifact(root, match->name, key_at, value, diagnostics);
  }
  return set_path(root, path_of(*match, group), std::move(value), key_at, diagnostics);
}

}  // namespace sskj::profile
