# Free the node whoever holds it, and say who did.
find_state
answer=unchanged
for file in "$state/lock" "$other/lock"; do
  [ -e "$file" ] || continue
  echo "released: $(holder "$file")"
  rm -f "$file.beat" "$file" || die 1 "cannot remove $file"
  answer=changed
done
echo "sskj: $answer"
