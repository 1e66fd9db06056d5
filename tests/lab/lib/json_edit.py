"""json_edit.py FILE set KEY JSON | FILE unset KEY: changes one key of a JSON object file, atomically; an empty object removes the file."""
import json
import os
import sys


def main(path, action, key, value=None):
    try:
        with open(path, encoding="utf-8") as f:
            table = json.load(f)
    except FileNotFoundError:
        table = {}
    if action == "set":
        table[key] = json.loads(value)
    else:
        table.pop(key, None)
    if not table:
        if os.path.exists(path):
            os.remove(path)
        return
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(table, f)
    os.rename(path + ".new", path)


main(*sys.argv[1:])
