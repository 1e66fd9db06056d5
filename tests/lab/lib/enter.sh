# shellcheck shell=bash
# lab run, lab node: the command replaces this process, so its exit code, streams and terminal are its own.

lab_run() {
  [ "${1:-}" != -- ] || shift
  [ $# -gt 0 ] || die "run: no command (run -- CMD...)"
  need_operator
  export SSKJ_LAB_OPERATOR_DIR=$SSKJ_LAB_DIR/operator
  exec nsenter -t "$(op_pid)" -n -- unshare --mount --propagation slave -- \
    /bin/bash "$LAB_HOME/lib/operator_entry.sh" "$SSKJ_LAB_OPERATOR_DIR" "$(root_ssh_home)" "$@"
}

lab_node() {
  local i=${1:-}
  [ $# = 0 ] || shift
  [ "${1:-}" != -- ] || shift
  [ $# -gt 0 ] || die "node: no command (node I -- CMD...)"
  need_node "$i"
  exec nsenter -t "$LAB_NODE" -m -n -p -u -i -- /usr/bin/env -i -C /root \
    HOME=/root USER=root LOGNAME=root SHELL=/bin/bash TERM="${TERM:-dumb}" LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
