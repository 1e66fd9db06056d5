#include "sskj/view/plan_view.hpp"

#include "sskj/core/text.hpp"

namespace sskj::view {

std::string plan_text(const plan::Plan& plan, std::string_view bootstrap) {
  std::string text = "# nothing was connected to and nothing was written\n";
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
