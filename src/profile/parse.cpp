// Text -> Profile: syntax, aliases, inheritance, variants, overrides, binding.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "bind.hpp"
#include "env_profile.hpp"
#include "keys.hpp"
#include "leaf_text.hpp"
#include "source_text.hpp"
#include "sskj/core/text.hpp"
#include "sskj/profile/profile.hpp"
#include "yaml_profile.hpp"

namespace sskj::profile {

namespace {

constexpr std::size_t k_max_chain = 8;

bool is_env_file(std::string_view file) { return file.ends_with(".env"); }
bool is_yaml_file(std::string_view file) { return file.ends_with(".yaml") || file.ends_with(".yml"); }

// "" and "embedded:" are directories too.
std::string directory_prefix(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  if (slash != std::string::npos) {
    return file.substr(0, slash + 1);
  }
  return file.starts_with("embedded:") ? "embedded:" : std::string();
}

std::string base_name(std::string_view file) {
  const std::size_t start = file.find_last_of("/:");
  std::string_view name = start == std::string_view::npos ? file : file.substr(start + 1);
  for (const std::string_view extension : {".env", ".yaml", ".yml"}) {
    if (name.ends_with(extension)) {
      name.remove_suffix(extension.size());
    }
  }
  return std::string(name);
}

std::vector<std::string> candidates(const std::string& reference, const std::string& from) {
  std::vector<std::string> names;
  if (is_env_file(reference) || is_yaml_file(reference)) {
    names.push_back(reference);
  } else {
    for (const char* extension : {".yaml", ".yml", ".env"}) {
      names.push_back(reference + extension);
    }
  }
  std::vector<std::string> out;
  const std::string prefix = directory_prefix(from);
  if (!reference.starts_with('/') && !reference.starts_with("embedded:") && !prefix.empty()) {
    for (const std::string& name : names) {
      out.push_back(prefix + name);
    }
  }
  out.insert(out.end(), names.begin(), names.end());
  return out;
}

class Loader {
 public:
  Loader(const ParseOptions& options, Diagnostics& diagnostics) : options_(options), diagnostics_(diagnostics) {
    for (const Override& override : options.overrides) {
      given_[override.key] = override.value;
    }
  }

  /// The whole tree of a text: alias followed, bases merged. `file` becomes the file that the name comes from.
  Value load(std::string_view text, std::string& file) {
    chain_.push_back(file);
    Value tree = syntax(text, file);
    if (const Value* alias = find(tree, "alias_of")) {
      only_alias(tree, *alias);
      return follow(*alias, file, true);
    }
    if (const Value* base = find(tree, "extends")) {
      std::string base_file = file;
      const Value reference = *base;
      Value merged = follow(reference, base_file, false);
      for (const char* own : {"name", "description"}) {
        remove(merged, own);
      }
      merge(merged, std::move(tree));
      return merged;
    }
    Value out = map_at(tree.at);
    merge(out, std::move(tree));  // resolves `key+` and nulls
    return out;
  }

 private:
  Value syntax(std::string_view bytes, const std::string& file) {
    SourceText source = clean_source(bytes, file);
    const bool broken = !source.diagnostics.empty();
    diagnostics_.insert(diagnostics_.end(), source.diagnostics.begin(), source.diagnostics.end());
    Value tree = map_at({file, 1, 1});
    if (broken) {
      return tree;
    }
    if (is_env_file(file)) {
      tree = env_tree(source.text, file, given_, diagnostics_);
    } else if (is_yaml_file(file)) {
      tree = yaml_tree(source.text, file, diagnostics_);
    } else {
      error({file, 0, 0}, "syntax", "the file's extension tells the syntax: .env, .yaml or .yml");
    }
    shape(tree, diagnostics_);
    return tree;
  }

  void error(const SourceRef& at, std::string id, std::string message, std::string hint = {}) {
    diagnostics_.push_back({Severity::error, std::move(id), std::move(message), std::move(hint), at, ""});
  }

  void beside_alias(const Member& member, const Value& alias) {
    error(member.at, "alias-only", fmt::format("nothing may be set beside alias_of, and {} is", text::printable(member.key)),
          fmt::format("a short name is the same deployment as {}; use extends for another one", text::printable(alias.text)));
  }

  void only_alias(const Value& tree, const Value& alias) {
    for (const Member& member : tree.members) {
      if (member.key == "groups" && member.value.kind == Value::Kind::map) {
        for (const Member& group : member.value.members) {
          for (const Member& setting : group.value.members) {
            beside_alias(setting, alias);
          }
        }
      } else if (member.key != "alias_of") {
        beside_alias(member, alias);
      }
    }
  }

  // Reads the profile that `reference` names and loads it; `file` is the referring file, and for an alias becomes the found one.
  Value follow(const Value& reference, std::string& file, bool alias) {
    const char* key = alias ? "alias_of" : "extends";
    if (reference.kind != Value::Kind::scalar || reference.text.empty() || !is_line(reference.text)) {
      error(reference.at, "bad-value", fmt::format("{} names one profile", key));
      return map_at(reference.at);
    }
    if (chain_.size() > k_max_chain) {
      error(reference.at, "too-deep", fmt::format("{} goes more than {} profiles deep", key, k_max_chain));
      return map_at(reference.at);
    }
    for (const std::string& candidate : candidates(reference.text, file)) {
      const auto text = options_.read ? options_.read(candidate) : Result<std::string>(fail(Errc::profile, "no reader"));
      if (!text) {
        continue;
      }
      if (std::find(chain_.begin(), chain_.end(), candidate) != chain_.end()) {
        error(reference.at, "cycle", fmt::format("{} leads back to {}", key, candidate), fmt::format("{}", fmt::join(chain_, " -> ")));
        return map_at(reference.at);
      }
      std::string found = candidate;
      Value tree = load(*text, found);
      if (alias) {
        file = found;
      }
      return tree;
    }
    error(reference.at, "not-found", fmt::format("{}: no profile {} was found", key, text::printable(reference.text)),
          "it is looked for beside this file, then where profiles are");
    return map_at(reference.at);
  }

  const ParseOptions& options_;
  Diagnostics& diagnostics_;
  std::map<std::string, std::string, std::less<>> given_;
  std::vector<std::string> chain_;
};

void apply_variants(Value& root, const ParseOptions& options, Diagnostics& diagnostics) {
  const Value* variants = find(root, "variants");
  std::vector<std::string> names;
  Value all = variants != nullptr ? *variants : Value{};
  for (const Member& member : all.members) {
    names.push_back(member.key);
  }
  for (const std::string& name : options.variants) {
    Value* overlay = find(all, name);
    if (overlay == nullptr) {
      const auto near = text::nearest(name, names);
      diagnostics.push_back({Severity::error, "unknown-variant", fmt::format("the profile has no variant {}", text::printable(name)),
                             near            ? fmt::format("did you mean {}?", *near)
                             : names.empty() ? "it declares none"
                                             : fmt::format("it has: {}", fmt::join(names, ", ")),
                             {"--variant", 0, 0}, ""});
    } else if (overlay->kind == Value::Kind::map) {
      merge(root, *overlay);
    }
  }
  remove(root, "variants");
}

// Unselected overlays are checked as well: a typo in one must not wait for the day it is used.
void check_variants(const Value& root, Diagnostics& diagnostics) {
  const Value* variants = find(root, "variants");
  if (variants == nullptr) {
    return;
  }
  if (variants->kind != Value::Kind::map) {
    diagnostics.push_back({Severity::error, "bad-type", "variants is a map of overlays", "", variants->at, ""});
    return;
  }
  for (const Member& variant : variants->members) {
    Value overlay = map_at(variant.value.at);
    for (const char* own : {"name", "alias_of", "extends", "variants"}) {
      if (variant.value.kind == Value::Kind::map && find(variant.value, own) != nullptr) {
        diagnostics.push_back({Severity::error, "unknown-key", fmt::format("{} cannot be set in a variant", own), "", variant.at, ""});
      }
    }
    merge(overlay, variant.value);
    Profile scratch;
    bind_tree(overlay, scratch, diagnostics);
  }
}

// How the same thing would be written again: "--set PORT=..." for a flag.
std::string again(const Override& override, std::string_view key) {
  return override.origin == Origin::flag ? fmt::format("--set {}=...", key) : std::string(key);
}

// An override is typed from memory: an unknown key is answered with the nearest one.
void unknown_override(const Override& override, Diagnostics& diagnostics) {
  const bool path = override.key.find('.') != std::string::npos;
  const auto near = path ? nearest_path(override.key) : nearest_env_key(override.key);
  const std::string form = path ? fmt::format("write an env key ({}) or a schema path ({})", again(override, "PORT"), again(override, "groups.NAME.port"))
                                : fmt::format("a variable for the container is written {}", again(override, "ENV_" + override.key));
  diagnostics.push_back({Severity::error, "unknown-key", fmt::format("unknown key {}", text::printable(override.key)),
                         near ? fmt::format("did you mean {}?", again(override, *near)) : form + "; docs/profile.md has all keys", override.at, ""});
}

// A group that is merely misspelled must not become another group.
bool names_no_group(const Value* groups, const Override& override, Diagnostics& diagnostics) {
  const std::vector<std::string> parts = split_path(override.key);
  if (groups == nullptr || groups->members.empty() || parts.size() < 3 || parts[0] != "groups" || find(*groups, parts[1]) != nullptr) {
    return false;
  }
  std::vector<std::string> names;
  for (const Member& member : groups->members) {
    names.push_back(member.key);
  }
  const std::string name = text::nearest(parts[1], names).value_or(names.front());
  const std::string rest = override.key.substr(parts[0].size() + parts[1].size() + 1);
  diagnostics.push_back({Severity::error, "unknown-key", fmt::format("the profile has no group {}", text::printable(parts[1])),
                         fmt::format("its groups: {}; did you mean {}?", fmt::join(names, ", "), again(override, "groups." + name + rest)), override.at, ""});
  return true;
}

void apply_override(Value& root, const Override& override, Diagnostics& diagnostics) {
  const SourceRef& at = override.at;
  if (override.key.starts_with("VAR_")) {
    return;  // a helper, used by ${...} already
  }
  Value value = scalar(override.value, at);
  value.origin = override.origin;
  const auto env_key = match_env_key(override.key);
  const Value* groups = find(root, "groups");
  const std::size_t count = groups == nullptr ? 0 : groups->members.size();
  if (env_key && env_key->row->scope != Scope::deployment && env_key->row->scope != Scope::artifact && count != 1) {
    diagnostics.push_back({Severity::error, "which-group", fmt::format("{} does not say which of {} groups is meant", text::printable(override.key), count),
                           fmt::format("write {}", again(override, path_of(*env_key, count == 0 ? "NAME" : groups->members.front().key))), at, ""});
    return;
  }
  if (!env_key && names_no_group(groups, override, diagnostics)) {
    return;
  }
  const std::string group = count == 1 ? groups->members[0].key : std::string();
  const Row* row = env_key ? nullptr : find_row(override.key);
  const std::string path = env_key ? path_of(*env_key, group) : override.key;
  if (override.origin == Origin::user_file) {
    const Value* found = &root;
    for (const std::string& part : split_path(path)) {
      found = found != nullptr && found->kind == Value::Kind::map ? find(*found, part) : nullptr;
    }
    if (found != nullptr) {
      return;  // the profile wins over the user's own file
    }
  }
  if (!env_key && row == nullptr) {
    unknown_override(override, diagnostics);
    return;
  }
  if (row != nullptr && row->type != Type::variants) {
    set_path(root, path, std::move(value), at, diagnostics);
  } else {
    assign_env_key(root, group, override.key, at, std::move(value), diagnostics);
  }
  shape(root, diagnostics);
}

// By file in the order of first mention, then by position; a fault seen twice (in a variant and where it was applied) once.
void order(Diagnostics& diagnostics) {
  std::vector<std::string> files;
  for (const Diagnostic& d : diagnostics) {
    if (std::find(files.begin(), files.end(), d.at.file) == files.end()) {
      files.push_back(d.at.file);
    }
  }
  const auto rank = [&](const Diagnostic& d) { return std::find(files.begin(), files.end(), d.at.file) - files.begin(); };
  std::stable_sort(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    return std::tuple(rank(a), a.at.line, a.at.column) < std::tuple(rank(b), b.at.line, b.at.column);
  });
  const auto same = [](const Diagnostic& a, const Diagnostic& b) { return a.at == b.at && a.id == b.id && a.message == b.message; };
  diagnostics.erase(std::unique(diagnostics.begin(), diagnostics.end(), same), diagnostics.end());
}

}  // namespace

Parsed parse(std::string_view text, const ParseOptions& options) {
  Parsed out;
  std::string file = options.file;
  Loader loader(options, out.diagnostics);
  Value root = loader.load(text, file);
  remove(root, "extends");
  check_variants(root, out.diagnostics);
  apply_variants(root, options, out.diagnostics);
  for (const Override& override : options.overrides) {
    apply_override(root, override, out.diagnostics);
  }
  out.profile.file = file;
  bind_tree(root, out.profile, out.diagnostics);
  if (out.profile.name.empty()) {
    out.profile.name = base_name(file);
    if (!is_name(out.profile.name)) {
      out.diagnostics.push_back({Severity::error, "bad-value", fmt::format("the file's name \"{}\" cannot name a deployment", text::printable(out.profile.name)),
                                 "set NAME (name:)", {file, 0, 0}, ""});
    }
  }
  order(out.diagnostics);
  for (Diagnostic& diagnostic : out.diagnostics) {
    if (diagnostic.at.file.starts_with("--set ") && diagnostic.hint.empty()) {
      diagnostic.hint = fmt::format("correct {}=...", text::printable(diagnostic.at.file));
    }
  }
  return out;
}

}  // namespace sskj::profile
