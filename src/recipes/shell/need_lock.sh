# The run that holds the lock is the only one that may touch containers.
need_lock() {
  find_state
  [ "$(get "$state/lock" run)" = "${SSKJ_RUN:-none}" ] && return
  [ -e "$state/lock" ] && die 73 "the node is locked by $(holder "$state/lock")"
  die 73 "the lock of this node is not held by this run any more"
}
