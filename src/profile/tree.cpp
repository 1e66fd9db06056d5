#include "tree.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "words.hpp"

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

// A list in text form (shell words) as items with their positions; a map of a list type (ulimits) as NAME=VALUE items. False when the text cannot be split.
bool to_items(Value& value) {
  Value out;
  out.kind = Value::Kind::list;
  out.at = value.at;
  out.origin = value.origin;
  if (value.kind == Value::Kind::scalar) {
    const auto words = split_words(value.text);
    if (!words) {
      return false;
    }
    for (const ShellWord& word : *words) {
      out.items.push_back(scalar(word.text, position(value, word.offset)));
    }
  } else {
    out.items = std::move(value.items);
    for (const Member& member : value.members) {
      out.items.push_back(scalar(member.key + "=" + member.value.text, member.at));
    }
  }
  value = std::move(out);
  return true;
}

void append_list(Value& base, Value over) {
  if (!to_items(over) || base.kind == Value::Kind::null) {
    base = std::move(over);  // what cannot be split is reported when it is bound
    return;
  }
  if (to_items(base)) {
    std::move(over.items.begin(), over.items.end(), std::back_inserter(base.items));
  }
}

}  // namespace

namespace {

// Overlays wait until they are chosen: their `NAME+` and nulls are kept as they are.
void keep_overlays(Value& base, Value over) {
  if (base.kind != Value::Kind::map || over.kind != Value::Kind::map) {
    base = std::move(over);
    return;
  }
  for (Member& member : over.members) {
    keep_overlays(ensure(base, member.key, member.at), std::move(member.value));
  }
}

void merge_below(Value& base, Value over, bool root) {
  if (over.kind != Value::Kind::map) {
    base = std::move(over);
    return;
  }
  if (base.kind != Value::Kind::map) {
    base = map_at(over.at);
    base.origin = over.origin;
  }
  for (Member& member : over.members) {
    if (root && member.key == "variants") {
      keep_overlays(ensure(base, member.key, member.at), std::move(member.value));
    } else if (member.key.size() > 1 && member.key.back() == '+') {
      append_list(ensure(base, std::string_view(member.key).substr(0, member.key.size() - 1), member.at), std::move(member.value));
    } else if (member.value.kind == Value::Kind::null) {
      remove(base, member.key);
    } else {
      merge_below(ensure(base, member.key, member.at), std::move(member.value), false);
    }
  }
}

}  // namespace

void merge(Value& base, Value over) { merge_below(base, std::move(over), true); }

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
