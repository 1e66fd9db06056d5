# sha256 of files that must be on this node.
printf '%s\n' "$paths" | while IFS= read -r path; do
  [ -n "$path" ] || continue
  if [ ! -e "$path" ]; then echo "missing $path"; continue; fi
  if [ ! -f "$path" ]; then echo "strange $path"; continue; fi
  if sum=$(sha256sum <"$path" 2>/dev/null); then echo "sha256 ${sum%% *} $path"; else echo "unreadable $path"; fi
done
echo end
