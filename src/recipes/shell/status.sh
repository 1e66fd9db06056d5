# Everything that status says about one node; read-only, no lock. A docker that hangs is asked once: the rest of the answer comes without it, within the step's deadline.
ends=$(($(now_s) + 8))
hung=
# The answer is in $v. docker's client warns on stderr about things that are none of ours, e.g. an unreadable configuration under sudo.
ask() {
  [ -z "$hung" ] || return 124
  left=$((ends - $(now_s))); [ "$left" -ge 1 ] || left=1
  v=$(d "$left" "$@" 2>&1); rc=$?
  v=$(printf '%s\n' "$v" | sed '/^WARNING: /d')
  case $rc in 124|137) hung=1;; esac
  return "$rc"
}
last_line() { printf '%s' "$v" | tail -n 1; }

if ask version -f '{{.Server.Version}}'; then echo "docker $v"; elif [ -z "$hung" ]; then echo "nodocker $(last_line)"; fi
for name in $(each "$names"); do
  if ask inspect --type container -f '{{json .}}' "$name"; then
    echo "inspect $name $v"
  elif [ -z "$hung" ]; then
    case $v in *[Nn]o\ such\ container*) echo "absent $name";; *) echo "unclear $name $(last_line)";; esac
  fi
done
for image in $(each "$images"); do
  ask image inspect -f '{{.Id}} {{json .Config.Env}}' "$image" && echo "image $image $v"
done
if ask ps -aq --no-trunc --filter "label=sskj.deployment=$deployment"; then
  for id in $v; do
    ask inspect -f '{{.Name}} {{.State.Status}} {{.Id}}' "$id" && echo "labelled ${v#/}"
  done
fi
[ -z "$hung" ] || echo "nodocker no answer in time"
hold_lines
echo end
