// The docker engine answers, and is new enough.
#include <cstdio>

#include "rows.hpp"

namespace sskj::checks {
namespace {

// `docker run --gpus` and `--mount` for bind mounts came with 19.03.
constexpr int k_api_major = 1;
constexpr int k_api_minor = 40;

constexpr std::string_view k_body = R"sh(
if ! command -v docker >/dev/null; then echo missing; echo end; exit 0; fi
if v=$(docker version -f '{{.Server.Version}} {{.Server.APIVersion}}' 2>&1); then echo "server $v"; else echo "error $(printf '%s' "$v" | tail -n 1)"; fi
echo end
)sh";

std::optional<Probe> probe(const NodeView& view) {
  if (view.ranks.empty()) return std::nullopt;
  return Probe{};
}

Finding judge_server(const std::string& server) {
  const auto words = split_blanks(server, 2);
  int major = 0, minor = 0;
  // NOLINTNEXTLINE(cert-err34-c): both numbers are bounded by the width
  if (words.size() != 2 || std::sscanf(words[1].c_str(), "%4d.%4d", &major, &minor) != 2) return unsure("docker's version is not understood", server);
  if (std::pair{major, minor} < std::pair{k_api_major, k_api_minor}) {
    return bad("docker is too old", "API 1.40 (19.03) or newer", words[0] + " with API " + words[1], "upgrade the docker engine on this node");
  }
  return good("docker answers", words[0]);
}

Findings judge(const Json&, const Output& output) {
  if (output.timed_out()) return {bad("docker does not answer within its deadline", "an answer", "none", "restart the docker service on this node")};
  if (!complete(output)) return {incomplete(output, "docker")};
  if (!output.values("missing").empty()) return {bad("docker is not installed", "a docker command", "none", "install the docker engine on this node")};
  if (const auto error = output.value("error")) {
    const bool denied = error->find("permission denied") != std::string::npos;
    return {bad(denied ? "this user may not talk to docker" : "the docker daemon does not answer", "a daemon that answers", text::printable(*error),
                denied ? "add the user to the group docker, or set sudo for the node" : "start the docker service on this node: systemctl start docker")};
  }
  const auto server = output.value("server");
  if (!server) return {incomplete(output, "docker")};
  return {judge_server(*server)};
}

}  // namespace

Check docker_check() {
  return {.id = "docker",
          .title = "docker engine answers",
          .why = "every rank is a container",
          .remedy = "see `docker version` on this node",
          .source = "docker run reference; manual section 9",
          .seconds = 10,
          .body = k_body,
          .probe = probe,
          .judge = judge};
}

}  // namespace sskj::checks
