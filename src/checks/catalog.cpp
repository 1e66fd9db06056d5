// The table of checks, and how a node's CheckNode is made of it.
#include <array>

#include "rows.hpp"

namespace sskj::checks {

std::span<const Check> catalog() {
  static const std::array rows{
#define SSKJ_CHECK(name) name##_check(),
#include "catalog.def"
#undef SSKJ_CHECK
  };
  return rows;
}

const Check* find(std::string_view id) {
  const auto all = catalog();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Check& row) { return row.id == id; });
  return at == all.end() ? nullptr : &*at;
}

const std::vector<Agreement>& agreements() {
  static const auto all = [] {
    std::vector<Agreement> found;
    for (const auto& check : catalog()) found.insert(found.end(), check.agreements.begin(), check.agreements.end());
    return found;
  }();
  return all;
}

NodeView view_of(const deploy::Deployment& deployment, const plan::Node& node, bool adopt) {
  NodeView view{&deployment, &node, {}, adopt};
  for (const auto& group : deployment.groups) {
    for (const auto& rank : group.ranks) {
      if (rank.node == node.id) view.ranks.push_back({&group, &rank});
    }
  }
  return view;
}

plan::CheckNode make_check(const NodeView& view, std::span<const std::string> skip, Scope scope) {
  std::vector<Selected> selected;
  Json expectation{{"checks", Json::array()}, {"skipped", Json::array()}};
  for (const auto& check : catalog()) {
    if (check.scope > scope) continue;
    auto probe = check.probe(view);
    if (!probe) continue;
    if (std::find(skip.begin(), skip.end(), check.id) != skip.end()) {
      expectation["skipped"].push_back(check.id);
      continue;
    }
    expectation["checks"].push_back({{"id", check.id}, {"expect", Json::parse(probe->expectation)}});
    selected.push_back({&check, std::move(*probe)});
  }
  return {make_script(selected), {"checks", expectation.dump()}};
}

}  // namespace sskj::checks
