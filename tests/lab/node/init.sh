#!/bin/bash
# PID 1 of one lab node: builds the node's filesystem, starts its daemons, then reaps.
# Runs in fresh mount, uts, ipc, net and pid namespaces. Arguments: NODE STATE_DIR CACHE_DIR CGROUP LAB_HOME
set -eu
i=$1 lab=$2 cache=$3 cgroup=$4 home=$5
# shellcheck source=/dev/null
SSKJ_LAB_DIR=$lab SSKJ_LAB_CACHE=$cache . "$home/lib/common.sh"
dir=$lab/nodes/$i
root=$dir/root

# /proc is still the machine's here, so this is the pid that the machine knows us by.
read -r self _ </proc/self/stat
write_pid "$dir/pid" "$self"

mount -t overlay "sskj-lab-$i" -o "lowerdir=/,upperdir=$dir/upper,workdir=$dir/work" "$root"
mount -t tmpfs -o mode=755,size=256m run "$root/run"
mount -t tmpfs -o mode=1777,size=2g tmp "$root/tmp"
mount --bind "$dir/data" "$root/data"
# Docker's files in memory where there is plenty: they are the bulk of what a node writes, and 'down' then has nothing to delete.
if [ "$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo)" -ge 4 ]; then
  mount -t tmpfs -o mode=711,size=4g docker "$root/var/lib/docker"
else
  mount --bind "$dir/docker" "$root/var/lib/docker"
fi
mount --bind "$dir/sskj" "$root/var/lib/sskj"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"

# A sysfs of this network namespace; the cgroup trees come from the machine, since dockerd needs them below /sys.
mount -t sysfs -o nosuid,nodev,noexec sysfs "$root/sys"
mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
mount -t overlay sskj-lab-class -o "lowerdir=$dir/sysclass:$root/sys/class" "$root/sys/class"

mount -t tmpfs -o mode=755,size=1m dev "$root/dev"
mkdir -p "$root"/dev/{pts,shm,mqueue,net,infiniband}
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount -t mqueue mqueue "$root/dev/mqueue" 2>/dev/null || true
make_node() { mknod -m "$1" "$root/dev/$2" c "$3" "$4"; }
make_node 666 null 1 3
make_node 666 zero 1 5
make_node 666 full 1 7
make_node 666 random 1 8
make_node 666 urandom 1 9
make_node 666 tty 5 0
make_node 666 fuse 10 229
make_node 666 net/tun 10 200
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
# Nodes of the RDMA character devices: nothing answers behind them, but docker passes them on and they can be listed.
for n in 0 1 2 3; do
  make_node 666 "infiniband/uverbs$n" 231 $((192 + n))
done
make_node 666 infiniband/rdma_cm 10 58

# Neither the other nodes' files nor the lab's cache are part of a node.
for hidden in "$lab" "$cache"; do
  mkdir -p "$root$hidden"
  mount -t tmpfs -o mode=755,size=4k hidden "$root$hidden"
done

cd "$root"
pivot_root . .
umount -l .
cd /
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
hostname "6000D-$i"
mkdir -p /run/sshd /run/lock /run/nvidia-standin/gpu /var/log/lab
chmod 777 /run/nvidia-standin/gpu
/usr/local/lib/sskj-lab/start-sshd
/usr/local/lib/sskj-lab/start-dockerd "/$cgroup/n$i"
exec -a lab-node-init docker-init -g -- sleep infinity
