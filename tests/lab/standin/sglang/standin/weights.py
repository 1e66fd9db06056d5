"""What the engine checks of a model directory, and how it fails."""
import json
import os
import struct


class LoadError(Exception):
    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def read_config(path):
    """config.json; a path that is no directory is taken for a hub id, as the real engine does (F7)."""
    if not os.path.isdir(path):
        raise LoadError("huggingface_hub.errors.HFValidationError",
                        f"Repo id must be in the form 'repo_name' or 'namespace/repo_name': '{path}'. Use `repo_type` argument if needed.")
    try:
        with open(os.path.join(path, "config.json"), encoding="utf-8") as f:
            return json.load(f)
    except OSError:
        raise LoadError("OSError", f"{path} does not appear to have a file named config.json. Checkout 'https://huggingface.co/{path}/tree/main' for available files.") from None
    except ValueError:
        raise LoadError("OSError", f"It looks like the config file at '{path}/config.json' is not a valid JSON file.") from None


def shard_names(path):
    """The shards that the index names, all of which must be there (F4)."""
    try:
        with open(os.path.join(path, "model.safetensors.index.json"), encoding="utf-8") as f:
            names = sorted(set(json.load(f)["weight_map"].values()))
    except (OSError, ValueError, KeyError):
        names = sorted(n for n in os.listdir(path) if n.endswith(".safetensors"))
        if not names:
            raise LoadError("RuntimeError", f"Cannot find any model weights with `{path}`") from None
        return names
    missing = [n for n in names if not os.path.isfile(os.path.join(path, n))]
    if missing:
        raise LoadError("RuntimeError", f"model.safetensors.index.json references {len(missing)} shard file(s) missing from {path} "
                        f"(incomplete download?): {missing[:3]}")
    return names


def check_shard(path):
    """A safetensors file's header against its size (F5)."""
    def bad(why):
        return LoadError("safetensors_rust.SafetensorError", f"Error while deserializing header: {why}")
    size = os.path.getsize(path)
    with open(path, "rb") as f:
        first = f.read(8)
        if len(first) < 8:
            raise bad("HeaderTooSmall")
        (length,) = struct.unpack("<Q", first)
        if length > 100_000_000:
            raise bad("HeaderTooLarge")
        if 8 + length > size:
            raise bad("InvalidHeaderLength")
        try:
            header = json.loads(f.read(length))
            end = max((t["data_offsets"][1] for n, t in header.items() if n != "__metadata__"), default=0)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise bad("InvalidHeaderDeserialization") from None
    if 8 + length + end != size:
        raise bad("MetadataIncompleteBuffer")
