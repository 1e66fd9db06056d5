"""Makes the lab's image as one docker archive and prints its path. Usage: build.py CACHE_DIR

The rootfs comes from Debian packages (real python3, pip, bash), the engine from ../standin. The archive is written
directly, so no daemon is needed, and equal inputs give equal bytes: one image id on every node and on every day.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
STANDIN = os.path.join(os.path.dirname(HERE), "standin")
TAG = "lmsysorg/sglang:kimi-k3"
EPOCH = 1785542400  # 2026-08-01, any fixed time does
# Alternatives: the first name that this Debian has.
PACKAGES = ["libc6", "zlib1g", "libexpat1", "libssl3t64|libssl3", "libffi8", "libbz2-1.0", "liblzma5", "libuuid1", "libcrypt1",
            "libgcc-s1", "bash", "libtinfo6", "busybox-static", "python3-pip-whl", "libzstd1"]
CONFIG = {"Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
                  "NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
                  "SGLANG_IMAGE_BUILD=kimi-k3-standin"],
          "Cmd": ["/bin/bash"], "WorkingDir": "/sgl-workspace"}


def run(*argv, **options):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def python_packages():
    depends = run("apt-cache", "depends", "python3-minimal")
    version = re.search(r"Depends: python(3\.\d+)-minimal", depends)
    if not version:
        raise SystemExit("lab: apt knows no python3-minimal: run 'apt-get update'")
    v = version.group(1)
    return v, [f"python{v}-minimal", f"libpython{v}-minimal", f"libpython{v}-stdlib"]


def choose(names, known):
    for name in names.split("|"):
        if name in known:
            return name
    raise SystemExit(f"lab: apt has no package {names}: run 'apt-get update'")


def apt_update():
    subprocess.run(["apt-get", "update", "-q"], check=True, stdout=sys.stderr)


def known_packages():
    """Those of our alternatives that apt can fetch."""
    alternatives = [name for names in PACKAGES for name in names.split("|")]
    shown = subprocess.run(["apt-cache", "show", "--no-all-versions", *alternatives], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return {m.group(1) for m in re.finditer(r"^Package: (\S+)\n(?:.+\n)*?Filename: ", shown.stdout, re.M)}


def wanted_debs(cache):
    """(python version, [(package, file name, size)]): the set fetched before where it is whole, else what apt has now."""
    memo = os.path.join(cache, "debs.json")
    if os.path.exists(memo):
        with open(memo, encoding="utf-8") as f:
            version, wanted = json.load(f)
        if not missing_debs(cache, wanted):
            return version, wanted
    if "busybox-static" not in known_packages():
        apt_update()
    version, names = python_packages()
    known = known_packages()
    names += [choose(p, known) for p in PACKAGES]
    rows = re.findall(r"^'[^']*' (\S+) (\d+)", run("apt-get", "download", "--print-uris", *names), re.M)
    if len(rows) != len(names):
        raise SystemExit("lab: apt names no file for some of " + " ".join(names) + ": run 'apt-get update'")
    return version, sorted([f.split("_")[0], f, int(size)] for f, size in rows)


def missing_debs(cache, wanted):
    debs = os.path.join(cache, "debs")
    return [p for p, f, size in wanted if not os.path.isfile(os.path.join(debs, f)) or os.path.getsize(os.path.join(debs, f)) != size]


def fetch_debs(cache, version, wanted):
    debs = os.path.join(cache, "debs")
    os.makedirs(debs, exist_ok=True)
    for attempt in (1, 2):
        missing = missing_debs(cache, wanted)
        if not missing:
            break
        print(f"lab: fetching {len(missing)} packages for the image", file=sys.stderr)
        done = subprocess.run(["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", *missing], cwd=debs, stdout=sys.stderr)
        if done.returncode and attempt == 1:
            apt_update()
    missing = missing_debs(cache, wanted)
    if missing:
        raise SystemExit(f"lab: apt-get download did not bring {' '.join(missing)}: check the package mirror")
    with open(os.path.join(cache, "debs.json"), "w", encoding="utf-8") as f:
        json.dump([version, wanted], f)
    return [os.path.join(debs, f) for _, f, _ in wanted]


def input_files():
    found = [os.path.join(HERE, "build.py")]
    for directory, subdirs, files in os.walk(STANDIN):
        subdirs[:] = sorted(d for d in subdirs if d not in ("tests", "__pycache__"))
        found += [os.path.join(directory, f) for f in sorted(files) if not f.endswith(".pyc")]
    return found


def input_key(wanted):
    digest = hashlib.sha256(json.dumps(wanted).encode())
    for path in input_files():
        digest.update(os.path.relpath(path, HERE).encode() + b"\0")
        with open(path, "rb") as f:
            digest.update(f.read() + b"\0")
    return digest.hexdigest()[:16]


def unpack(root, debs):
    for link in ("bin", "sbin", "lib", "lib64"):
        os.makedirs(os.path.join(root, "usr", link))
        os.symlink("usr/" + link, os.path.join(root, link))
    for deb in debs:
        data = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "--keep-directory-symlink", "-C", root,
                        "--exclude=./usr/share/doc", "--exclude=./usr/share/man", "--exclude=./usr/share/locale"],
                       stdin=data.stdout, check=True)
        if data.wait():
            raise SystemExit(f"lab: {deb} does not unpack: remove it and try again")


def write(root, path, text, mode=0o644):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(full, mode)


def furnish(root, version):
    for d in ("tmp", "root", "proc", "sys", "dev", "run", "etc", "data", "var/tmp", "sgl-workspace", "root/.cache"):
        os.makedirs(os.path.join(root, d), exist_ok=True)
    os.chmod(os.path.join(root, "tmp"), 0o1777)
    os.chmod(os.path.join(root, "root"), 0o700)
    write(root, "etc/passwd", "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n")
    write(root, "etc/group", "root:x:0:\nnogroup:x:65534:\n")
    write(root, "etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")
    write(root, "etc/os-release", 'NAME="sskj lab image"\nID=debian\n')
    write(root, "usr/bin/pip", '#!/bin/sh\nexec python3 "$(echo /usr/share/python-wheels/pip-*.whl)/pip" "$@"\n', 0o755)
    bindir = os.path.join(root, "usr/bin")
    for name, target in (("pip3", "pip"), ("python3", f"python{version}"), ("python", "python3"), ("sh", "bash")):
        if not os.path.lexists(os.path.join(bindir, name)):
            os.symlink(target, os.path.join(bindir, name))
    for applet in run(os.path.join(bindir, "busybox"), "--list").split():
        if not any(os.path.lexists(os.path.join(root, d, applet)) for d in ("usr/bin", "usr/sbin")):
            os.symlink("/usr/bin/busybox", os.path.join(bindir, applet))
    # The real image is not an externally managed environment: pip installs into it.
    marker = os.path.join(root, f"usr/lib/python{version}/EXTERNALLY-MANAGED")
    if os.path.exists(marker):
        os.remove(marker)
    dist = os.path.join(root, f"usr/local/lib/python{version}/dist-packages")
    for package in sorted(os.listdir(STANDIN)):
        source = os.path.join(STANDIN, package)
        if os.path.isdir(source) and package != "tests":
            shutil.copytree(source, os.path.join(dist, package), ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    version_text = open(os.path.join(dist, "sglang", "version.py"), encoding="utf-8").read()
    sglang_version = re.search(r'"([^"]+)"', version_text).group(1)
    info = f"usr/local/lib/python{version}/dist-packages/sglang-{sglang_version}.dist-info"
    write(root, f"{info}/METADATA", f"Metadata-Version: 2.1\nName: sglang\nVersion: {sglang_version}\n")
    write(root, f"{info}/INSTALLER", "lab\n")
    write(root, f"{info}/RECORD", "")


def settle_times(root):
    for directory, subdirs, files in os.walk(root):
        for name in files:
            path = os.path.join(directory, name)
            if not os.path.islink(path):
                os.utime(path, (EPOCH, EPOCH))


def precompile(root):
    """Byte code for what the engine imports; a container would otherwise compile it at each start."""
    subprocess.run(["/usr/sbin/chroot", root, "/usr/bin/python3", "-c",
                    "import sglang.launch_server, http.server, ssl, asyncio, json, argparse, ctypes, sglang.srt.layers.attn_residual"],
                   check=True, env={"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0", "LANG": "C.UTF-8"})


def pack(root, target, work):
    layer = os.path.join(work, "layer.tar")
    with tarfile.open(layer, "w", format=tarfile.PAX_FORMAT) as tar:
        for directory, subdirs, files in os.walk(root):
            subdirs.sort()
            for name in sorted(subdirs + files):
                path = os.path.join(directory, name)
                if name in files or os.path.islink(path) or os.path.isdir(path):
                    info = tar.gettarinfo(path, os.path.relpath(path, root))
                    info.uid = info.gid = 0
                    info.uname = info.gname = "root"
                    info.mtime = EPOCH
                    if info.isreg():
                        with open(path, "rb") as f:
                            tar.addfile(info, f)
                    else:
                        tar.addfile(info)
    diff_id = file_sha256(layer)
    config = json.dumps({"architecture": "amd64", "os": "linux", "created": "2026-08-01T00:00:00Z", "config": CONFIG,
                         "rootfs": {"type": "layers", "diff_ids": ["sha256:" + diff_id]},
                         "history": [{"created": "2026-08-01T00:00:00Z", "created_by": "sskj lab"}]}, sort_keys=True).encode()
    image_id = hashlib.sha256(config).hexdigest()
    manifest = [{"Config": f"{image_id}.json", "RepoTags": [TAG], "Layers": [f"{diff_id}/layer.tar"]}]
    with tarfile.open(target + ".new", "w") as tar:
        tar.add(layer, f"{diff_id}/layer.tar")
        for name, data in ((f"{image_id}.json", config), ("manifest.json", json.dumps(manifest).encode())):
            path = os.path.join(work, name)
            with open(path, "wb") as f:
                f.write(data)
            tar.add(path, name)
    os.rename(target + ".new", target)


def file_sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def forget_old_images(cache):
    """Those unused for a day; another checkout's lab may still load a younger one."""
    for name in os.listdir(cache):
        path = os.path.join(cache, name)
        if name.startswith("image-") and time.time() - os.path.getmtime(path) > 86400:
            os.remove(path)


def main(cache):
    version, wanted = wanted_debs(cache)
    target = os.path.join(cache, f"image-{input_key(wanted)}.tar")
    if not os.path.exists(target):
        debs = fetch_debs(cache, version, wanted)
        print("lab: making the image", file=sys.stderr)
        with tempfile.TemporaryDirectory(dir=cache, prefix="build-") as work:
            root = os.path.join(work, "root")
            os.makedirs(root)
            unpack(root, debs)
            furnish(root, version)
            settle_times(root)
            precompile(root)
            pack(root, target, work)
        forget_old_images(cache)
    os.utime(target)
    print(target)


main(sys.argv[1])
