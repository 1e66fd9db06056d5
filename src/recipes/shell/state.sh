# Where lock and claim lie: $state_dir for root and for whoever may write there (root opens it to the group docker, whose members are as good as root), else ~/.sskj.
# Both places are read, so that an account that may not write in the first still sees what holds the node.
#
# lock   one run at a time. Made complete and then hard-linked into place, so it is never seen half-written. Lines KEY=VALUE: version, run, plan, deployment,
#        profile, verb, reason, owner, client, node, pid, since (the node's clock). lock.beat beside it is written when the lock is taken: its age by the node's own
#        clock is how long the lock is held.
# claim  the deployment that the node belongs to, kept between runs: version, deployment, profile, run, owner, since.
get() { sed -n "s/^$2=//p" "$1" 2>/dev/null | head -n 1; }
one_line() { printf '%s' "$1" | tr '\n\r' '  ' | cut -c 1-200; }
find_state() {
  umask 022
  if [ "$(id -u)" = 0 ] && [ ! -d "$state_dir" ] && mkdir -p "$state_dir" 2>/dev/null; then
    chgrp docker "$state_dir" 2>/dev/null && chmod 2775 "$state_dir"
  fi
  state=$state_dir; other=${HOME:-/nonexistent}/.sskj
  if ! { mkdir -p "$state" 2>/dev/null && [ -w "$state" ]; }; then
    state=$other; other=$state_dir
    mkdir -p "$state" 2>/dev/null || die 1 "neither $state_dir nor $state can be written"
  fi
}
holder() {
  echo "run $(get "$1" run) ($(get "$1" verb) of $(get "$1" deployment) by $(get "$1" owner) from $(get "$1" client), since $(get "$1" since))"
}
