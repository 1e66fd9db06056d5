LC_ALL=C; export LC_ALL
PATH=$PATH:/usr/local/bin:/usr/sbin:/sbin; export PATH
newline='
'
# The last line on stderr is what the operator reads.
die() { status=$1; shift; printf '%s\n' "$*" >&2; exit "$status"; }
# docker with a deadline of its own: a hung daemon must not hang us.
d() { limit=$1; shift; timeout -k 5 "$limit" docker "$@"; }
now_s() { IFS=' .' read -r up rest </proc/uptime; echo "$up"; }
each() { printf '%s\n' "$1" | sed '/^$/d'; }
has_line() { case "$newline$1$newline" in *"$newline$2$newline"*) return 0;; esac; return 1; }
