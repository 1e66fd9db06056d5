# End one container gently: SIGTERM lets the engine finish its requests; docker kills it after the grace period.
need_lock
ours || die 1 "docker does not answer: docker ps fails"
answer=unchanged
for name in $(each "$drain"); do
  id=$(d 20 ps -q --no-trunc --filter "name=^/$name\$") || die 1 "docker does not answer: docker ps fails"
  [ -n "$id" ] && has_line "$ids" "$id" || continue
  d "$((grace+30))" stop -t "$grace" "$id" >/dev/null || die 1 "container $name does not stop: docker stop -t $grace fails"
  echo "stopped $name"; answer=changed
done
echo "sskj: $answer"
