#include "bind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "keys.hpp"
#include "leaf.hpp"
#include "leaf_text.hpp"
#include "sskj/core/text.hpp"

namespace sskj::profile {

namespace {

struct Target {
  Profile* profile = nullptr;
  GroupSetting* group = nullptr;
  NodeSetting* node = nullptr;
  ArtifactSetting* artifact = nullptr;

  template <class M>
  Profile* of(M Profile::* /*field*/) const { return profile; }
  template <class M>
  GroupSetting* of(M GroupSetting::* /*field*/) const { return group; }
  template <class M>
  NodeSetting* of(M NodeSetting::* /*field*/) const { return node; }
  template <class M>
  ArtifactSetting* of(M ArtifactSetting::* /*field*/) const { return artifact; }
};

template <class M>
void put(M& member, Leaf& leaf) {
  if constexpr (std::is_integral_v<M> && !std::is_same_v<M, bool>) {
    if (const auto* number = std::get_if<std::uint64_t>(&leaf)) {
      member = static_cast<M>(*number);
    }
  } else if (auto* value = std::get_if<M>(&leaf)) {
    member = std::move(*value);
  }
}

void store(const Field& field, const Target& target, Leaf leaf) {
  std::visit(
      [&](auto pointer) {
        if constexpr (!std::is_same_v<decltype(pointer), std::monostate>) {
          if (auto* object = target.of(pointer)) {
            put(object->*pointer, leaf);
          }
        }
      },
      field);
}

const Row* row_of(std::string_view pattern) {
  for (const Row& row : schema()) {
    if (row.path == pattern) {
      return &row;
    }
  }
  return nullptr;
}

bool has_rows_below(const std::string& pattern) {
  const std::string prefix = pattern + ".";
  return std::any_of(schema().begin(), schema().end(), [&](const Row& row) { return row.path.starts_with(prefix); });
}

std::string join(const std::string& path, std::string_view key) { return path.empty() ? std::string(key) : path + "." + std::string(key); }

// Names that may stand as a member at `pattern`, for "did you mean".
std::vector<std::string> names_at(const std::string& pattern) {
  std::set<std::string> names;
  const std::string prefix = pattern.empty() ? std::string() : pattern + ".";
  for (const Row& row : schema()) {
    if (row.path.starts_with(prefix)) {
      const std::string_view rest = row.path.substr(prefix.size());
      names.emplace(rest.substr(0, rest.find('.')));
    }
  }
  names.erase("*");
  return {names.begin(), names.end()};
}

std::string directory_of(const std::string& file) {
  if (file.starts_with("--set")) {
    return {};
  }
  const std::size_t slash = file.rfind('/');
  if (slash != std::string::npos) {
    return file.substr(0, slash);
  }
  return file.starts_with("embedded:") ? "embedded:" : std::string();
}

class Binder {
 public:
  Binder(Profile& profile, Diagnostics& diagnostics) : profile_(profile), diagnostics_(diagnostics) {}

  void run(const Value& root) {
    Target target;
    target.profile = &profile_;
    walk(root, "", "", target);
    emit_settings(root);
  }

 private:
  void error(const SourceRef& at, std::string id, std::string message, std::string hint = {}) {
    diagnostics_.push_back({Severity::error, std::move(id), std::move(message), std::move(hint), at, ""});
  }

  void walk(const Value& map, const std::string& path, const std::string& pattern, const Target& target) {
    if (map.kind != Value::Kind::map) {
      error(map.at, "bad-type", fmt::format("{}: expected a map of settings", path.empty() ? "the profile" : path));
      return;
    }
    profile_.where[path] = map.at;
    for (const Member& member : map.members) {
      visit(member, join(path, member.key), pattern, target);
    }
  }

  void visit(const Member& member, const std::string& path, const std::string& pattern, const Target& target) {
    const std::string child = join(pattern, member.key);
    const bool plain = member.key.find('.') == std::string::npos && member.key != "*";
    const Row* row = plain ? row_of(child) : nullptr;
    if (row != nullptr) {
      leaf(*row, member, path, target);
    } else if (plain && has_rows_below(child)) {
      walk(member.value, path, child, target);
    } else if (has_rows_below(join(pattern, "*"))) {
      named(member, path, join(pattern, "*"), target);
    } else {
      unknown(member, path, pattern);
    }
  }

  void unknown(const Member& member, const std::string& path, const std::string& pattern) {
    const std::vector<std::string> names = names_at(pattern);
    const auto near = text::nearest(member.key, names);
    std::string hint = near ? fmt::format("did you mean {}?", *near) : fmt::format("keys here: {}", fmt::join(names, ", "));
    if (member.key == "<<") {
      hint = "YAML merge keys are not read; use extends or variants";
    }
    error(member.at, "unknown-key", fmt::format("unknown key {}", text::printable(path)), std::move(hint));
  }

  void named(const Member& member, const std::string& path, const std::string& pattern, Target target) {
    const bool group = pattern == "groups.*";
    const bool name_ok = member.key.find('.') == std::string::npos && (group ? is_name(member.key) : is_word(member.key) && member.key.find('/') == std::string::npos);
    if (!name_ok) {
      error(member.at, "bad-value", fmt::format("\"{}\" cannot name {}", text::printable(member.key), group ? "a group" : "an artifact"),
            group ? "small letters, digits, '_' and '-'" : "letters, digits, '_' and '-'");
      return;
    }
    if (group) {
      profile_.groups.emplace_back();
      target.group = &profile_.groups.back();
      target.group->name = member.key;
      target.group->role = member.key;
    } else {
      profile_.artifacts.emplace_back();
      target.artifact = &profile_.artifacts.back();
      target.artifact->name = member.key;
    }
    walk(member.value, path, pattern, target);
  }

  void leaf(const Row& row, const Member& member, const std::string& path, const Target& target) {
    profile_.where[path] = member.at.line != 0 ? member.at : member.value.at;
    if (row.type == Type::nodes) {
      nodes(member.value, path, target);
      return;
    }
    if (std::holds_alternative<std::monostate>(row.field) || member.value.kind == Value::Kind::null) {
      return;  // extends, variants and alias_of are done; null leaves the default
    }
    auto value = read_leaf(row, member.value, path, diagnostics_, profile_.where);
    if (value) {
      store(row.field, target, std::move(*value));
    }
    if (row.path == "artifacts.*.source" && target.artifact != nullptr) {
      target.artifact->base_dir = directory_of(member.value.at.file);
    }
  }

  void nodes(const Value& list, const std::string& path, const Target& target) {
    if (target.group == nullptr || list.kind != Value::Kind::list) {
      return;  // shape() has reported anything else
    }
    target.group->nodes.resize(list.items.size());
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      Target node = target;
      node.node = &target.group->nodes[i];
      walk(list.items[i], path + "." + std::to_string(i), "groups.*.nodes.*", node);
      if (node.node->host.empty()) {
        error(list.items[i].at, "missing", fmt::format("node {} of group {} has no host", i, target.group->name), "host: NAME (NODE_#_HOST)");
      }
    }
  }

  // Every leaf in schema order: what `profile show --resolved` prints.
  void emit_settings(const Value& root) {
    for (const Row& row : schema()) {
      expand(row, root, split_path(row.path), 0, "");
    }
  }

  void expand(const Row& row, const Value& at, const std::vector<std::string>& parts, std::size_t depth, const std::string& path) {
    if (depth == parts.size()) {
      emit(row, at, path);
      return;
    }
    if (parts[depth] != "*") {
      const Value* child = at.kind == Value::Kind::map ? find(at, parts[depth]) : nullptr;
      expand(row, child != nullptr ? *child : Value{}, parts, depth + 1, join(path, parts[depth]));
      return;
    }
    for (const Member& member : at.members) {
      expand(row, member.value, parts, depth + 1, join(path, member.key));
    }
    for (std::size_t i = 0; i < at.items.size(); ++i) {
      expand(row, at.items[i], parts, depth + 1, join(path, std::to_string(i)));
    }
  }

  void emit(const Row& row, const Value& value, const std::string& path) {
    if (row.type == Type::nodes || row.type == Type::variants) {
      return;  // its parts are leaves of their own
    }
    if (row.type == Type::env) {
      for (const Member& member : value.members) {
        profile_.settings.push_back({path + "." + member.key, member.value.text, member.value.origin, member.at});
      }
    } else if (value.kind != Value::Kind::null) {
      profile_.settings.push_back({path, written(row, value), value.origin, value.at});
    } else if (row.path == "groups.*.role") {
      profile_.settings.push_back({path, split_path(path).at(1), Origin::built_in_default, {}});
    } else if (!row.default_text.empty()) {
      profile_.settings.push_back({path, std::string(row.default_text), Origin::built_in_default, {}});
    }
  }

  Profile& profile_;
  Diagnostics& diagnostics_;
};

}  // namespace

void bind_tree(const Value& root, Profile& profile, Diagnostics& diagnostics) { Binder(profile, diagnostics).run(root); }

}  // namespace sskj::profile
