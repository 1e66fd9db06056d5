# Take the lock of this node and, with claim=1, claim it for the deployment. Safe to send twice: the same run finds its own lock.
find_state
run=$(one_line "${SSKJ_RUN:-none}")
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
owner=$(id -un 2>/dev/null || id -u)
client=${SSH_CONNECTION%% *}; client=${client:-this machine}

facts() {
  printf 'version=1\nrun=%s\nplan=%s\ndeployment=%s\nprofile=%s\nverb=%s\n' "$run" "${SSKJ_PLAN:-}" "$deployment" "$profile" "$verb" &&
  printf 'reason=%s\nowner=%s\nclient=%s\nnode=%s\npid=%s\nsince=%s\n' "$(one_line "$reason")" "$owner" "$client" "$(uname -n)" "$$" "$now"
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
refuse_lock() { die 73 "the node is locked by $(holder "$1"). If that run is gone: sskj lock release -p $profile"; }

[ -e "$other/lock" ] && [ "$(get "$other/lock" run)" != "$run" ] && refuse_lock "$other/lock"
answer=unchanged; fresh=0; tries=0
while [ "$(get "$state/lock" run)" != "$run" ]; do
  if place lock exclusive; then fresh=1; answer=changed; break; fi
  # It may have been released between our attempt and this look.
  [ -e "$state/lock" ] && [ -n "$(get "$state/lock" run)" ] && [ "$(get "$state/lock" run)" != "$run" ] && refuse_lock "$state/lock"
  tries=$((tries+1)); [ "$tries" -lt 5 ] || die 1 "cannot create $state/lock"
done
: >"$state/lock.beat" 2>/dev/null

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
