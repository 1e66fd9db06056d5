// One leaf: text -> typed value, by the row's type.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "sskj/profile/schema.hpp"
#include "tree.hpp"

namespace sskj::profile {

using Leaf = std::variant<std::string, std::uint64_t, bool, std::chrono::milliseconds, std::vector<std::string>, std::vector<EnvSetting>,
                          std::vector<MountSetting>, std::vector<UlimitSetting>>;

using Origins = std::map<std::string, SourceRef, std::less<>>;

/// Nullopt with diagnostics when the text is not what the type accepts. Items of lists get their own place ("<path>.3").
std::optional<Leaf> read_leaf(const Row& row, const Value& value, const std::string& path, Diagnostics& diagnostics, Origins& where);

/// The value as it was written, for `profile show`; lists as shell words. A refused secret is not shown.
std::string written(const Row& row, const Value& value);

}  // namespace sskj::profile
