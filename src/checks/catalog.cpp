// The table of checks, and how a node's CheckNode is made of it.
#include <array>

#include "rows.hpp"

namespace sskj::checks {

std::span<const Check> catalog() {
  static const std::array rows{
      docker_check(), image_check(),  names_check(),        gpu_count_check(),   gpu_idle_check(),
      ports_check(),  mounts_check(), data_address_check(), disk_docker_check(), disk_cache_check(), weights_check(),
  };
  return rows;
}

const Check* find(std::string_view id) {
  const auto all = catalog();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Check& row) { return row.id == id; });
  return at == all.end() ? nullptr : &*at;
}

std::span<const Agreement> agreements() {
  static constexpr std::array rows{
      Agreement{"image-id", "the image's id", Errc::integrity, "pull or load one and the same image on all nodes"},
      Agreement{"weights-bytes", "the size of the weights", Errc::integrity, "copy the weights again from the node that is right"},
  };
  return rows;
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

plan::CheckNode make_check(const NodeView& view, std::span<const std::string> skip) {
  std::vector<Selected> selected;
  Json expectation{{"checks", Json::array()}, {"skipped", Json::array()}};
  for (const auto& check : catalog()) {
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
