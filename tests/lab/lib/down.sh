# shellcheck shell=bash
# lab down: ends every process of this lab by pid; their namespaces, mounts and links go with them. Then it looks again.

lab_lock() {
  mkdir -p "$SSKJ_LAB_DIR"
  exec 9>"$SSKJ_LAB_DIR/lock"
  flock -n 9 || { say "another lab command works on $SSKJ_LAB_DIR, waiting"; flock 9; }
}

# Holders carry the tag in their environment; all else is told by the namespaces it is in.
lab_processes() {
  /usr/bin/python3 -IS "$LAB_HOME/lib/processes.py" "$LAB_TAG" "$SSKJ_LAB_DIR"
}

lab_cgroups() { find /sys/fs/cgroup -depth -type d -path "*/$LAB_CGROUP*" 2>/dev/null; }

lab_mounts() { awk -v d="$SSKJ_LAB_DIR" 'index($5, d "/") == 1 {print $5}' /proc/self/mountinfo; }

end_processes() {
  local pids
  pids=$(lab_processes | cut -d' ' -f1)
  # shellcheck disable=SC2086
  [ -z "$pids" ] || kill "-$1" $pids 2>/dev/null || true
}

processes_gone() { [ -z "$(lab_processes)" ]; }

# Ends one node and forgets its directory.
node_remove() {
  local pid dir
  dir=$(node_dir "$1")
  [ -d "$dir" ] || return 0
  if pid=$(node_pid "$1"); then
    kill -KILL "$pid" 2>/dev/null || true
    wait_for 20 "node $1's processes to end" node_is_gone "$1"
  fi
  rm -rf --one-file-system "$dir"
}

node_is_gone() { ! node_pid "$1" >/dev/null; }

lab_down() {
  local left
  end_processes KILL
  wait_for 10 "the lab's processes to end" processes_gone || end_processes KILL
  lab_mounts | sort -r | while read -r left; do umount -l "$left"; done
  lab_cgroups | while read -r left; do rmdir "$left" 2>/dev/null || { sleep 0.3; rmdir "$left" 2>/dev/null; } || true; done
  ssh_home_give
  if [ -d "$SSKJ_LAB_DIR" ]; then
    find "$SSKJ_LAB_DIR" -mindepth 1 -maxdepth 1 ! -name lock -exec rm -rf --one-file-system {} +
    rm -f "$SSKJ_LAB_DIR/lock"
    rmdir "$SSKJ_LAB_DIR" 2>/dev/null || true
  fi
  lab_verify_down
}

lab_verify_down() {
  local bad=0 what
  what=$(lab_processes)
  [ -z "$what" ] || { say "still running after down: $what"; bad=1; }
  what=$(lab_mounts)
  [ -z "$what" ] || { say "still mounted after down: $what"; bad=1; }
  what=$(lab_cgroups)
  [ -z "$what" ] || { say "cgroups left after down: $what"; bad=1; }
  [ ! -e "$SSKJ_LAB_DIR/nodes" ] || { say "files left after down: $SSKJ_LAB_DIR"; bad=1; }
  [ "$bad" = 0 ] || return 1
  say "down: no process, namespace, mount, link or cgroup of this lab is left"
}

lab_down_command() {
  local pid
  if pid=$(op_pid) && [ "$(readlink "/proc/$pid/ns/net")" = "$(readlink /proc/self/ns/net)" ]; then
    die "down was called from inside the lab: call it from outside 'lab run'"
  fi
  [ -d "$SSKJ_LAB_DIR" ] && lab_lock
  trap 'say "down goes on; it leaves nothing half done"' INT TERM HUP
  lab_down
}
