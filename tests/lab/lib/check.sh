# shellcheck shell=bash
# What the machine must have. Each miss is one sentence with its remedy.

check_machine() {
  [ "$(id -u)" = 0 ] || die "the lab needs root (namespaces, mounts, dockerd): run it with sudo"
  local missing=() prog
  for prog in dockerd docker containerd runc docker-init sshd ssh-keygen ip nsenter unshare sudo python3 ps; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$prog" >/dev/null || missing+=("$prog")
  done
  [ -x /usr/bin/python3 ] || missing+=(/usr/bin/python3)
  [ "${#missing[@]}" = 0 ] || die "missing here: ${missing[*]}; run 'scripts/deps lab' (packages: $(sed 's/ *#.*//; /^$/d' "$LAB_HOME/packages.txt" | paste -sd, ))"
  grep -qw overlay /proc/filesystems || modprobe overlay 2>/dev/null || die "this kernel has no overlay filesystem, which the nodes' roots need: use a machine that has it"
  unshare --net --mount --pid --fork true 2>/dev/null || die "this machine does not let root make namespaces (a container without CAP_SYS_ADMIN?): use a virtual machine or a privileged container"
  [ -n "$(ls /sys/fs/cgroup 2>/dev/null)" ] || die "no cgroups are mounted at /sys/fs/cgroup: install cgroupfs-mount or boot with cgroup support"
}
