#include "selection.hpp"

#include <algorithm>

#include "sskj/core/nodeset.hpp"
#include "sskj/core/text.hpp"

namespace sskj::app {
namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); }

std::optional<Error> check_known(const std::vector<std::string>& asked, const std::vector<std::string>& known, const char* flag) {
  for (const std::string& name : asked) {
    if (holds(known, name)) continue;
    const auto near = text::nearest(name, known);
    return Error{Errc::usage, std::string(flag) + ": " + text::printable(name) + " is not a node of this deployment",
                 near ? "did you mean " + *near + "? Its nodes are " + nodeset::fold(known) : "its nodes are " + nodeset::fold(known)};
  }
  return std::nullopt;
}

Error nothing_left() { return {Errc::usage, "no node is left to act on", "widen -l or narrow -x"}; }

}  // namespace

Result<std::vector<std::string>> select_nodes(const std::vector<plan::Node>& nodes, const std::string& limit, const std::string& exclude) {
  std::vector<std::string> known;
  known.reserve(nodes.size());
  for (const plan::Node& node : nodes) known.push_back(node.id);
  auto wanted = nodeset::expand(limit);
  if (!wanted) return wanted;
  auto unwanted = nodeset::expand(exclude);
  if (!unwanted) return unwanted;
  if (auto fault = check_known(*wanted, known, "-l")) return tl::unexpected<Error>(std::move(*fault));
  if (auto fault = check_known(*unwanted, known, "-x")) return tl::unexpected<Error>(std::move(*fault));
  std::vector<std::string> chosen;
  for (const std::string& name : known) {
    if ((wanted->empty() || holds(*wanted, name)) && !holds(*unwanted, name)) chosen.push_back(name);
  }
  if (chosen.empty()) return tl::unexpected<Error>(nothing_left());
  return chosen;
}

Result<std::vector<plan::Node>> bare_hosts(const std::string& limit, const std::string& exclude) {
  auto wanted = nodeset::expand(limit);
  if (!wanted) return tl::unexpected<Error>(std::move(wanted.error()));
  auto unwanted = nodeset::expand(exclude);
  if (!unwanted) return tl::unexpected<Error>(std::move(unwanted.error()));
  if (auto fault = check_known(*unwanted, *wanted, "-x")) return tl::unexpected<Error>(std::move(*fault));
  std::vector<plan::Node> nodes;
  for (const std::string& name : *wanted) {
    if (holds(*unwanted, name)) continue;
    plan::Node node;
    node.id = name;
    const std::size_t at = name.rfind('@');
    node.ssh.host = at == std::string::npos ? name : name.substr(at + 1);
    if (at != std::string::npos) node.ssh.user = name.substr(0, at);
    // ssh and its kin would read it as an option
    if (node.ssh.host.empty() || node.ssh.host.front() == '-' || node.ssh.user.starts_with('-')) {
      return fail(Errc::usage, "'" + text::printable(name) + "' is not a host name");
    }
    nodes.push_back(std::move(node));
  }
  if (nodes.empty()) {
    if (wanted->empty()) return fail(Errc::usage, "no node is named", "name a profile with -p, or hosts with -l");
    return tl::unexpected<Error>(nothing_left());
  }
  return nodes;
}

}  // namespace sskj::app
