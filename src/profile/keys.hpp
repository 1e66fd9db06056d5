// From the keys a user writes to places in the tree.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/profile/schema.hpp"
#include "tree.hpp"

namespace sskj::profile {

/// An env key matched against the table: `NODE_2_ENV_X` -> row of NODE_#_ENV_*, index "2", name "X".
struct EnvKey {
  const Row* row = nullptr;
  std::string index, name;
};
std::optional<EnvKey> match_env_key(std::string_view key);

/// Schema path of an env key in `group`, e.g. "groups.server.nodes.2.env.X".
std::string path_of(const EnvKey& key, std::string_view group);

/// The row whose pattern a concrete path fits; a path below an env row ("...env.NAME") fits that row. Null when there is none.
const Row* find_row(std::string_view path);

/// The schema path nearest to what was written; names of groups, nodes and artifacts are taken as they are.
std::optional<std::string> nearest_path(std::string_view path);

/// How the user calls the setting at `path` in the file of `at`: the env key in an env file, else the path.
std::string shown_name(const Row& row, std::string_view path, const SourceRef& at);

/// The nearest env key, or what to write for a container variable.
std::string env_key_hint(std::string_view key);

/// Put `value` at a concrete path, making maps and the next node on the way. False (with a diagnostic) when a node index leaves a gap.
bool set_path(Value& root, std::string_view path, Value value, const SourceRef& key_at, Diagnostics& diagnostics);

/// Put one env assignment into the tree. False (with a diagnostic) for an unknown key.
bool assign_env_key(Value& root, std::string_view group, std::string_view key, const SourceRef& key_at, Value value, Diagnostics& diagnostics);

/// Bring groups and nodes into one shape: groups a map by name, nodes a list of maps. Idempotent.
void shape(Value& root, Diagnostics& diagnostics);

}  // namespace sskj::profile
