# Containers of the deployment: by label, and with adopt=1 also those of our names without it. foreign = taken names that are not ours.
ours() {
  ids=$(d 20 ps -aq --no-trunc --filter "label=sskj.deployment=$deployment") || return 1
  foreign=
  for name in $(each "$names"); do
    id=$(d 20 ps -aq --no-trunc --filter "name=^/$name\$") || return 1
    [ -n "$id" ] || continue
    has_line "$ids" "$id" && continue
    if [ "$adopt" = 1 ] && [ -z "$(d 20 inspect -f '{{index .Config.Labels "sskj.deployment"}}' "$id")" ]; then
      ids="$ids$newline$id"
    else
      foreign="$foreign $name"
    fi
  done
  ids=$(each "$ids")
}
