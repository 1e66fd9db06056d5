# Stop and remove every container of the deployment on this node, until their names and the GPUs are free. Removal of a process that has mapped terabytes outlasts one
# docker call, so it is repeated; what still holds at the deadline is named.
need_lock
ours || die 1 "docker does not answer: docker ps fails"
answer=unchanged
first=$ids
pids=
for id in $first; do
  echo "found $(d 20 inspect -f '{{.Name}} {{.State.Status}} {{.Id}}' "$id")"
  pids="$pids $(grep -ls "$id" /proc/[0-9]*/cgroup | sed 's|^/proc/\([0-9]*\)/.*|\1|' | tr '\n' ' ')"
done
for id in $first; do
  d "$((grace+30))" stop -t "$grace" "$id" >/dev/null 2>&1 &
done
wait
deadline=$(($(now_s)+remove_seconds))
while ours && [ -n "$ids" ]; do
  answer=changed
  for id in $ids; do trouble=$(d 60 rm -fv "$id" 2>&1 >/dev/null | tail -n 1); done
  ours && [ -z "$ids" ] && break
  [ "$(now_s)" -lt "$deadline" ] || die 1 "containers cannot be removed within $remove_seconds s: $(d 20 inspect -f '{{.Name}} ({{.State.Status}})' $ids | tr '\n' ' ')$trouble"
  sleep 1
done
[ -z "$ids" ] || die 1 "docker does not answer: docker ps fails"

# Our processes end with their containers; the driver frees their memory a little later.
alive() { for p in $pids; do [ ! -d "/proc/$p" ] || echo "$p"; done; }
smi() { timeout -k 2 20 nvidia-smi "$@" --format=csv,noheader,nounits 2>/dev/null; }
busy() {
  command -v nvidia-smi >/dev/null || return 0
  apps=$(smi --query-compute-apps=pid | tr -d ' ')
  for p in $pids; do has_line "$apps" "$p" && echo "process $p of ours is on a GPU;"; done
  [ -n "$idle_mib" ] || return 0
  smi --query-gpu=index,memory.used | awk -F', *' -v idle="$idle_mib" '$2 + 0 > idle {print "GPU " $1 " holds " $2 " MiB;"}'
}
deadline=$(($(now_s)+gpu_seconds))
while left=$(alive) && held=$(busy) && [ -n "$left$held" ]; do
  if [ "$(now_s)" -ge "$deadline" ]; then
    [ -z "$left" ] || held="processes outlive their containers: $(printf '%s ' $left); $held"
    apps=$(smi --query-compute-apps=pid,process_name | sed '/^$/d' | tr '\n' ';')
    die 1 "containers are removed, but after $gpu_seconds s$(printf ' %s' $held) compute processes: ${apps:-none visible (as root: fuser -v /dev/nvidia*)}"
  fi
  sleep 1
done
if [ -z "$idle_mib" ] && command -v nvidia-smi >/dev/null; then
  smi --query-compute-apps=gpu_uuid,pid,process_name | sed '/^$/d; s/^/stray GPU process: /'
fi
if [ "$release" = 1 ] && [ "$(get "$state/claim" deployment)" = "$deployment" ]; then rm -f "$state/claim" && answer=changed; fi
[ -z "$foreign" ] || die 66 "container$foreign is not ours (no label sskj.deployment=$deployment) and was left alone: remove it yourself, or take it over with --adopt"
echo "sskj: $answer"
