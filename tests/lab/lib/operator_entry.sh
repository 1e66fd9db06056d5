#!/bin/bash
# Runs in the operator's network namespace and a mount namespace of its own: root's ~/.ssh is the lab's.
mount --bind "$1" "$2" || exit 1
shift 2
exec "$@"
