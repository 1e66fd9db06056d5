# shellcheck shell=bash
# What every node's upper layer starts from. It is copied, since the kernel refuses one lower layer inside another ('/').

lab_users=(ops dock plain)

opaque_dir() { # hides what the machine has there
  mkdir -p "$1"
  /usr/bin/python3 -c 'import os,sys; os.setxattr(sys.argv[1], "trusted.overlay.opaque", b"y")' "$1"
}

layer_accounts() {
  local root=$1 uid=2001 name
  cp /etc/passwd /etc/group "$root/etc/"
  # sshd without PAM refuses accounts whose password field starts with '!'.
  awk -F: -v OFS=: '{$2="*"; print}' /etc/shadow >"$root/etc/shadow"
  sed -i 's#^root:.*#root:x:0:0:root:/root:/bin/bash#' "$root/etc/passwd"
  sed -i '/^\(ops\|dock\|plain\):/d' "$root/etc/passwd" "$root/etc/group" "$root/etc/shadow"
  grep -q '^docker:' "$root/etc/group" || echo 'docker:x:2999:' >>"$root/etc/group"
  for name in "${lab_users[@]}"; do
    echo "$name:x:$uid:$uid:$name:/home/$name:/bin/bash" >>"$root/etc/passwd"
    echo "$name:x:$uid:" >>"$root/etc/group"
    echo "$name:*:19000:0:99999:7:::" >>"$root/etc/shadow"
    layer_home "$root/home/$name" "$uid"
    uid=$((uid + 1))
  done
  sed -i 's/^\(docker:[^:]*:[^:]*:\).*/\1dock/' "$root/etc/group"
  sed -i 's/^\(sudo:[^:]*:[^:]*:\).*/\1/' "$root/etc/group"
  chmod 640 "$root/etc/shadow"
  opaque_dir "$root/etc/sudoers.d"
  echo 'ops ALL=(ALL:ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/ops"
  chmod 440 "$root/etc/sudoers.d/ops"
}

layer_home() { # DIR UID
  mkdir -p "$1/.ssh"
  cp "$SSKJ_LAB_DIR/operator/id_ed25519.pub" "$1/.ssh/authorized_keys"
  # The machine's own start-up files may cost seconds for each command; a lab home has plain ones.
  echo '# nothing here' >"$1/.bashrc"
  cp "$1/.bashrc" "$1/.profile"
  chmod 700 "$1" "$1/.ssh"
  chmod 600 "$1/.ssh/authorized_keys"
  chown -R "$2:$2" "$1"
}

layer_build() {
  local root=$1.new lib i
  rm -rf "$root"
  mkdir -p "$root"/{etc/ssh/lab.d,run,tmp,data,proc,sys,dev,usr/bin,var/log,var/lib/docker,var/lib/sskj}
  opaque_dir "$root/root"
  opaque_dir "$root/home"
  opaque_dir "$root/etc/docker"
  opaque_dir "$root/etc/ssh/lab.d"
  opaque_dir "$root/var/lib/docker"
  opaque_dir "$root/var/lib/sskj"
  opaque_dir "$root/data"
  layer_home "$root/root" 0
  layer_accounts "$root"
  lib=$root/usr/local/lib/sskj-lab
  mkdir -p "$lib/hooks"
  cp "$LAB_HOME"/node/{start-sshd,start-dockerd,runc-lab} "$lib/"
  cp "$LAB_HOME/node/nvidia-container-runtime-hook" "$lib/hooks/"
  cp "$LAB_HOME/node/nvidia-smi" "$root/usr/bin/nvidia-smi"
  cp "$LAB_HOME/node/sshd_config" "$root/etc/ssh/sshd_config.lab"
  # Nodes run Debian's docker client with Debian's daemon, whatever else is in the machine's /usr/local.
  mkdir -p "$root/usr/local/bin"
  [ ! -x /usr/bin/docker ] || mknod "$root/usr/local/bin/docker" c 0 0
  : >"$root/etc/resolv.conf"
  {
    echo '127.0.0.1 localhost'
    for i in $(seq 1 32); do echo "$(node_ip "$i") 6000D-$i"; done
  } >"$root/etc/hosts"
  chmod 755 "$root"
  rm -rf "$1"
  mv "$root" "$1"
}
