#include "context.hpp"

#include <vector>

#include "sskj/core/nodeset.hpp"
#include "sskj/core/text.hpp"

namespace sskj::run {

std::string Context::where() const {
  std::map<std::string, std::vector<std::string>> by_phase;
  for (const auto& [node, phase] : phases) by_phase[phase].push_back(node);
  std::string said;
  for (const auto& [phase, ids] : by_phase) said += (said.empty() ? ", " : "; ") + text::printable(phase) + ": " + nodeset::fold(ids);
  return said;
}

}  // namespace sskj::run
