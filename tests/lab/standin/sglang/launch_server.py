"""python3 -m sglang.launch_server: the front of the stand-in engine."""
import sys

from sglang.srt.server_args import prepare_server_args
from sglang.standin import node
from sglang.standin.config import Config


def main(argv):
    args = prepare_server_args(argv)
    node.main(args, Config(args.model_path))


if __name__ == "__main__":
    main(sys.argv[1:])
