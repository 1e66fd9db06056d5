#include "tree.hpp"

#include <algorithm>
#include <utility>

#include "sskj/core/shell.hpp"

namespace sskj::profile {

Value scalar(std::string text, SourceRef at) {
  Value value;
  value.kind = Value::Kind::scalar;
  value.text = std::move(text);
  value.at = std::move(at);
  return value;
}

Value map_at(SourceRef at) {
  Value value;
  value.kind = Value::Kind::map;
  value.at = std::move(at);
  return value;
}

const Value* find(const Value& map, std::string_view key) {
  const auto it = std::find_if(map.members.begin(), map.members.end(), [&](const Member& m) { return m.key == key; });
  return it == map.members.end() ? nullptr : &it->value;
}

Value* find(Value& map, std::string_view key) { return const_cast<Value*>(find(std::as_const(map), key)); }

Value& ensure(Value& map, std::string_view key, const SourceRef& at) {
  map.kind = Value::Kind::map;
  if (Value* found = find(map, key)) {
    return *found;
  }
  map.members.push_back({std::string(key), at, {}});
  map.members.back().value.at = at;
  return map.members.back().value;
}

void remove(Value& map, std::string_view key) {
  std::erase_if(map.members, [&](const Member& m) { return m.key == key; });
}

SourceRef position(const Value& value, std::size_t offset) {
  SourceRef at = value.at;
  const auto after = std::find_if(value.anchors.begin(), value.anchors.end(), [&](const Anchor& a) { return a.offset > offset; });
  if (after == value.anchors.begin()) {
    return at;
  }
  const Anchor& anchor = *std::prev(after);
  at.line = anchor.line;
  at.column = anchor.column + (offset - anchor.offset);
  return at;
}

namespace {

void append_list(Value& base, Value over) {
  if (base.kind == Value::Kind::null) {
    base = std::move(over);
    return;
  }
  if (base.kind == Value::Kind::scalar && over.kind == Value::Kind::scalar) {
    base.text += "\n" + over.text;  // both are word lists in text form: a newline separates words
    base.anchors.clear();
    return;
  }
  if (base.kind == Value::Kind::list && over.kind == Value::Kind::scalar) {
    base.items.push_back(std::move(over));
    return;
  }
  if (base.kind == Value::Kind::scalar && over.kind == Value::Kind::list) {
    // The base is a word list in text form (an env profile under a YAML one): write the new words the same way.
    for (const Value& item : over.items) {
      base.text += "\n" + shell::quote(item.text);
    }
    base.anchors.clear();
    return;
  }
  for (Value& item : over.items) {
    base.items.push_back(std::move(item));
  }
}

}  // namespace

void merge(Value& base, Value over) {
  if (over.kind != Value::Kind::map) {
    base = std::move(over);
    return;
  }
  if (base.kind != Value::Kind::map) {
    base = map_at(over.at);
    base.origin = over.origin;
  }
  for (Member& member : over.members) {
    if (member.key.size() > 1 && member.key.back() == '+') {
      append_list(ensure(base, std::string_view(member.key).substr(0, member.key.size() - 1), member.at), std::move(member.value));
    } else if (member.value.kind == Value::Kind::null) {
      remove(base, member.key);
    } else {
      merge(ensure(base, member.key, member.at), std::move(member.value));
    }
  }
}

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t start = 0;;) {
    const std::size_t dot = path.find('.', start);
    parts.emplace_back(path.substr(start, dot == std::string_view::npos ? path.npos : dot - start));
    if (dot == std::string_view::npos) {
      return parts;
    }
    start = dot + 1;
  }
}

}  // namespace sskj::profile
