# Show a rank's log.
d 20 inspect -f '{{.Id}}' "$name" >/dev/null 2>&1 || die 1 "there is no container $name on this node"
set --
[ "$follow" = 1 ] && set -- "$@" --follow
[ -n "$tail" ] && set -- "$@" --tail "$tail"
[ -n "$since" ] && set -- "$@" --since "$since"
exec docker logs "$@" "$name" 2>&1
