// The schema table: one row per setting. It is the parsers' key list, the validator, docs/profile.md and the JSON Schema of the YAML form.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sskj/profile/profile.hpp"

namespace sskj::profile {

/// How the text of a leaf is read. The accepted form of each is `describe(Type)`.
enum class Type {
  text,         ///< any text, newlines included
  line,         ///< one line without control characters
  name,         ///< name of a deployment, group or role: it becomes part of container names
  reference,    ///< another profile: a path or a name
  words,        ///< POSIX shell words (env, YAML string) or a YAML list of strings
  nodes,        ///< node set, or a YAML list of node sets and maps
  host,         ///< host name, address or ssh_config alias
  address,      ///< numeric IPv4 or IPv6 address
  word,         ///< letters, digits and @ % + = : , . / _ -, not starting with '-'
  path,         ///< absolute path
  duration,     ///< 500ms, 90s, 15m, 2h, 1h30m; never 0
  bytes,        ///< 512m, 32g, 10485760 (powers of 1024)
  boolean,      ///< true|false|yes|no|on|off|1|0
  uint,         ///< decimal number in [min, max]
  port,         ///< 1-65535
  choice,       ///< one of `choices`
  gpus,         ///< all, none, a count, or device=LIST
  env,          ///< map NAME: value
  mounts,       ///< SOURCE:TARGET[:ro,create], or a YAML list of maps
  ulimits,      ///< NAME=SOFT[:HARD]; -1 is unlimited
  sha256,       ///< 64 hex digits
  mode,         ///< octal permission bits
  secret,       ///< from_env:NAME or from_file:PATH; a literal is refused and never echoed
  artifact_source,  ///< file:REL, embedded:NAME, node:/PATH or node:HOST:/PATH
  variants,     ///< map of overlays (YAML only)
};

enum class Scope { deployment, group, node, artifact };

/// The member that a row fills; monostate = handled by the parser itself (extends, variants, nodes, ...).
using Field = std::variant<std::monostate, std::string Profile::*, std::chrono::milliseconds Profile::*, std::string GroupSetting::*, std::uint16_t GroupSetting::*, unsigned GroupSetting::*,
                           std::uint64_t GroupSetting::*, bool GroupSetting::*, std::chrono::milliseconds GroupSetting::*,
                           std::vector<std::string> GroupSetting::*, std::vector<EnvSetting> GroupSetting::*, std::vector<MountSetting> GroupSetting::*,
                           std::vector<UlimitSetting> GroupSetting::*, std::string NodeSetting::*, std::uint16_t NodeSetting::*, bool NodeSetting::*,
                           std::vector<EnvSetting> NodeSetting::*, std::string ArtifactSetting::*, std::uint32_t ArtifactSetting::*>;

struct Row {
  std::string_view path;          ///< pattern; `*` is one name or index: "groups.*.nodes.*.host"
  std::string_view env_key;       ///< pattern: "PORT", "ENV_*", "NODE_#_HOST" (# = rank), "ARTIFACT_*"; empty = YAML only
  Type type = Type::line;
  std::string_view default_text;  ///< as it would be written; empty = none
  Scope scope = Scope::group;
  std::string_view doc;           ///< one sentence, with the unit
  std::string_view example;       ///< a value of the env form
  Field field;
  std::uint64_t min = 0, max = 0; ///< for uint, and for duration in milliseconds (0,0 = only "not 0")
  std::string_view choices{};     ///< blank-separated, for choice
};

/// All settings, in documentation order.
std::span<const Row> schema();

/// One sentence: what text the type accepts.
std::string describe(const Row& row);

/// The env key nearest to what was written (PROT -> PORT, node_0_hots -> NODE_0_HOST), where one is near.
std::optional<std::string> nearest_env_key(std::string_view key);

/// Lower-case word of the type for tables ("port", "duration").
std::string_view to_string(Type type);

/// docs/profile.md.
std::string profile_markdown();

/// JSON Schema (draft 2020-12) of the YAML form: docs/profile.schema.json.
std::string profile_json_schema();

}  // namespace sskj::profile
