#include "sskj/view/plan_view.hpp"

#include <fmt/format.h>

#include "columns.hpp"
#include "sskj/core/nodeset.hpp"
#include "sskj/core/text.hpp"

namespace sskj::view {

std::string plan_text(const plan::Plan& plan, std::string_view bootstrap) {
  std::vector<std::string> nodes;
  for (const auto& node : plan.nodes) {
    nodes.push_back(node.id);
  }
  std::string text = fmt::format("# {}{}{} on {} ({})\n", plan.verb, plan.deployment.empty() ? "" : " ", plan.deployment, nodeset::fold(nodes), counted(nodes.size(), "node"));
  text += fmt::format("# plan {}\n# nothing was connected to and nothing was written\n", plan::digest(plan));
  if (!bootstrap.empty()) {
    text += "# every script below is sent on standard input to this command, unchanged:\n";
    for (const std::string& line : text::split_lines(bootstrap)) {
      text += "#   " + line + "\n";
    }
  }
  return text::printable(text + "\n" + plan::to_text(plan), true);
}

void show_plan(Output& output, const Options& options, const plan::Plan& plan, std::string_view bootstrap) {
  std::string text = options.format == Format::text ? plan_text(plan, bootstrap) : plan::to_json(plan);
  if (!text.ends_with('\n')) {
    text += '\n';
  }
  output.out.write(text);
}

}  // namespace sskj::view
