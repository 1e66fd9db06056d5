# shellcheck shell=bash
# The operator's network namespace holds two bridges; nothing of it is linked to the machine's own network.
# No namespace has a name and no link is ever in the machine's namespace: all go when their processes go.

operator_up() {
  op_pid >/dev/null && return 0
  local pidfile=$SSKJ_LAB_DIR/operator.pid
  # shellcheck disable=SC2016  # expanded by the shell that is started
  SSKJ_LAB_HOLDER=$LAB_TAG setsid unshare --net -- /bin/bash -c \
    '. "$0/lib/common.sh"; write_pid "$1" $$; exec -a "sskj-lab-operator-$2" sleep infinity' \
    "$LAB_HOME" "$pidfile" "$LAB_TAG" </dev/null >/dev/null 2>>"$SSKJ_LAB_DIR/operator.log" 9>&- &
  disown
  wait_for 10 "the operator namespace" op_pid >/dev/null || die "the operator namespace did not come up: see $SSKJ_LAB_DIR/operator.log"
  in_op ip -batch - <<END || die "the operator's links could not be made"
link set lo up
link add compute type bridge forward_delay 0 stp_state 0
link add mgmt type bridge forward_delay 0 stp_state 0
addr add 174.1.60.254/24 dev compute
addr add 10.60.0.254/24 dev mgmt
link set compute up
link set mgmt up
END
}

# Both ends are born in their namespaces. In the operator's they are called cI (compute) and mI (management).
node_links() {
  local i=$1 pid
  pid=$(node_pid "$i") || return 1
  in_op ip -batch - <<END || return 1
link add c$i type veth peer name bond1 netns $pid
link add m$i type veth peer name bond0 netns $pid
link set c$i master compute up
link set m$i master mgmt up
END
  nsenter -t "$pid" -n -- ip -batch - <<END
link set lo up
addr add $(node_ip "$i")/24 dev bond1
addr add 10.60.0.$i/24 dev bond0
link set bond1 up
link set bond0 up
END
}
