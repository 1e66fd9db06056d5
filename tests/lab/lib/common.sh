# shellcheck shell=bash
# shellcheck disable=SC2034  # read by the files that source this one
# Shared by every part of the lab: where things are, how to talk, how to know a process again.

SSKJ_LAB_DIR=${SSKJ_LAB_DIR:-/var/tmp/sskj-lab}
SSKJ_LAB_CACHE=${SSKJ_LAB_CACHE:-/var/cache/sskj-lab}
export SSKJ_LAB_DIR SSKJ_LAB_CACHE

# Instances differ by their state directory only; the tag marks our processes and cgroups.
LAB_TAG=$(printf '%s' "$SSKJ_LAB_DIR" | sha256sum | cut -c1-8)
LAB_CGROUP=sskj-lab-$LAB_TAG
LAB_IMAGE=lmsysorg/sglang:kimi-k3
LAB_ORDER=(5 6 7 8 1 2 3 4)
LAB_MODEL=/data/hf_models/Kimi-K3

say() { printf 'lab: %s\n' "$*" >&2; }
die() { printf 'lab: %s\n' "$*" >&2; exit 1; }

node_dir() { printf '%s/nodes/%s' "$SSKJ_LAB_DIR" "$1"; }
node_ip() { printf '174.1.60.%s' "$1"; }

# 'lab run' mounts the lab's own over it. Where root has none, the first lab makes it and the last one that goes removes it: removing a directory takes away what other
# labs have mounted on it. Each lab stands in the register under its number, with its directory.
LAB_SSH_REGISTER=/run/sskj-lab-ssh-home
ssh_home_entry() { printf '%s/%s' "$LAB_SSH_REGISTER" "$(printf '%s' "$SSKJ_LAB_DIR" | cksum | cut -d' ' -f1)"; }
ssh_home_take() {
  (
    mkdir -p "$LAB_SSH_REGISTER" && exec 7>"$LAB_SSH_REGISTER.lock" && flock 7 || exit 1
    [ -d "$(root_ssh_home)" ] || { mkdir -m 700 "$(root_ssh_home)" && : >"$LAB_SSH_REGISTER/made"; } || exit 1
    printf '%s\n' "$SSKJ_LAB_DIR" >"$(ssh_home_entry)"
  )
}
ssh_home_give() {
  (
    [ -d "$LAB_SSH_REGISTER" ] && exec 7>"$LAB_SSH_REGISTER.lock" && flock 7 || exit 0
    rm -f "$(ssh_home_entry)"
    for entry in "$LAB_SSH_REGISTER"/[0-9]*; do  # one whose lab was removed by hand counts no more
      [ ! -e "$entry" ] || [ -d "$(cat "$entry")" ] || rm -f "$entry"
    done
    compgen -G "$LAB_SSH_REGISTER/[0-9]*" >/dev/null && exit 0
    [ ! -e "$LAB_SSH_REGISTER/made" ] || rmdir "$(root_ssh_home)" 2>/dev/null
    rm -rf "$LAB_SSH_REGISTER" "$LAB_SSH_REGISTER.lock"
  )
}
root_ssh_home() { printf '%s/.ssh' "$(getent passwd 0 | cut -d: -f6)"; }

# The start time tells a process from a later one with the same pid.
proc_start() {
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  stat=${stat##*) }
  # shellcheck disable=SC2086
  set -- $stat
  printf '%s' "${20}"
}

# A pid file holds "PID STARTTIME".
write_pid() { printf '%s %s\n' "$2" "$(proc_start "$2")" >"$1.new" && mv "$1.new" "$1"; }

live_pid() {
  local pid start
  [ -f "$1" ] && read -r pid start <"$1" || return 1
  [ -n "$start" ] && [ "$(proc_start "$pid")" = "$start" ] || return 1
  printf '%s' "$pid"
}

op_pid() { live_pid "$SSKJ_LAB_DIR/operator.pid"; }
node_pid() { live_pid "$(node_dir "$1")/pid"; }

nodes_present() {
  local d
  for d in "$SSKJ_LAB_DIR"/nodes/*/; do
    [ -d "$d" ] && basename "$d"
  done | sort -n
}

need_operator() {
  op_pid >/dev/null || die "the lab is not up (state directory $SSKJ_LAB_DIR): run 'tests/lab/lab up'"
}

need_node() {
  [[ ${1:-} =~ ^[0-9]+$ ]] || die "a node is named by its last octet (5 is 174.1.60.5), got '${1:-}'"
  need_operator
  LAB_NODE=$(node_pid "$1") || die "node $1 is not up; up are: $(nodes_present | tr '\n' ' ')"
}

in_op() {
  local pid
  pid=$(op_pid) || { say "the operator's side is gone"; return 1; }
  nsenter -t "$pid" -n -- "$@"
}

# Inside a node as root, with the node's own environment (the machine's would leak build paths).
in_node() {
  local i=$1 pid
  shift
  pid=$(node_pid "$i") || die "node $i is not up"
  nsenter -t "$pid" -m -n -p -u -i -- /usr/bin/env -i \
    HOME=/root USER=root LOGNAME=root SHELL=/bin/bash TERM="${TERM:-dumb}" LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

wait_for() { # SECONDS DESCRIPTION COMMAND...
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    kill -0 $$ 2>/dev/null || return 1 # in a start that runs beside the main shell: that one was killed
    [ "$SECONDS" -lt "$end" ] || { say "waited in vain for $what"; return 1; }
    sleep 0.1
  done
}

cgroup_version() {
  if [ -f /sys/fs/cgroup/cgroup.controllers ]; then echo 2; else echo 1; fi
}
