# Who holds this node; read-only, and needs no docker.
hold_lines
echo end
