// One shape for what may be written in several: groups as list or map, nodes as node set, list of node sets, or list of maps.
#include <fmt/format.h>

#include <utility>

#include "keys.hpp"
#include "sskj/core/nodeset.hpp"
#include "sskj/core/text.hpp"

namespace sskj::profile {

namespace {

constexpr std::size_t k_max_nodes = 4096;

void expand_nodes(const Value& written, Value& out, Diagnostics& diagnostics) {
  const auto hosts = nodeset::expand(written.text);
  if (!hosts) {
    diagnostics.push_back({Severity::error, "bad-value", hosts.error().message, "a node set is written 174.1.60.[5-8] or a,b,c", written.at, ""});
    return;
  }
  for (const std::string& host : *hosts) {
    Value node = map_at(written.at);
    node.origin = written.origin;
    Value& member = ensure(node, "host", written.at);
    member = scalar(host, written.at);
    member.origin = written.origin;
    out.items.push_back(std::move(node));
  }
}

void shape_nodes(Value& nodes, Diagnostics& diagnostics) {
  if (nodes.kind == Value::Kind::null) {
    return;
  }
  Value out;
  out.kind = Value::Kind::list;
  out.at = nodes.at;
  out.origin = nodes.origin;
  if (nodes.kind == Value::Kind::scalar) {
    expand_nodes(nodes, out, diagnostics);
  } else if (nodes.kind == Value::Kind::map) {
    diagnostics.push_back({Severity::error, "bad-type", "nodes is a node set or a list, not a map", "write `- host: NAME` items", nodes.at, ""});
  }
  for (Value& item : nodes.items) {
    if (item.kind == Value::Kind::map) {
      out.items.push_back(std::move(item));
    } else if (item.kind == Value::Kind::scalar) {
      expand_nodes(item, out, diagnostics);
    } else {
      diagnostics.push_back({Severity::error, "bad-type", "a node is a node set or a map of node settings", "", item.at, ""});
    }
  }
  if (out.items.size() > k_max_nodes) {
    diagnostics.push_back({Severity::error, "too-large", fmt::format("{} nodes in one group", out.items.size()), "at most 4096", nodes.at, ""});
    out.items.resize(k_max_nodes);
  }
  nodes = std::move(out);
}

std::string group_name(Value& item) {
  for (const char* key : {"name", "role"}) {
    const Value* named = find(item, key);
    if (named != nullptr && named->kind == Value::Kind::scalar) {
      std::string name = named->text;
      if (std::string_view(key) == "name") {
        remove(item, "name");
      }
      return name;
    }
  }
  return {};
}

void shape_groups(Value& groups, Diagnostics& diagnostics) {
  if (groups.kind != Value::Kind::list) {
    return;
  }
  Value out = map_at(groups.at);
  for (Value& item : groups.items) {
    const std::string name = group_name(item);
    if (item.kind != Value::Kind::map || name.empty()) {
      diagnostics.push_back({Severity::error, "bad-type", "each item of groups is a map with a name or a role", "", item.at, ""});
    } else if (find(out, name) != nullptr) {
      diagnostics.push_back({Severity::error, "duplicate-key", fmt::format("group {} is written twice", text::printable(name)),
                             "give one of them another name", item.at, ""});
    } else {
      const SourceRef at = item.at;
      ensure(out, name, at) = std::move(item);
    }
  }
  groups = std::move(out);
}

}  // namespace

void shape(Value& root, Diagnostics& diagnostics) {
  for (Member& top : root.members) {
    if (top.key == "variants" && top.value.kind == Value::Kind::map) {
      for (Member& variant : top.value.members) {
        shape(variant.value, diagnostics);
      }
    }
    if (top.key != "groups") {
      continue;
    }
    shape_groups(top.value, diagnostics);
    for (Member& group : top.value.members) {
      for (Member& setting : group.value.members) {
        if (setting.key == "nodes" || setting.key == "nodes+") {
          shape_nodes(setting.value, diagnostics);
        }
      }
    }
  }
}

}  // namespace sskj::profile
