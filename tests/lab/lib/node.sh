# shellcheck shell=bash
# One node: its directory, its start, its checks.

node_sysclass() { # DIR NODE: what the RDMA driver would show; the state file is rewritten in place by faults
  local dir=$1/infiniband i=$2 n port gid
  gid=$(printf '0000:0000:0000:0000:0000:ffff:ae01:3c%02x' "$i")
  for n in 0 1 2 3; do
    port=$dir/mlx5_$n/ports/1
    mkdir -p "$port/gids" "$port/gid_attrs/types" "$port/gid_attrs/ndevs" "$dir/mlx5_$n/device/net/bond1"
    echo "4: ACTIVE" >"$port/state"
    echo "5: LinkUp" >"$port/phys_state"
    echo Ethernet >"$port/link_layer"
    echo "400 Gb/sec (4X NDR)" >"$port/rate"
    echo 0x0000 >"$port/lid"
    echo "fe80:0000:0000:0000:0000:00ff:fe00:$(printf '%02x%02x' "$n" "$i")" | tee "$port/gids/0" >"$port/gids/1"
    echo "$gid" | tee "$port/gids/2" >"$port/gids/3"
    printf 'IB/RoCE v1\n' | tee "$port/gid_attrs/types/0" >"$port/gid_attrs/types/2"
    printf 'RoCE v2\n' | tee "$port/gid_attrs/types/1" >"$port/gid_attrs/types/3"
    echo bond1 | tee "$port/gid_attrs/ndevs/"{0,1,2} >"$port/gid_attrs/ndevs/3"
    echo "MT4129" >"$dir/mlx5_$n/hca_type"
    echo "28.39.1002" >"$dir/mlx5_$n/fw_ver"
    printf '1: CA \n' >"$dir/mlx5_$n/node_type"
    printf '%04x:%04x:0300:%04x\n' $((0xa088)) $((0xc203)) "$((i * 16 + n))" >"$dir/mlx5_$n/node_guid"
    mkdir -p "$1/infiniband_verbs/uverbs$n"
    echo "mlx5_$n" >"$1/infiniband_verbs/uverbs$n/ibdev"
  done
}

node_prepare() {
  local i=$1 dir
  dir=$(node_dir "$i")
  mkdir -p "$dir"/{root,work,docker,data/hf_models,data/flashkda_deploy/wheels,sskj,sysclass}
  chmod 755 "$dir/data"
  cp -a "$SSKJ_LAB_DIR/common" "$dir/upper"
  node_sysclass "$dir/sysclass" "$i"
  cp -a --reflink=auto "$SSKJ_LAB_DIR/weights/." "$dir/data/hf_models/Kimi-K3"
  echo "6000D-$i" >"$dir/upper/etc/hostname"
  printf '%s\n' "$LAB_TAG$i" | sha256sum | cut -c1-32 >"$dir/upper/etc/machine-id"
  local kind bits
  for kind in ed25519 ecdsa rsa; do
    bits=()
    [ "$kind" != rsa ] || bits=(-b 2048)
    ssh-keygen -q -t "$kind" "${bits[@]}" -N '' -C "6000D-$i" \
      -f "$dir/upper/etc/ssh/lab_host_$kind" || return 1
  done
  rm -f "$dir/pid"
}

node_holder() {
  local i=$1 dir
  dir=$(node_dir "$i")
  SSKJ_LAB_HOLDER=$LAB_TAG setsid unshare --mount --uts --ipc --net --pid --fork --kill-child=KILL --propagation private -- \
    /bin/bash "$LAB_HOME/node/init.sh" "$i" "$SSKJ_LAB_DIR" "$SSKJ_LAB_CACHE" "$LAB_CGROUP" "$LAB_HOME" \
    </dev/null >>"$dir/init.log" 2>&1 9>&- &
  disown
}

node_sshd_answers() {
  # shellcheck disable=SC2016  # expanded by the shell that is started
  in_op timeout 3 /bin/bash -c 'exec 3<>/dev/tcp/'"$(node_ip "$1")"'/22 && read -r -t 2 line <&3 && [[ $line == SSH-* ]]' 2>/dev/null
}

node_docker_answers() { in_node "$1" timeout 5 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

node_image_id() { in_node "$1" timeout 10 docker image inspect --format '{{.Id}}' "$LAB_IMAGE" 2>/dev/null; }

node_load_image() { in_node "$1" docker load -q <"$LAB_IMAGE_TAR" >/dev/null; }

node_complete() { node_pid "$1" >/dev/null && node_sshd_answers "$1" && node_docker_answers "$1" && [ -n "$(node_image_id "$1")" ]; }

node_up() {
  local i=$1 dir
  dir=$(node_dir "$i")
  node_prepare "$i" || { say "node $i: its directory could not be made"; return 1; }
  node_holder "$i"
  wait_for 20 "node $i to make its namespaces (see $dir/init.log)" node_pid "$i" >/dev/null || return 1
  node_links "$i" || { say "node $i: its links could not be made"; return 1; }
  wait_for 60 "node $i's sshd (see $dir/init.log, $dir/upper/var/log/lab/sshd.log)" node_sshd_answers "$i" || return 1
  wait_for 120 "node $i's dockerd (see $dir/upper/var/log/lab/dockerd.log)" node_docker_answers "$i" || return 1
  node_load_image "$i" || { say "node $i: docker load of $LAB_IMAGE_TAR failed"; return 1; }
}
