// The untyped document that both syntaxes become, with a position for every value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sskj/profile/profile.hpp"

namespace sskj::profile {

/// Where byte `offset` of a decoded text was written: quotes and escapes make the two differ.
struct Anchor { std::size_t offset = 0, line = 0, column = 0; };

struct Member;

struct Value {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  std::string text;                 ///< scalar
  std::vector<Anchor> anchors;      ///< scalar: ascending offsets; empty = only `at` is known
  std::vector<Value> items;         ///< list
  std::vector<Member> members;      ///< map, in written order
  SourceRef at;
  Origin origin = Origin::profile;
};

struct Member {
  std::string key;
  SourceRef at;
  Value value;
};

Value scalar(std::string text, SourceRef at);
Value map_at(SourceRef at);

Value* find(Value& map, std::string_view key);
const Value* find(const Value& map, std::string_view key);

/// The member's value, made as a null when absent.
Value& ensure(Value& map, std::string_view key, const SourceRef& at);

void remove(Value& map, std::string_view key);

/// Position of a byte of a scalar's text.
SourceRef position(const Value& scalar, std::size_t offset);

/// Lay `over` on `base`: maps merge member by member, other values replace, null takes a setting away, and a key `NAME+` appends to the list NAME. Both are roots:
/// `variants` is kept as written until one is chosen.
void merge(Value& base, Value over);

std::vector<std::string> split_path(std::string_view path);

}  // namespace sskj::profile
