#!/usr/bin/env bash
# Tests of scripts/deps that install nothing and need no network: what it would do (--print) on
# distributions and package databases that are made up here, and what it refuses.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

# Packages that a machine has: a dpkg database of its own. Candidates: none, or a local index.
machine() { # os-release text, then "package version"...
  rm -rf "$tmp/dpkg" "$tmp/apt"
  mkdir -p "$tmp/dpkg/info" "$tmp/dpkg/updates" "$tmp/apt"/etc/{sources.list.d,apt.conf.d,preferences.d} "$tmp/apt"/state/lists/partial "$tmp/apt"/cache
  : >"$tmp/dpkg/available"
  : >"$tmp/dpkg/status"
  printf '%s\n' "$1" >"$tmp/os-release"
  shift
  local package version
  for package in "$@"; do
    version=${package#* } package=${package%% *}
    printf 'Package: %s\nStatus: install ok installed\nArchitecture: amd64\nMaintainer: t <t@example.org>\nDescription: t\nVersion: %s\n\n' \
      "$package" "$version" >>"$tmp/dpkg/status"
  done
  cat >"$tmp/apt/apt.conf" <<CONF
Dir::Etc "$tmp/apt/etc"; Dir::Etc::Main "/dev/null"; Dir::Etc::SourceList "/dev/null"; Dir::Etc::Parts "$tmp/apt/etc/apt.conf.d";
Dir::State "$tmp/apt/state"; Dir::State::status "$tmp/dpkg/status"; Dir::Cache "$tmp/apt/cache";
CONF
}

run() {
  env -u SSKJ_DEPS_MIRROR -u SSKJ_DEPS_CACHE SSKJ_OS_RELEASE="$tmp/os-release" DPKG_ADMINDIR="$tmp/dpkg" APT_CONFIG="$tmp/apt/apt.conf" \
    SSKJ_DEPS="$tmp/prefix" "${extra[@]}" "$repo/scripts/deps" "$@" >"$tmp/out" 2>"$tmp/err"
}

check() { # name, expected exit code, arguments of scripts/deps; then has/lacks look at what it said
  name=$1
  local want=$2 got=0
  shift 2
  run "$@" || got=$?
  expect "exit code $want, got $got: $(tail -n 1 "$tmp/err")" test "$got" = "$want"
}

expect() { # what, command...
  local what=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); printf 'FAIL %s: %s\n' "$name" "$what" >&2; fi
}
has() { expect "has '$2' in $1" grep -qxF -- "$2" "$tmp/$1"; }
says() { expect "says '$1'" grep -qF -- "$1" "$tmp/err"; }
without() { ! grep -qF -- "$1" "$2"; }
lacks() { expect "lacks '$2' in $1" without "$2" "$tmp/$1"; }

debian12=$'ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm'
debian13=$'ID=debian\nVERSION_ID="13"\nVERSION_CODENAME=trixie'
ubuntu=$'ID=ubuntu\nVERSION_ID="24.04"\nVERSION_CODENAME=noble\nID_LIKE=debian'
extra=()

machine "$debian12"
check Bare_Debian_12_installs_everything_and_builds_libssh2 0 --print
has out "distribution debian 12 bookworm"
has out "install g++"
has out "install cmake (>= 3.25)"
has out "install libboost1.81-dev | libboost-dev (>= 1.81)"
has out "libssh2 source"
has out "cpp-httplib source"
has out "prefix-state incomplete"
lacks out "#"
expect "nothing was made" test ! -e "$tmp/prefix"

machine "$debian12" "g++ 4:12.2.0-3" "cmake 3.18.4" "libboost-dev 1.74.0.3" "libboost1.81-dev 1.81.0-5+deb12u1" "libssh2-1-dev 1.10.0-3+deb12u1"
check Only_what_is_missing_or_too_old_is_installed 0 --print build
lacks out "install g++"
has out "install cmake (>= 3.25)"
lacks out "libboost"
has out "libssh2 source"

machine "$debian13" "libboost-dev 1.83.0.2" "libssh2-1-dev 1.11.1-1+deb13u2"
check Debian_13_uses_its_own_libssh2_and_boost 0 --print build
has out "libssh2 system"
lacks out "libboost"
lacks out "install libssh2-1-dev"

for old in 1.11.1-1 1.11.1-1+deb13u1 1.11.0-7; do
  machine "$debian13" "libssh2-1-dev $old"
  check "Libssh2_${old}_lacks_security_fixes_and_is_not_used" 0 --print build
  has out "libssh2 source"
done

machine "$ubuntu" "libssh2-1-dev 1.11.1-2ubuntu1"
check Ubuntu_is_degraded 0 --print build
has out "libssh2 degraded"
has out "cpp-httplib none"
extra=(SSKJ_DEPS_MIRROR=file:/nowhere)
check Ubuntu_with_a_Debian_mirror_builds 0 --print build
has out "libssh2 source"
extra=()

machine "$debian12"
check Groups_add_their_lists 0 --print test bench
has out "install clang-tidy-14 | clang-tidy"
has out "install pdsh"
has out "install g++"
check Bench_alone_needs_no_libraries 0 --print bench
lacks out "libssh2"
lacks out "g++"

machine $'ID=fedora\nVERSION_ID=41'
check Unknown_distribution_is_one_sentence 1
says "unknown distribution 'fedora': Debian 12 or 13 is needed"
expect "one line" test "$(wc -l <"$tmp/err")" = 1
machine $'ID=debian\nVERSION_ID="11"'
check Too_old_Debian_is_refused 1
says "Debian 11 is too old"
machine $'ID=ubuntu\nVERSION_ID="22.04"'
check Too_old_Ubuntu_is_refused 1
rm "$tmp/os-release"
check No_os_release_is_refused 1
says "unknown distribution"

machine "$debian12"
check Unknown_argument_is_a_usage_error 2 --print everything
says "unknown argument 'everything'"

# Everything is installed from here on, so that what follows is about the prefix alone.
packages=()
while read -r package _; do packages+=("$package 9:99"); done < <(sed -e 's/#.*//' -e 's/|.*//' -e '/^ *$/d' "$repo/scripts/packages/build.txt")
machine "$debian12" "${packages[@]}" "libc6-dev 2.36-9"
mkdir -p "$tmp/prefix"
echo precious >"$tmp/prefix/file"
check Prefix_of_somebody_else_is_left_alone 1
says "not empty and not made by this script"
expect "file kept" grep -qx precious "$tmp/prefix/file"
rm -rf "$tmp/prefix"

check No_mirror_and_strict_fails 1 --strict
says "no libssh2 >= 1.11.1-1+deb13u2 to be had"
expect "no stamp" test ! -e "$tmp/prefix/.stamp"

mkdir -p "$tmp/prefix/lib" "$tmp/prefix/include"
touch "$tmp/prefix/.lock" "$tmp/prefix/lib/libssh2.a" "$tmp/prefix/include/httplib.h"
recipe=$(sed -n 's/^recipe=\([0-9]*\).*/\1/p' "$repo/scripts/deps")
printf 'recipe %s\nsuite trixie\nlibssh2 source 1.11.1-1+deb13u2\ncpp-httplib source 0.18.7-1\n' "$recipe" >"$tmp/prefix/.stamp"
check Complete_prefix_needs_no_mirror 0
has prefix/versions.txt "libssh2 1.11.1-1+deb13u2"
has prefix/versions.txt "cpp-httplib 0.18.7-1"
has prefix/versions.txt "openssl 9:99"
touch -d '2001-01-01' "$tmp/prefix/versions.txt"
check Unchanged_versions_file_keeps_its_time 0
expect "old time" test "$(stat -c %Y "$tmp/prefix/versions.txt")" = "$(date -d 2001-01-01 +%s)"
sed -i "s/^recipe .*/recipe 0/" "$tmp/prefix/.stamp"
check Prefix_of_an_older_recipe_is_made_anew 0 --print
has out "prefix-state incomplete"

if [ "$(id -u)" = 0 ]; then
  machine "$debian12"
  chmod 755 "$tmp" "$tmp/dpkg" "$tmp/apt"
  cp -r "$repo/scripts" "$tmp/scripts"
  name=Missing_packages_without_root
  got=0
  setpriv --reuid=65534 --regid=65534 --clear-groups env SSKJ_OS_RELEASE="$tmp/os-release" DPKG_ADMINDIR="$tmp/dpkg" \
    APT_CONFIG="$tmp/apt/apt.conf" SSKJ_DEPS="$tmp/nobody" "$tmp/scripts/deps" >"$tmp/out" 2>"$tmp/err" || got=$?
  expect "exit code 1, got $got" test $got = 1
  says "needs root to install: "
  says "run 'sudo scripts/deps build' once"
fi

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
