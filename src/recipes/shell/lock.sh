# Take the lock of this node and, with claim=1, claim it for the deployment. Safe to send twice: the same run finds its own lock.
find_state
run=$(one_line "${SSKJ_RUN:-none}")
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
owner=$(id -un 2>/dev/null || id -u)
client=${SSH_CONNECTION%% *}; client=${client:-this machine}

facts() {
  printf 'version=1\nrun=%s\nplan=%s\ndeployment=%s\nprofile=%s\nverb=%s\n' "$run" "${SSKJ_PLAN:-}" "$deployment" "$profile" "$verb" &&
  printf 'reason=%s\nowner=%s\nclient=%s\nnode=%s\npid=%s\n' "$(one_line "$reason")" "$owner" "$client" "$(uname -n)" "$$" &&
  printf 'boot=%s\nuptime=%s\nsince=%s\n' "$(boot_id)" "$(now_s)" "$now"
}
# A file appears whole or not at all. Fails when the name is taken (ln) or the disk is full (printf).
place() {
  temporary=$(mktemp "$state/.$1.XXXXXX") || die 1 "cannot write in $state"
  facts >"$temporary" && chmod 644 "$temporary" || { rm -f "$temporary"; die 1 "cannot write $state/$1: is the disk full?"; }
  if [ "$2" = exclusive ]; then
    ln "$temporary" "$state/$1" 2>/dev/null; placed=$?
  else
    mv -f "$temporary" "$state/$1"; placed=$?
  fi
  rm -f "$temporary"
  return "$placed"
}
refuse_lock() { die 73 "the node is locked by $(holder "$1"), and that run is alive. Wait for it or end it; this frees the node all the same: sskj lock release -p $profile --yes"; }
# One beat that is seen shows that the holder lives; none for $stale seconds, that it is gone (kill -9, power, network). Returns 1 when there is nobody to wait for.
alive() {
  first=$(get "$1" run); seen=$(cat "$1.beat" 2>/dev/null); waited=0
  while [ -e "$1" ] && [ "$(get "$1" run)" = "$first" ]; do
    [ "$(cat "$1.beat" 2>/dev/null)" = "$seen" ] || return 0
    age=$(beat_age "$1")
    [ "${age:-$waited}" -lt "$stale" ] || return 1
    sleep 1; waited=$((waited + 1))
  done
  return 1
}
# Of several that find the lock stale, one moves it away. Without flock another's fresh lock may be met: it is put back.
take_over() {
  [ -e "$1" ] && [ "$(get "$1" run)" = "$first" ] || return 1
  aside="${1%/*}/.stale.$$"
  mv "$1" "$aside" 2>/dev/null || return 1
  if [ "$(get "$aside" run)" != "$first" ]; then ln "$aside" "$1" 2>/dev/null; rm -f "$aside"; return 1; fi
  stale_run=$first
  rm -f "$aside" "$1.beat"
}
free_stale() {
  if command -v flock >/dev/null; then exec 9<"${1%/*}" && flock -w 5 9; fi
  take_over "$1"
  exec 9<&-
}
audit() {
  [ "$(wc -c <"$state/audit.log" 2>/dev/null || echo 0)" -lt 1048576 ] || mv -f "$state/audit.log" "$state/audit.log.1" 2>/dev/null
  printf '%s run=%s verb=%s deployment=%s owner=%s client=%s%s reason=%s\n' "$now" "$run" "$verb" "$deployment" "$owner" "$client" "${stale_run:+ took-over=$stale_run}" "$(one_line "$reason")" >>"$state/audit.log"
} 2>/dev/null

# A lock in the other place may be another account's: a stale one there need not be removable to count as gone.
if [ -e "$other/lock" ] && [ "$(get "$other/lock" run)" != "$run" ]; then
  alive "$other/lock" && refuse_lock "$other/lock"
  free_stale "$other/lock"
fi
answer=unchanged; fresh=0; tries=0
while [ "$(get "$state/lock" run)" != "$run" ]; do
  if place lock exclusive; then fresh=1; answer=changed; break; fi
  # It may have been released, or taken over by a third, between our attempt and this look.
  if [ -e "$state/lock" ]; then
    alive "$state/lock" && refuse_lock "$state/lock"
    free_stale "$state/lock"
  fi
  tries=$((tries+1)); [ "$tries" -lt 5 ] || die 73 "the lock of this node goes from hand to hand: $state/lock"
done
write_beat
[ "$fresh" = 0 ] || audit

[ "$claim" = 1 ] || { echo "sskj: $answer"; exit 0; }
for file in "$state/claim" "$other/claim"; do
  by=$(get "$file" deployment)
  [ -n "$by" ] && [ "$by" != "$deployment" ] || continue
  # A claim whose deployment has no container here and no run (we hold the lock) protects nothing.
  if left=$(d 20 ps -aq --filter "label=sskj.deployment=$by" 2>/dev/null) && [ -z "$left" ]; then rm -f "$file" 2>/dev/null && continue; fi
  [ "$fresh" = 1 ] && rm -f "$state/lock" "$state/lock.beat"
  die 66 "the node is claimed by deployment $by since $(get "$file" since): stop it first: sskj stop -p $(get "$file" profile)"
done
if [ "$(get "$state/claim" deployment)" != "$deployment" ]; then
  place claim replace || die 1 "cannot write $state/claim"
  answer=changed
fi
echo "sskj: $answer"
