# Where lock and claim lie: $state_dir for root and for whoever may write there (root opens it to the group docker, whose members are as good as root), else ~/.sskj.
# Both places are read, so that an account that may not write in the first still sees what holds the node.
#
# lock       one run at a time. Made complete and then hard-linked into place, so it is never seen half-written. Lines KEY=VALUE: version, run, plan, deployment,
#            profile, verb, reason, owner, client, node, pid, boot, uptime, since (the node's clock, for people only).
# lock.beat  "BOOT-ID UPTIME", written every few seconds by the run that holds the lock. Ages are differences of the machine's uptime: no clock that somebody may set.
# claim      the deployment that the node belongs to, kept between runs: the same lines.
# audit.log  a line for each run that took the lock.
get() { sed -n "s/^$2=//p" "$1" 2>/dev/null | head -n 1; }
one_line() { printf '%s' "$1" | tr '\n\r' '  ' | cut -c 1-200; }
boot_id() { cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo unknown; }
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
# In place and always of one length: a full disk must not stop a heart.
write_beat() { printf '%-79s\n' "$(boot_id) $(now_s)" | dd "of=$state/lock.beat" conv=notrunc 2>/dev/null; }
# Seconds since the last sign of life of a lock file's run: its last beat, or the taking of the lock where that is later (a beat file can be left from a run before).
# Empty when that cannot be told.
beat_age() {
  sign_of_life "$(get "$1" boot)" "$(get "$1" uptime)"; taken=$sign
  read -r boot beat rest <"$1.beat"; sign_of_life "$boot" "$beat"
  [ "${sign:-0}" -ge "${taken:-0}" ] || sign=$taken
  case $sign in '') ;; 0) echo 999999;; *) echo $(($(now_s) - sign));; esac
} 2>/dev/null
# In $sign: when it was; 0 = before this boot; empty = unknown.
sign_of_life() { case $2 in ''|*[!0-9]*) sign=;; *) if [ "$1" = "$(boot_id)" ]; then sign=$2; else sign=0; fi;; esac; }
