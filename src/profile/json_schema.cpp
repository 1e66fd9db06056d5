// docs/profile.schema.json: JSON Schema (draft 2020-12) of the YAML form, from the schema table.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sskj/profile/schema.hpp"
#include "tree.hpp"
#include "words.hpp"

namespace sskj::profile {

namespace {

using Json = nlohmann::ordered_json;

Json pattern(const char* regex) { return {{"type", "string"}, {"pattern", regex}}; }
Json scalar_text() { return {{"type", {"string", "number", "boolean"}}}; }
Json list_of(Json item) { return {{"type", "array"}, {"items", std::move(item)}}; }
Json any_of(Json a, Json b) { return {{"anyOf", Json::array({std::move(a), std::move(b)})}}; }

Json number(const Row& row) {
  Json value = {{"type", "integer"}, {"minimum", row.min}, {"maximum", row.max}};
  if (row.type == Type::port) {
    value["minimum"] = 1;
    value["maximum"] = 65535;
  }
  return any_of(std::move(value), pattern("^[0-9]+$"));
}

Json choice(const Row& row) {
  Json names = Json::array();
  const auto words = split_words(row.choices);
  for (const ShellWord& word : *words) {
    names.push_back(word.text);
  }
  return {{"enum", std::move(names)}};
}

Json mount() {
  Json map = {{"type", "object"}, {"required", {"source", "target"}}, {"additionalProperties", false}};
  for (const char* key : {"source", "target"}) {
    map["properties"][key] = pattern("^/");
  }
  for (const char* key : {"read_only", "create"}) {
    map["properties"][key] = {{"type", "boolean"}};
  }
  return any_of(pattern("^/[^:]*:/[^:]*(:(ro|rw|create)(,(ro|rw|create))*)?$"), std::move(map));
}

Json environment() {
  return {{"type", "object"}, {"propertyNames", pattern("^[A-Za-z_][A-Za-z0-9_]*$")}, {"additionalProperties", {{"type", {"string", "number", "boolean", "null"}}}}};
}

Json value_of(const Row& row) {
  switch (row.type) {
    case Type::text: case Type::line: case Type::word: case Type::gpus: return scalar_text();
    case Type::reference: return {{"type", "string"}, {"minLength", 1}};
    case Type::name: return pattern("^[a-z0-9][a-z0-9_.-]{0,62}$");
    case Type::words: return any_of({{"type", "string"}}, list_of(scalar_text()));
    case Type::host: return pattern("^[A-Za-z0-9._:%][A-Za-z0-9._:%-]*$");
    case Type::address: return pattern("^[0-9a-fA-F:.]*$");
    case Type::path: return pattern("^(/.*)?$");
    case Type::duration: return pattern("^([0-9]+(ms|s|m|h))+$");
    case Type::bytes: return any_of({{"type", "integer"}, {"minimum", 1}}, pattern("^[0-9]+[bkmgtBKMGT]?[bB]?$"));
    case Type::boolean: return any_of({{"type", "boolean"}}, {{"enum", {"true", "false", "yes", "no", "on", "off", "1", "0", 1, 0}}});
    case Type::uint: case Type::port: return number(row);
    case Type::choice: return choice(row);
    case Type::env: return environment();
    case Type::mounts: return any_of({{"type", "string"}}, list_of(mount()));
    case Type::ulimits: return any_of(any_of({{"type", "string"}}, list_of({{"type", "string"}})), {{"type", "object"}, {"additionalProperties", scalar_text()}});
    case Type::sha256: return pattern("^[0-9a-fA-F]{64}$");
    case Type::mode: return any_of(pattern("^0?[0-7]{3,4}$"), {{"type", "integer"}});
    case Type::secret: return pattern("^(from_env:[A-Za-z_][A-Za-z0-9_]*|from_file:.+)?$");
    case Type::artifact_source: return pattern("^(file:.+|embedded:.+|node:.+)$");
    case Type::nodes: case Type::variants: break;
  }
  return Json::object();
}

bool is_list(Type type) { return type == Type::words || type == Type::mounts || type == Type::ulimits || type == Type::nodes; }

Json object() { return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}}; }

// The object that holds the settings below a pattern such as "groups.*": nested maps for dotted keys.
Json object_of(std::string_view prefix) {
  Json out = object();
  for (const Row& row : schema()) {
    if (!row.path.starts_with(prefix)) {
      continue;
    }
    const std::vector<std::string> parts = split_path(row.path.substr(prefix.size()));
    if (std::find(parts.begin(), parts.end(), "*") != parts.end() || row.type == Type::nodes || row.type == Type::variants) {
      continue;
    }
    Json* at = &out;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      Json& below = (*at)["properties"][parts[i]];
      below = below.is_null() ? object() : below;
      at = &below;
    }
    Json value = value_of(row);
    value["description"] = fmt::format("{} Accepted: {}.", row.doc, describe(row));
    if (!row.default_text.empty()) {
      value["default"] = row.default_text;
    }
    (*at)["properties"][parts.back()] = value;
    if (is_list(row.type)) {
      (*at)["properties"][parts.back() + "+"] = std::move(value);
    }
  }
  return out;
}

}  // namespace

std::string profile_json_schema() {
  Json node = object_of("groups.*.nodes.*.");
  node["required"] = {"host"};
  Json group = object_of("groups.*.");
  const Json nodes = any_of({{"type", "string"}}, list_of(any_of({{"type", "string"}}, {{"$ref", "#/$defs/node"}})));
  group["properties"]["nodes"] = nodes;
  group["properties"]["nodes+"] = nodes;
  Json named = group;
  named["properties"]["name"] = pattern("^[a-z0-9][a-z0-9_-]{0,62}$");

  Json root = object_of("");
  root["properties"]["groups"] = any_of({{"type", "object"}, {"additionalProperties", {{"$ref", "#/$defs/group"}}}}, list_of({{"$ref", "#/$defs/namedGroup"}}));
  root["properties"]["artifacts"] = {{"type", "object"}, {"additionalProperties", {{"$ref", "#/$defs/artifact"}}}};
  Json overlay = object();
  for (const char* key : {"description", "state_dir", "start_deadline", "groups", "artifacts"}) {
    overlay["properties"][key] = root["properties"][key];
  }
  root["properties"]["variants"] = {{"type", "object"}, {"description", "Named overlays of this same shape, applied by --variant NAME."}, {"additionalProperties", std::move(overlay)}};

  Json out = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"$id", "profile.schema.json"}, {"title", "sskj profile, YAML form"}};
  out.update(root);
  out["$defs"] = {{"group", std::move(group)}, {"namedGroup", std::move(named)}, {"node", std::move(node)}, {"artifact", object_of("artifacts.*.")}};
  return out.dump(2) + "\n";
}

}  // namespace sskj::profile
