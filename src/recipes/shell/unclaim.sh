# Take back a claim that this run made, unless containers of the deployment are there after all.
find_state
answer=unchanged
if [ "$(get "$state/claim" run)" = "${SSKJ_RUN:-none}" ] && left=$(d 20 ps -aq --filter "label=sskj.deployment=$deployment" 2>/dev/null) && [ -z "$left" ]; then
  rm -f "$state/claim" && answer=changed
fi
echo "sskj: $answer"
