// Ports that ranks will bind are free, or held by containers of this deployment. Read from /proc/net: no tool is needed.
#include "owner.hpp"
#include "rows.hpp"
#include "sskj/deploy/roles.hpp"

namespace sskj::checks {
namespace {

// A socket with inode 0 has no process any more (TIME_WAIT, orphans): servers bind over it with SO_REUSEADDR. A connection that merely uses the port as its local
// end blocks a bind as well as a listener does (gpustack#5181).
// Without root, other users' descriptors are unreadable; then each container of ours is asked for the sockets of its own processes. An engine that serves holds
// hundreds of connections: /proc is walked once, and a process counts once for a port.
constexpr std::string_view k_body = R"sh(
[ -r /proc/net/tcp ] || { echo "error /proc/net/tcp is unreadable"; echo end; exit 0; }
hidden() {
  for c in $own_ids; do
    if timeout 5 docker exec "$c" sh -c 'ls -l /proc/[0-9]*/fd' 2>/dev/null | grep -q "socket:\[$1\]"; then
      n=$(docker inspect -f '{{.Name}}' "$c"); echo "- own ${n#/}"; return
    fi
  done
  echo "- hidden uid $2"
}
held=$({
  for port in $ports; do printf 'w :%04X %s\n' "$port" "$port"; done
  find /proc/[0-9]*/fd -lname 'socket:*' -printf 'f %h %l\n' 2>/dev/null
  cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | sed 's/^/t /'
} | awk '
  $1 == "w" { port[$2] = $3; next }
  $1 == "f" { split($2, part, "/"); gsub(/[^0-9]/, "", $3); if (!($3 in pid)) pid[$3] = part[3]; next }
  {
    p = substr($3, length($3) - 4)
    if (!(p in port) || $11 == 0 || $5 == "06") next
    who = ($11 in pid) ? pid[$11] : "-"
    line = port[p] " " ($5 == "0A" ? "listen" : "connection") " " who " " (who == "-" ? $11 : 0) " " $9
    if (!(line in seen) && n[p]++ < 20) { seen[line] = 1; print line }
  }
  END { print "all" }')
case $held in *all) ;; *) echo "error /proc/net/tcp was not read to its end"; echo end; exit 0;; esac
printf '%s\n' "$held" | while read -r port state pid inode uid; do
  [ "$port" = all ] && continue
  if [ "$pid" = - ]; then holder=$(hidden "$inode" "$uid"); else holder="$pid $(whose "$pid")"; fi
  echo "held $port $state $holder"
done
for port in $ports; do echo "looked $port"; done
echo end
)sh";

std::optional<Probe> probe(const NodeView& view) {
  std::vector<std::string> ports;
  for (const auto& on : view.ranks) {
    const auto* role = deploy::find_role(on.group->role);
    if (role == nullptr) continue;
    for (const auto& use : role->ports(*on.group, *on.rank)) ports.push_back(std::to_string(use.port));
  }
  ports = unique(ports);
  if (ports.empty()) return std::nullopt;
  auto vars = owner_vars(view);
  vars.push_back({"ports", lines(ports)});
  return Probe{std::move(vars), Json{{"ports", ports}}.dump()};
}

Finding judge_port(const std::string& port, const Output& output) {
  const auto looked = output.values("looked");
  if (std::find(looked.begin(), looked.end(), port) == looked.end()) return unsure("port " + port + " was not looked at", output.first_line());
  std::vector<std::string> strangers, hidden;
  bool own = false;
  for (const auto& line : output.values("held")) {
    const auto words = split_blanks(line, 5);  // port, listen|connection, pid, own|container|host|hidden, name
    if (words[0] != port) continue;
    if (words.size() != 5) return unsure("port " + port + ": the holder is not understood", line);
    if (words[3] == "own") {
      own = true;
    } else if (words[3] == "hidden") {
      hidden.push_back(words[4]);
    } else {
      strangers.push_back(words[3] + " " + words[4] + (words[2] == "-" ? "" : " (pid " + words[2] + ")") + (words[1] == "listen" ? "" : ", by an outgoing connection"));
    }
  }
  if (!strangers.empty() && owner_unknown(output)) return unsure("port " + port + " is in use, and by whom cannot be told: docker does not answer", some_of(unique(strangers)));
  if (!strangers.empty()) return bad("port " + port + " is in use", "free", some_of(unique(strangers)), "end that process or choose another port in the profile");
  if (!hidden.empty()) return bad("port " + port + " is in use", "free", "a process of " + some_of(unique(hidden)), "see who it is as root: ss -ltnp");
  return good("port " + port + (own ? " is held by this deployment" : " is free"));
}

Findings judge(const Json& expectation, const Output& output) {
  if (!complete(output)) return {incomplete(output, "ports")};
  if (const auto error = output.value("error")) return {unsure("ports cannot be read", *error)};
  Findings findings;
  for (const auto& port : expectation.value("ports", std::vector<std::string>{})) findings.push_back(judge_port(port, output));
  return findings;
}

}  // namespace

Check ports_check() {
  return {.id = "ports",
          .title = "ports free or held by this deployment",
          .why = "the engine finds a taken API port only after loading, and a taken dist-init port hangs the rendezvous",
          .remedy = "ss -ltnp on this node shows who listens",
          .source = "sglang.md 1.2, N11, N12; gpustack#5181",
          .seconds = 20,
          .prelude = k_owner_sh,
          .body = k_body,
          .probe = probe,
          .judge = judge};
}

}  // namespace sskj::checks
