# shellcheck shell=bash
# shellcheck disable=SC2016  # scripts in single quotes are expanded in the node
# Faults of the host: links, sshd, dockerd, images, files, devices. These are the real thing.

# A process of the fault's own inside the node; its pid (the node's) is in /run/sskj-lab-NAME.pid.
node_background() { # NODE NAME COMMAND...
  local i=$1 name=$2
  shift 2
  in_node "$i" setsid bash -c 'echo $$ >"$0"; exec "$@"' "/run/sskj-lab-$name.pid" "$@" </dev/null >/dev/null 2>&1 8>&- 9>&- &
  disown
  wait_for 5 "$name on node $i" in_node "$i" test -s "/run/sskj-lab-$name.pid"
}

node_background_end() { # NODE NAME
  in_node "$1" bash -c '[ ! -s "$0" ] || { kill -KILL "$(cat "$0")" 2>/dev/null; rm -f "$0"; }; true' "/run/sskj-lab-$2.pid"
}

fault_link_down() { in_op ip link set "c$1" down && in_op ip link set "m$1" down; }
heal_link_down() { in_op ip link set "c$1" up && in_op ip link set "m$1" up && wait_for 10 "node $1's sshd" node_sshd_answers "$1"; }

fault_link_slow() {
  in_op tc qdisc replace dev "c$1" root tbf rate "$2" burst 256kb latency 50ms &&
    in_node "$1" tc qdisc replace dev bond1 root tbf rate "$2" burst 256kb latency 50ms
}
heal_link_slow() {
  in_op tc qdisc del dev "c$1" root 2>/dev/null
  in_node "$1" tc qdisc del dev bond1 root 2>/dev/null
  true
}

sshd_signal() { in_node "$1" bash -c "kill -$2 \$(cat /run/sshd.pid)"; }

fault_sshd_stop() { sshd_signal "$1" STOP; }
heal_sshd_stop() { sshd_signal "$1" CONT && wait_for 10 "node $1's sshd" node_sshd_answers "$1"; }

# On SIGHUP sshd reads its configuration and keys again; it must have closed the old listener before we look.
sshd_reload() { sshd_signal "$1" HUP && sleep 0.3 && wait_for 10 "node $1's sshd" node_sshd_answers "$1"; }

fault_host_key_changed() {
  in_node "$1" bash -c 'cd /etc/ssh && cp -a lab_host_ed25519 kept_host_ed25519 && cp -a lab_host_ed25519.pub kept_host_ed25519.pub &&
    rm lab_host_ed25519 && ssh-keygen -q -t ed25519 -N "" -f lab_host_ed25519' && sshd_reload "$1"
}
heal_host_key_changed() {
  in_node "$1" bash -c 'cd /etc/ssh && { [ ! -e kept_host_ed25519 ] || { mv kept_host_ed25519 lab_host_ed25519 && mv kept_host_ed25519.pub lab_host_ed25519.pub; }; }' &&
    sshd_reload "$1"
}

fault_no_forwarding() { in_node "$1" bash -c 'echo "AllowTcpForwarding no" >/etc/ssh/lab.d/no-forwarding.conf' && sshd_reload "$1"; }
heal_no_forwarding() { in_node "$1" rm -f /etc/ssh/lab.d/no-forwarding.conf && sshd_reload "$1"; }

docker_signal() { in_node "$1" bash -c "kill -$2 \$(cat /run/docker.pid)"; }
docker_gone() { ! in_node "$1" bash -c 'kill -0 $(cat /run/docker.pid)' 2>/dev/null; }
docker_start() { in_node "$1" /usr/local/lib/sskj-lab/start-dockerd && wait_for 60 "node $1's dockerd" node_docker_answers "$1"; }

fault_docker_dead() { docker_signal "$1" KILL && wait_for 10 "dockerd to die" docker_gone "$1"; }
heal_docker_dead() { node_docker_answers "$1" || docker_start "$1"; }

fault_docker_hang() { docker_signal "$1" STOP; }
heal_docker_hang() { docker_signal "$1" CONT && wait_for 20 "node $1's dockerd" node_docker_answers "$1"; }

docker_restart() {
  docker_signal "$1" TERM
  wait_for 40 "dockerd to end" docker_gone "$1" && docker_start "$1"
}

fault_gpu_runtime_gone() { in_node "$1" bash -c 'cd /usr/local/lib/sskj-lab && mv hooks hooks.kept' && docker_restart "$1"; }
heal_gpu_runtime_gone() { in_node "$1" bash -c 'cd /usr/local/lib/sskj-lab && { [ ! -d hooks.kept ] || mv hooks.kept hooks; }' && docker_restart "$1"; }

fault_port_busy() {
  [[ $2 =~ ^[0-9]+$ ]] || { say "port-busy needs a port number"; return 1; }
  node_background "$1" port-busy /usr/bin/python3 -IS -c \
    'import socket,sys,time; s=socket.socket(); s.setsockopt(1,2,1); s.bind(("", int(sys.argv[1]))); s.listen(); time.sleep(1e9)' "$2" &&
    wait_for 5 "a listener on port $2" port_listens "$1" "$2"
}
port_listens() { [ -n "$(in_node "$1" ss -Hltn "sport = :$2")" ]; }
heal_port_busy() { node_background_end "$1" port-busy; }

fault_image_gone() { in_node "$1" docker rmi -f "$LAB_IMAGE" >/dev/null; }
heal_image_gone() { image_ensure && node_load_image "$1"; }

fault_image_other() {
  in_node "$1" bash -c 'set -e
    id=$(docker create "$0" true); trap "docker rm -f $id >/dev/null" EXIT
    docker commit -c "LABEL lab.other=1" "$id" "$0" >/dev/null' "$LAB_IMAGE"
}
heal_image_other() {
  local other
  other=$(node_image_id "$1")
  image_ensure && node_load_image "$1" || return 1
  [ -z "$other" ] || [ "$other" = "$(node_image_id "$1")" ] || in_node "$1" docker rmi -f "$other" >/dev/null 2>&1 || true
}

fault_foreign_container() { in_node "$1" docker run -d --name "$2" --network host "$LAB_IMAGE" sleep infinity >/dev/null; }
heal_foreign_container() { in_node "$1" docker rm -f "$2" >/dev/null 2>&1 || true; }

shard_name() { printf 'model-%05d-of-000096.safetensors' "$((10#${1:-17}))"; }
model_dir() { printf '%s/data/hf_models/Kimi-K3' "$(node_dir "$1")"; }
restore_file() { cp --reflink=auto "$SSKJ_LAB_DIR/weights/$2" "$(model_dir "$1")/$2.new" && mv "$(model_dir "$1")/$2.new" "$(model_dir "$1")/$2"; }
a_shard() {
  if [[ ${1:-17} =~ ^[0-9]+$ ]] && ((10#${1:-17} >= 1 && 10#${1:-17} <= 96)); then return 0; fi
  say "shards are 1 to 96"
  return 1
}

fault_shard_missing() { a_shard "$2" && rm "$(model_dir "$1")/$(shard_name "$2")"; }
heal_shard_missing() { restore_file "$1" "$(shard_name "$2")"; }

fault_shard_truncated() { a_shard "$2" && truncate -s -100 "$(model_dir "$1")/$(shard_name "$2")"; }
heal_shard_truncated() { restore_file "$1" "$(shard_name "$2")"; }

fault_shard_header() { a_shard "$2" && printf '\377\377\377\377\377\377\377\177garbage!' | dd of="$(model_dir "$1")/$(shard_name "$2")" conv=notrunc status=none; }
heal_shard_header() { restore_file "$1" "$(shard_name "$2")"; }

fault_index_gone() { rm "$(model_dir "$1")/model.safetensors.index.json"; }
heal_index_gone() { restore_file "$1" model.safetensors.index.json; }

# A filesystem just large enough for what is there, filled up, over /data.
fault_data_full() {
  in_node "$1" bash -c 'set -e
    size=$(( $(du -s --block-size=4096 --apparent-size /data | cut -f1) + $(find /data | wc -l) + 64 ))
    mkdir -p /run/lab-data-full
    mount -t tmpfs -o "size=$(( size * 4096 ))" data-full /run/lab-data-full
    cp -a /data/. /run/lab-data-full/
    dd if=/dev/zero of=/run/lab-data-full/filler bs=4096 status=none 2>/dev/null || true
    mount --move /run/lab-data-full /data'
}
heal_data_full() { in_node "$1" bash -c 'while [ "$(stat -f -c %T /data)" = tmpfs ]; do umount -l /data || exit 1; done; umount -l /run/lab-data-full 2>/dev/null; true'; }

roce_file() { printf '%s/sysclass/infiniband/%s/ports/1/%s' "$(node_dir "$1")" "${2:-mlx5_1}" "$3"; }
# The files are the lower side of a mounted overlay: they are written in place, never replaced.
roce_write() { [ -f "$(roce_file "$1" "$2" state)" ] || { say "no HCA ${2:-mlx5_1}"; return 1; }; echo "$3" >"$(roce_file "$1" "$2" state)"; echo "$4" >"$(roce_file "$1" "$2" phys_state)"; }
fault_roce_down() { roce_write "$1" "$2" "1: DOWN" "3: Disabled"; }
heal_roce_down() { roce_write "$1" "$2" "4: ACTIVE" "5: LinkUp"; }

fault_rdma_dev_gone() { in_node "$1" mv /dev/infiniband /dev/.infiniband-kept; }
heal_rdma_dev_gone() { in_node "$1" bash -c '[ ! -d /dev/.infiniband-kept ] || mv /dev/.infiniband-kept /dev/infiniband'; }
