# shellcheck shell=bash
# lab fault, heal, faults. A fault NAME is the row below plus the functions fault_NAME and heal_NAME (dashes as underscores),
# each called with NODE [ARG]. Active faults stand in the node's file 'faults', one "NAME ARG" a line.

# NAME | argument ([x] optional) | real or stand-in | what it does
fault_table() {
  cat <<'END'
engine-exit|PHASE[:ID]|stand-in|the node's first rank fails at args, dist, weights, kernels, kv, graphs, http, warmup or ready (ID: catalogue text, as M4)
engine-hang|PHASE|stand-in|the node's first rank stops for ever at that phase
engine-slow|SECONDS|stand-in|the node's weights take so much longer
engine-die|[schedulers|stuck|exit]|stand-in|after ready: the rank processes die and HTTP stays, or they answer nothing, or the engine exits
wrong-answer||stand-in|arithmetic is off by one (rank 0's node answers)
comma-answer||stand-in|numbers are written as 1,081
health-503||stand-in|/health says 503 for ever
slow-stop|SECONDS|stand-in|SIGTERM drains so long
ignore-sigterm||stand-in|the engine ignores SIGTERM
gpu-held|[GPUS]|real process|a visible process that is in no container holds 40 GiB of GPUs 0,1 (its memory is stand-in)
gpu-held-ghost|[GPUS]|stand-in|40 GiB of GPUs 0,1 are held and no process shows
gpu-missing|[GPU]|stand-in|GPU 7 is gone from nvidia-smi
driver-mismatch||stand-in|nvidia-smi fails: driver/library version mismatch
gpu-runtime-gone||real|dockerd offers no GPU driver: --gpus is refused (restarts dockerd)
link-down||real|both links of the node are down
link-slow|RATE|real|the compute link is shaped both ways, as 200mbit
sshd-stop||real|sshd accepts connections and stays silent (SIGSTOP)
host-key-changed||real|sshd presents a new ed25519 host key
no-forwarding||real|sshd refuses TCP forwarding
docker-dead||real|dockerd is killed; its containers lose it
docker-hang||real|dockerd answers nothing (SIGSTOP)
port-busy|PORT|real|something listens on that port
image-gone||real|the image's tag is gone
image-other||real|the tag names another image id
foreign-container|NAME|real|a running container has that name and not our labels
shard-missing|[N]|real|shard N (17) is gone
shard-truncated|[N]|real|shard N (17) is 100 bytes short
shard-header|[N]|real|shard N (17) starts with garbage
index-gone||real|model.safetensors.index.json is gone
data-full||real|/data is a full filesystem with the same files
roce-down|[HCA]|stand-in|port 1 of mlx5_1 is DOWN
rdma-dev-gone||real|/dev/infiniband is gone
END
}

lab_faults() {
  local name argument kind text
  while IFS='|' read -r name argument kind text; do
    printf '%-18s %-18s %-13s %s\n' "$name" "$argument" "$kind" "$text"
  done < <(fault_rows)
}

# The argument column may itself hold '|': the columns are cut from both ends.
fault_rows() { fault_table | sed -E 's/^([^|]*)\|(.*)\|([^|]*)\|([^|]*)$/\1\x01\2\x01\3\x01\4/; s/\|/\//g; s/\x01/|/g'; }

faults_of() {
  local file
  file=$(node_dir "$1")/faults
  if [ -s "$file" ]; then paste -sd, "$file"; else echo none; fi
}

lab_fault() {
  local name=${1:-} i=${2:-} argument=${3:-} row needs
  row=$(fault_rows | grep "^$name|") || die "no fault '$name': 'lab faults' lists them"
  need_node "$i"
  needs=$(cut -d'|' -f2 <<<"$row")
  [ -z "$needs" ] || [[ $needs == \[* ]] || [ -n "$argument" ] || die "fault $name needs $needs (fault $name NODE $needs)"
  [ -n "$needs" ] || [ -z "$argument" ] || die "fault $name takes no argument"
  ! grep -q "^$name\( \|$\)" "$(node_dir "$i")/faults" 2>/dev/null || die "fault $name is already on node $i: heal it first"
  # Noted before it acts: what broke half-way is healed too.
  echo "$name${argument:+ $argument}" >>"$(node_dir "$i")/faults"
  "fault_${name//-/_}" "$i" "$argument" || die "fault $name on node $i did not take (heal $i undoes what did)"
  say "fault $name${argument:+ $argument} is on node $i; 'lab heal $i' undoes it"
}

lab_heal() {
  local i name argument nodes failed=0
  need_operator
  if [ $# -gt 0 ]; then
    need_node "$1"
    nodes=$1
  else
    nodes=$(nodes_present)
  fi
  for i in $nodes; do
    [ -s "$(node_dir "$i")/faults" ] || continue
    # The newest first; a fault that could not be undone stays noted.
    tac "$(node_dir "$i")/faults" >"$(node_dir "$i")/faults.healing"
    while read -r name argument <&8; do
      if "heal_${name//-/_}" "$i" "$argument"; then
        sed -i "\\#^$name\\( \\|\$\\)#d" "$(node_dir "$i")/faults"
      else
        say "fault $name of node $i could not be undone"
        failed=1
      fi
    done 8<"$(node_dir "$i")/faults.healing"
    rm -f "$(node_dir "$i")/faults.healing"
    [ "$failed" = 1 ] || say "node $i is healed"
  done
  return "$failed"
}
