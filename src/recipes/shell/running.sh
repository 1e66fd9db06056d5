# State of containers that this run started.
for name in $(each "$names"); do
  d 20 inspect -f "container $name {{.State.Status}} {{.RestartCount}} {{.State.ExitCode}} {{if eq (index .Config.Labels \"sskj.run\") \"${SSKJ_RUN:-none}\"}}ours{{else}}other{{end}}" "$name" 2>&1 ||
    echo "missing $name"
done
echo end
