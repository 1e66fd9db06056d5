# Remove containers by name pattern (shell wildcards), whatever their labels; no lock is taken.
deadline=$(($(now_s)+remove_seconds))
answer=unchanged
matching() {
  all=$(d 20 ps -a --no-trunc --format '{{.ID}} {{.Names}}') || die 1 "docker does not answer: docker ps fails"
  printf '%s\n' "$all" | while read -r id name; do
    # shellcheck disable=SC2254
    case $name in $pattern) echo "$id $name";; esac
  done
}
found=$(matching) || exit 1
printf '%s\n' "$found" | sed '/^$/d; s/^[^ ]* /removing /'
for id in $(printf '%s\n' "$found" | cut -d ' ' -f 1); do d "$((grace+30))" stop -t "$grace" "$id" >/dev/null 2>&1 & done
wait
while found=$(matching) && [ -n "$found" ]; do
  answer=changed
  for id in $(printf '%s\n' "$found" | cut -d ' ' -f 1); do trouble=$(d 60 rm -fv "$id" 2>&1 >/dev/null | tail -n 1); done
  [ -z "$(matching)" ] && break
  [ "$(now_s)" -lt "$deadline" ] || die 1 "containers cannot be removed within $remove_seconds s: $trouble"
  sleep 1
done
echo "sskj: $answer"
