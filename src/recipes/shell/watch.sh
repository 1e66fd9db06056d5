# Follow a rank's log for as long as it runs; its end is a failure, said with the container's state. The container is this run's own, so its log is read from its
# beginning: no clock is compared, and after a lost connection the same lines come again for the reader to skip.
docker logs -f "$name" 2>&1
ended=$(d 20 inspect -f '{{.State.Status}}, exit status {{.State.ExitCode}}{{if .State.OOMKilled}}, killed by the kernel for lack of memory{{end}}{{if .State.Error}}, {{.State.Error}}{{end}}' "$name" 2>&1) ||
  die 1 "container $name cannot be asked any more: $(printf '%s' "$ended" | tail -n 1)"
die 1 "container $name is $ended"
