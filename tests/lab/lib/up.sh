# shellcheck shell=bash
# lab up

wanted_nodes() { # N
  local i list=("${LAB_ORDER[@]}")
  for ((i = 9; i <= $1; i++)); do list+=("$i"); done
  printf '%s\n' "${list[@]:0:$1}"
}

operator_keys() {
  local dir=$SSKJ_LAB_DIR/operator
  ssh_home_take || die "root's $(root_ssh_home) cannot be made"
  mkdir -p "$dir"
  chmod 700 "$dir"
  [ -f "$dir/id_ed25519" ] || ssh-keygen -q -t ed25519 -N '' -C sskj-lab-operator -f "$dir/id_ed25519" || die "no operator key could be made"
  [ -f "$dir/config" ] || : >"$dir/config"
  chmod 600 "$dir/config"
}

known_hosts_write() {
  local dir=$SSKJ_LAB_DIR/operator i key
  for i in $(nodes_present); do
    for key in "$(node_dir "$i")"/upper/etc/ssh/lab_host_*.pub; do
      printf '%s,10.60.0.%s,6000D-%s %s\n' "$(node_ip "$i")" "$i" "$i" "$(cut -d' ' -f1,2 "$key")"
    done
  done >"$dir/known_hosts.new"
  chmod 600 "$dir/known_hosts.new"
  mv "$dir/known_hosts.new" "$dir/known_hosts"
}

lab_up() {
  local count=4
  while [ $# -gt 0 ]; do
    case $1 in
      --nodes) count=${2:-}; shift 2 || die "--nodes needs a number" ;;
      --nodes=*) count=${1#*=}; shift ;;
      *) die "up: unknown argument '$1' (up [--nodes N])" ;;
    esac
  done
  [[ $count =~ ^[0-9]{1,3}$ ]] || count=0
  ((10#$count >= 1 && 10#$count <= 200)) || die "--nodes takes 1 to 200"
  [[ $SSKJ_LAB_DIR$SSKJ_LAB_CACHE != *[:,\ ]* ]] || die "SSKJ_LAB_DIR and SSKJ_LAB_CACHE must not hold ':', ',' or blanks (overlay mount options)"
  check_machine
  lab_lock
  trap 'interrupted' INT TERM HUP
  local started=$SECONDS want new=() i
  mapfile -t want < <(wanted_nodes "$count")
  # A node whose operator is gone cannot be reached again.
  [ ! -d "$SSKJ_LAB_DIR/nodes" ] || op_pid >/dev/null || lab_down
  for i in "${want[@]}"; do node_complete "$i" 2>/dev/null || new+=("$i"); done
  if [ "${#new[@]}" = 0 ]; then
    say "already up: nodes $(nodes_present | tr '\n' ' ')"
    return 0
  fi
  mkdir -p "$SSKJ_LAB_DIR/nodes"
  chmod 755 "$SSKJ_LAB_DIR"
  image_ensure
  weights_ensure
  operator_keys
  [ -d "$SSKJ_LAB_DIR/common" ] || layer_build "$SSKJ_LAB_DIR/common"
  operator_up
  nodes_start "${new[@]}" || { nodes_logs; say "taking the lab down again"; lab_down; exit 1; }
  known_hosts_write
  images_agree
  trap - INT TERM HUP
  say "up in $((SECONDS - started)) s: nodes $(nodes_present | tr '\n' ' ')(174.1.60.N, ssh as root, ops, dock, plain)"
  say "next: tests/lab/lab run -- CMD, tests/lab/lab node 5 -- CMD, tests/lab/lab down"
}

interrupted() {
  trap '' INT TERM HUP
  say "interrupted: taking down what was started"
  end_jobs
  lab_down
  exit 130
}

# Each node's start is a process group, so that nothing of it goes on and makes files or namespaces later.
end_jobs() {
  local pid
  for pid in $(jobs -p); do kill -KILL -- "-$pid" 2>/dev/null; done
  wait 2>/dev/null
}

nodes_start() {
  local i pids=() failed=0
  for i in "$@"; do
    [ ! -d "$(node_dir "$i")" ] || say "node $i is there but not whole: it is made anew"
    node_remove "$i"
    # The start keeps the lock (descriptor 9): should this shell be killed, 'down' waits until its orphans have noticed.
    set -m
    node_up "$i" &
    set +m
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i" || failed=1; done
  return "$failed"
}

images_agree() {
  local ids
  ids=$(for i in $(nodes_present); do node_image_id "$i"; done | sort -u)
  [ "$(wc -l <<<"$ids")" = 1 ] || die "the nodes hold different images under $LAB_IMAGE: $ids"
}

# What a failed node last said; the files go with the lab.
nodes_logs() {
  local log
  for log in "$SSKJ_LAB_DIR"/nodes/*/init.log "$SSKJ_LAB_DIR"/nodes/*/upper/var/log/lab/*.log; do
    [ -s "$log" ] || continue
    say "end of $log:"
    tail -n 5 "$log" | sed 's/^/    /' >&2
  done
}
