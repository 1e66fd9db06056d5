// Whose is a process? Shell text that the GPU and port probes share.
#pragma once

#include <string>
#include <string_view>

#include "support.hpp"

namespace sskj::checks {

// Needs $deployment, $names (containers of ours, one a line) and $adopt (1: those names count as ours without the label).
// Prints `nodocker` when docker does not answer: then nobody's processes can be told apart, and a judge must not call our own ones strangers.
// `whose PID` prints "own NAME", "container NAME" or "host COMMAND". The cgroup path holds the container's id with every runtime and both cgroup versions; where it
// does not (private hierarchies), the ancestors of the process are compared with the containers' first processes.
inline constexpr std::string_view k_owner_sh = R"sh(
mine() {
  docker ps -aq --no-trunc --filter "label=sskj.deployment=$deployment" 2>/dev/null || return 1
  [ "$adopt" = 0 ] || printf '%s\n' "$names" | while IFS= read -r n; do docker ps -aq --no-trunc --filter "name=^/$n\$" 2>/dev/null; done
}
own_ids=$(mine) || echo nodocker
own=$([ -z "$own_ids" ] || docker inspect -f '{{.Id}} {{.State.Pid}} {{.Name}}' $own_ids 2>/dev/null)
whose() {
  c=$(sed -n 's/.*\([0-9a-f]\{64\}\).*/\1/p' "/proc/$1/cgroup" 2>/dev/null | head -n 1)
  if [ -n "$c" ]; then
    n=$(printf '%s\n' "$own" | sed -n "s|^$c [0-9]* /*||p")
    [ -n "$n" ] && { echo "own $n"; return; }
    n=$(docker inspect -f '{{.Name}}' "$c" 2>/dev/null); n=${n#/}
    [ -n "$n" ] && { echo "container $n"; return; }
  fi
  p=$1; hops=0
  while [ "${p:-0}" -gt 1 ] && [ "$hops" -lt 32 ]; do
    n=$(printf '%s\n' "$own" | sed -n "s|^[0-9a-f]* $p /*||p")
    [ -n "$n" ] && { echo "own $n"; return; }
    p=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$p/status" 2>/dev/null); hops=$((hops+1))
  done
  n=$(cat "/proc/$1/comm" 2>/dev/null)
  echo "host ${n:-?}"
}
)sh";

/// Whose a process is could not be told: what looks like a stranger may be ours.
inline bool owner_unknown(const Output& output) { return !output.values("nodocker").empty(); }

/// Variables that the text above needs.
inline std::vector<Var> owner_vars(const NodeView& view) {
  return {{"deployment", view.deployment->name}, {"names", lines(container_names(view))}, {"adopt", view.adopt ? "1" : "0"}};
}

}  // namespace sskj::checks
