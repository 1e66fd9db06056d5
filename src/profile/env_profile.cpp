#include "env_profile.hpp"

#include <algorithm>

#include "env_scan.hpp"
#include "keys.hpp"
#include "leaf_text.hpp"

namespace sskj::profile {

namespace {

bool is_helper(std::string_view key) { return key.starts_with("VAR_") && key.size() > 4; }

std::string group_of(const std::vector<Assignment>& assignments) {
  for (const Assignment& assignment : assignments) {
    // A role that is no name is reported when it is bound; the group still needs one.
    if (assignment.key == "ROLE" && is_name(assignment.value.text) && assignment.value.text.find('.') == std::string::npos) {
      return assignment.value.text;
    }
  }
  return "server";
}

unsigned long node_index(const std::string& key) {
  const auto match = match_env_key(key);
  return match && !match->index.empty() ? to_number(match->index).value_or(0) : 0;
}

}  // namespace

Value env_tree(std::string_view text, const std::string& file, const std::map<std::string, std::string, std::less<>>& given, Diagnostics& diagnostics) {
  EnvScan scan = scan_env(text, file, given);
  diagnostics.insert(diagnostics.end(), scan.diagnostics.begin(), scan.diagnostics.end());
  Value root = map_at({file, 1, 1});
  const std::string group = group_of(scan.assignments);
  const bool has_group = std::any_of(scan.assignments.begin(), scan.assignments.end(), [](const Assignment& a) {
    const auto match = match_env_key(a.key);
    return match && (match->row->scope == Scope::group || match->row->scope == Scope::node);
  });
  if (has_group) {
    Value& groups = ensure(root, "groups", {file, 1, 1});
    ensure(groups, group, {file, 1, 1}).kind = Value::Kind::map;
  }
  // NODES first, whatever the order in the file: NODE_<I>_ settings lie over its items, in the order of ranks.
  std::stable_sort(scan.assignments.begin(), scan.assignments.end(), [](const Assignment& a, const Assignment& b) {
    const bool node_a = a.key.starts_with("NODE_"), node_b = b.key.starts_with("NODE_");
    return node_a != node_b ? node_b : node_a && node_index(a.key) < node_index(b.key);
  });
  bool shaped = false;
  for (Assignment& assignment : scan.assignments) {
    if (is_helper(assignment.key)) {
      continue;
    }
    if (assignment.key.starts_with("NODE_") && !shaped) {
      shape(root, diagnostics);
      shaped = true;
    }
    assign_env_key(root, group, assignment.key, assignment.at, std::move(assignment.value), diagnostics);
  }
  return root;
}

}  // namespace sskj::profile
