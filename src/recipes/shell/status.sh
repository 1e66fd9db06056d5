# Everything that status says about one node; read-only, no lock.
if v=$(d 10 version -f '{{.Server.Version}}' 2>&1); then echo "docker $v"; else echo "nodocker $(printf '%s' "$v" | tail -n 1)"; fi
for name in $(each "$names"); do
  if v=$(d 10 inspect --type container -f '{{json .}}' "$name" 2>&1); then
    echo "inspect $name $v"
  else
    case $v in *[Nn]o\ such\ container*) echo "absent $name";; *) echo "unclear $name $(printf '%s' "$v" | tail -n 1)";; esac
  fi
done
for image in $(each "$images"); do
  v=$(d 10 image inspect -f '{{.Id}} {{json .Config.Env}}' "$image" 2>/dev/null) && echo "image $image $v"
done
for id in $(d 10 ps -aq --no-trunc --filter "label=sskj.deployment=$deployment" 2>/dev/null); do
  v=$(d 10 inspect -f '{{.Name}} {{.State.Status}} {{.Id}}' "$id" 2>/dev/null) && echo "labelled ${v#/}"
done
for dir in "$state_dir" "${HOME:-/nonexistent}/.sskj"; do
  [ -r "$dir/lock" ] && { sed 's/^/lock /' "$dir/lock" | head -n 20; age=$(($(date +%s)-$(stat -c %Y "$dir/lock.beat" "$dir/lock" 2>/dev/null | sort -n | tail -n 1))) && echo "lock age=$age"; break; }
done
for dir in "$state_dir" "${HOME:-/nonexistent}/.sskj"; do
  [ -r "$dir/claim" ] && { sed 's/^/claim /' "$dir/claim" | head -n 20; break; }
done
echo end
