# shellcheck shell=bash
# lab status

lab_status() {
  local i whole=0 sshd dockerd image
  op_pid >/dev/null || { echo "lab: down ($SSKJ_LAB_DIR)"; exit 3; }
  echo "lab: up ($SSKJ_LAB_DIR), operator 174.1.60.254, cgroup v$(cgroup_version)"
  for i in $(nodes_present); do
    sshd=no dockerd=no image=none
    if node_pid "$i" >/dev/null; then
      node_sshd_answers "$i" && sshd=yes
      node_docker_answers "$i" && dockerd=yes && image=$(node_image_id "$i")
    fi
    [ "$sshd$dockerd" = yesyes ] && [ -n "$image" ] || whole=3
    printf '%s 6000D-%s sshd=%s dockerd=%s image=%s faults=%s\n' "$(node_ip "$i")" "$i" "$sshd" "$dockerd" "${image:-gone}" "$(faults_of "$i")"
  done
  exit "$whole"
}
