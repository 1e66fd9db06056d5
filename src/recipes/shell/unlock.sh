# Give up the lock if it is this run's.
find_state
answer=unchanged
if [ -e "$state/lock" ] && [ "$(get "$state/lock" run)" = "${SSKJ_RUN:-none}" ]; then
  rm -f "$state/lock.beat" "$state/lock" || die 1 "cannot remove $state/lock"
  answer=changed
fi
echo "sskj: $answer"
