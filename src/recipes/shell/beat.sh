# The heartbeat of the lock: a run that does not hold it any more is told so.
find_state
[ "$(get "$state/lock" run)" = "${SSKJ_RUN:-none}" ] && { write_beat; exit 0; }
[ -e "$state/lock" ] && die 73 "the lock of this node was taken over by $(holder "$state/lock")"
die 73 "the lock of this node was released by somebody else"
