// Container names are free, or taken by this deployment's own containers. What is not labelled as ours is never removed without --adopt.
#include "rows.hpp"

namespace sskj::checks {
namespace {

constexpr std::string_view k_body = R"sh(
printf '%s\n' "$names" | while IFS= read -r name; do
  if v=$(docker ps -a --filter "name=^/$name\$" --format '{{.ID}} {{.State}} {{.Label "sskj.deployment"}}' 2>&1); then
    if [ -n "$v" ]; then echo "taken $name $v"; else echo "free $name"; fi
  else
    echo "error $(printf '%s' "$v" | tail -n 1)"
  fi
done
echo end
)sh";

std::optional<Probe> probe(const NodeView& view) {
  const auto names = container_names(view);
  if (names.empty()) return std::nullopt;
  return Probe{{{"names", lines(names)}}, Json{{"names", names}, {"deployment", view.deployment->name}, {"adopt", view.adopt}}.dump()};
}

Finding judge_name(const std::string& name, const Json& expectation, const Output& output) {
  const auto free = output.values("free");
  if (std::find(free.begin(), free.end(), name) != free.end()) return good("container name " + name + " is free");
  for (const auto& line : output.values("taken")) {
    const auto words = split_blanks(line, 4);  // name, id, state, label
    if (words[0] != name) continue;
    if (words.size() < 3) return unsure("container name " + name + ": docker's answer is not understood", line);
    const auto label = words.size() == 4 ? words[3] : std::string();
    if (label == expectation.value("deployment", "")) return good("container " + name + " is this deployment's own");
    const auto got = words[2] + " container " + words[1].substr(0, 12) + (label.empty() ? " without sskj's label" : " of deployment " + label);
    if (label.empty() && expectation.value("adopt", false)) {
      return finding(FindingStatus::warn, "container name " + name + " is taken over (--adopt)", "", got);
    }
    return bad("container name " + name + " is taken by a container that is not ours", "free or ours", got,
               label.empty() ? "remove or rename it, or take it over: --adopt" : "stop that deployment first: sskj stop -p " + label);
  }
  return unsure("container name " + name + ": docker gave no usable answer", output.first_line());
}

Findings judge(const Json& expectation, const Output& output) {
  if (!complete(output)) return {incomplete(output, "container names")};
  Findings findings;
  for (const auto& name : expectation.value("names", std::vector<std::string>{})) findings.push_back(judge_name(name, expectation, output));
  return findings;
}

}  // namespace

Check names_check() {
  return {.id = "names",
          .title = "container names free or ours",
          .why = "removing what somebody else started would hurt a service that we know nothing of",
          .remedy = "docker ps -a on this node",
          .source = "sglang.md D3; peers.md 4.4 dk.old",
          .seconds = 15,
          .body = k_body,
          .probe = probe,
          .judge = judge};
}

}  // namespace sskj::checks
