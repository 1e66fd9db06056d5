# Remove what this run started on this node; never anything else.
deadline=$(($(now_s)+remove_seconds))
answer=unchanged
while :; do
  ids=$(d 20 ps -aq --no-trunc --filter "label=sskj.run=${SSKJ_RUN:-none}" --filter "label=sskj.deployment=$deployment" --filter "label=sskj.group=$group") ||
    die 1 "docker does not answer: containers of this run may still be there; the next start or stop removes them"
  [ -n "$ids" ] || break
  answer=changed
  for id in $ids; do d 60 rm -fv "$id" >/dev/null 2>&1; done
  [ "$(now_s)" -lt "$deadline" ] || die 1 "containers of this run cannot be removed within $remove_seconds s; the next start or stop removes them"
  sleep 1
done
echo "sskj: $answer"
