# What this program left on the node and nothing needs any more: listed, and with apply=1 removed (then the lock is held, so no run of ours is under way).
[ "$apply" = 0 ] || need_lock
find_dir() { [ -d "$1" ] && find "$1" -xdev -mindepth 1 -maxdepth 1 "$2" "$3" 2>/dev/null; }
containers=$(d 20 ps -aq --no-trunc) || die 1 "docker does not answer: what is in use cannot be told, so nothing is removed"
in_use=
for id in $containers; do
  one=$(d 20 inspect -f '{{range .Mounts}}{{println .Source}}{{end}}{{.Image}}{{"\n"}}deployment={{index .Config.Labels "sskj.deployment"}}' "$id") ||
    die 1 "docker does not say what container $id uses, so nothing is removed"
  in_use="$in_use$newline$one"
done
uses() { case "$in_use$newline" in *"$newline$1$newline"*|*"$newline$1/"*) return 0;; esac; return 1; }
wanted() { for one in $(each "$keep"); do case "$one/" in "$1/"*) return 0;; esac; done; return 1; }
claimed() { [ "$(get "$state_dir/claim" deployment)" = "$1" ]; }
total=0
drop() { # KIND PATH
  size=$(du -skx "$2" 2>/dev/null | cut -f 1); total=$((total + ${size:-0}))
  if [ "$apply" = 0 ]; then echo "would remove $1 $2 (${size:-?} KiB)"; return; fi
  if rm -rf --one-file-system -- "$2"; then echo "removed $1 $2 (${size:-?} KiB)"; else echo "cannot remove $1 $2"; failed=1; fi
}
failed=0
for dir in $(find_dir "$state_dir/artifacts" -type d | grep -E '/[0-9a-f]{64}$'); do
  uses "$dir" || wanted "$dir" || drop artifact "$dir"
done
for kind in artifacts/unpinned secrets; do
  for dir in $(find_dir "$state_dir/$kind" -type d | grep -E '/[a-z0-9][a-z0-9_-]*$'); do
    name=${dir##*/}
    uses "$dir" || uses "deployment=$name" || wanted "$dir" || claimed "$name" || [ "$name" = "$deployment" ] || drop "${kind##*/} of $name" "$dir"
  done
done
# An hour: nothing of ours takes that long to write a small file.
parts=$(find "$state_dir" -xdev -type f \( -name '.*.sskj-put.??????' -o -name '.lock.??????' -o -name '.claim.??????' -o -name '.stale.*' \) -mmin +60 2>/dev/null)
split=$IFS; IFS=$newline
for file in $parts; do
  drop "part file" "$file"
done
IFS=$split
for dir in $(find_dir "$state_dir/jobs" -type d); do
  [ -f "$dir/status" ] && [ -n "$(find "$dir/status" -mtime +7)" ] && drop "job record" "$dir"
done
# Only images that a run of ours started a container from; the file is written by the runs.
current=$(for image in $(each "$images"); do d 20 image inspect -f '{{.Id}}' "$image" 2>/dev/null; done)
ids=$(grep -E '^sha256:[0-9a-f]{64}$' "$state_dir/images" 2>/dev/null | sort -u)
for id in $ids; do
  uses "$id" || has_line "$current" "$id" && continue
  about=$(d 20 image inspect -f '{{join .RepoTags " "}} {{.Size}} bytes' "$id" 2>/dev/null) || continue
  if [ "$apply" = 0 ]; then echo "would remove image $id ($about)"; continue; fi
  # Without -f docker refuses an image that has another name or is in use: then somebody else needs it.
  if trouble=$(d 300 rmi "$id" 2>&1 >/dev/null); then echo "removed image $id ($about)"; else echo "kept image $id ($about): $(printf '%s' "$trouble" | tail -n 1)"; fi
done
echo "in all $total KiB of files"
[ "$failed" = 0 ] || die 1 "some files could not be removed"
