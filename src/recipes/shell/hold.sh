# Who holds this node, read-only: lines `lock KEY=VALUE` and `claim KEY=VALUE`; age and beat_age are seconds of the node's uptime.
hold_lines() {
  for dir in "$state_dir" "${HOME:-/nonexistent}/.sskj"; do
    [ -r "$dir/lock" ] || continue
    sed 's/^/lock /' "$dir/lock" | head -n 20
    [ "$(get "$dir/lock" boot)" = "$(boot_id)" ] && echo "lock age=$(($(now_s) - $(get "$dir/lock" uptime)))"
    beat=$(beat_age "$dir/lock"); echo "lock beat_age=$beat"
    [ "${beat:-0}" -lt "$stale" ] || echo "lock stale=1"
    break
  done
  for dir in "$state_dir" "${HOME:-/nonexistent}/.sskj"; do
    [ -r "$dir/claim" ] && { sed 's/^/claim /' "$dir/claim" | head -n 20; break; }
  done
}
