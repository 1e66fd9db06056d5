// The role table: what a group is for decides its engine arguments, ports, health and place in the start order. A new role is one row here and nothing elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/deploy/deployment.hpp"

namespace sskj::deploy {

/// One argument that sskj gives the engine. `names` are the spellings the engine accepts, the first is the one written. An empty `value` = a flag without one.
struct EngineFlag {
  std::vector<std::string_view> names;
  std::string value;
  std::string from;  ///< schema path of the setting it comes from, below the group ("port"), for messages
};

/// A TCP port that a rank listens on.
struct PortUse {
  std::uint16_t port = 0;
  std::string what;     ///< "API", "rendezvous"
  std::string setting;  ///< schema path below the group: "port"
};

struct RoleRow {
  std::string_view name;
  std::string_view title;                                        ///< one line for help and documentation
  std::span<const std::string_view> start_after;                 ///< roles that must be ready before this one starts
  std::vector<std::string> (*entry)(const Group&);               ///< argv before all arguments
  std::vector<EngineFlag> (*flags)(const Group&, const Rank&);   ///< sskj's additions
  std::vector<PortUse> (*ports)(const Group&, const Rank&);      ///< what must be free on that rank's node
  std::string_view health_path;                                  ///< of every rank's API port
  bool needs_model = false;                                      ///< model path and served name are required, the model is mounted read-only
  bool takes_api_key = false;                                    ///< through the engine's config file
};

std::span<const RoleRow> roles();

/// Null for an unknown name.
const RoleRow* find_role(std::string_view name);

/// Value of an argument in `args`, by any of its spellings, as `--name value` or `--name=value`; "" for a bare flag. The last one wins, as with argparse.
struct FoundArg {
  std::size_t index = 0;  ///< of the word that holds the name
  std::string value;
  bool bare = false;      ///< nothing follows it
};
std::vector<FoundArg> find_args(std::span<const std::string> args, std::span<const std::string_view> names);

/// What the file that carries an API key into the engine holds; `{secret}` stands for the value. Single quotes keep every character but ' and newline, which a key must not hold
/// (`valid_secret`). SGLang reads it with --config: keys are its long options, the command line wins (server_args_config_parser.py, 0.5.16-0.5.18).
inline constexpr std::string_view k_engine_config = "api-key: '{secret}'\n";
inline constexpr std::string_view k_engine_config_target = "/run/sskj/engine.yaml";

/// A key can be carried: 1-512 printable ASCII characters, no quote, backslash or blank, not starting with '-' (older SGLang makes it an argument of its own list).
bool valid_secret(std::string_view value);

}  // namespace sskj::deploy
