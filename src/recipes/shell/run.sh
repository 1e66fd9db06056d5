# Start one container. Safe to send twice: a container of this very run is kept when it runs.
need_lock
printf '%s\n' "$create" | while IFS= read -r path; do
  [ -z "$path" ] || mkdir -p -- "$path" || exit 1
done || die 1 "a cache directory cannot be made"
label() { d 20 inspect -f "{{index .Config.Labels \"sskj.$1\"}}" "$name" 2>/dev/null; }
state_now() { d 20 inspect -f '{{.State.Status}}' "$name" 2>/dev/null; }
before=$(state_now)
if [ -n "$before" ]; then
  [ "$(label run)" = "${SSKJ_RUN:-none}" ] && [ "$(label deployment)" = "$deployment" ] || die 1 "container name $name is taken"
  [ "$before" = running ] && { echo "sskj: unchanged"; exit 0; }
  # Left in state created by a start that was cut off; anything else has run and ended.
  [ "$before" = created ] || die 1 "container $name of this run is $before"
  d 60 rm -fv "$name" >/dev/null || die 1 "container $name cannot be removed"
fi
said=$(start_container 2>&1) || die 1 "docker run fails: $(printf '%s\n' "$said" | sed '/^$/d; /^See /d' | tail -n 1)"
case $(state_now) in
  running) ;;
  '') die 1 "container $name is gone right after its start";;
  *) d 20 logs --tail 20 "$name" >&2 2>&1; die 1 "container $name ended right after its start: $(d 20 inspect -f '{{.State.Status}}, exit status {{.State.ExitCode}} {{.State.Error}}' "$name")";;
esac
# gc may remove images that runs of ours used, and no others.
image=$(d 20 inspect -f '{{.Image}}' "$name" 2>/dev/null) && ! grep -qx "$image" "$state/images" 2>/dev/null && echo "$image" >>"$state/images"
echo "started $name"
echo "sskj: changed"
