"""How the stand-in starts and how it fails to, on loopback."""
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import STANDIN, Engine, free_port, make_weights  # noqa: E402


def overwrite(path, data):
    with open(path, "r+b") as f:
        f.write(data)


class Start(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.weights = make_weights()
        cls.addClassCleanup(cls.weights.cleanup)

    def engine(self, *flags, model=None, **options):
        engine = Engine(model or self.weights.name, *flags, **options)
        self.addCleanup(engine.stop)
        return engine

    def copy_of_weights(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        return shutil.copytree(self.weights.name, folder, dirs_exist_ok=True)

    def fails(self, wanted, *flags, code=0, **options):
        engine = self.engine(*flags, **options)
        got = engine.wait()
        self.assertIn(wanted, engine.log())
        self.assertEqual(got, code)
        return engine

    def test_unknown_flags_are_refused(self):
        self.fails("unrecognized arguments: --no-such-flag", "--no-such-flag", code=2)
        self.fails("invalid int value: 'x'", "--tp", "x", code=2)
        self.fails("invalid choice: 'both'", "--disaggregation-mode", "both", code=2)

    def test_topology_is_checked(self):
        self.fails("tp_size must be divisible by number of nodes", "--tp", "3", "--nnodes", "2", "--dist-init-addr", "127.0.0.1:1", code=1)
        self.fails("cannot contain a colon", "--served-model-name", "a:b", code=1)

    def test_aliases_and_config_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write("# secrets\napi-key: from-file\nenable-metrics: true\ntp-size: 4\n")
            config.flush()
            engine = self.engine("--config", config.name, "--tensor-parallel-size", "2", "--expert-parallel-size", "2").ready()
        self.assertIn("tp_size=2, ", engine.log())
        self.assertEqual(engine.get("/v1/models")[0], 401)
        self.assertEqual(engine.get("/metrics")[0], 200)

    def test_phases_in_order_and_titles(self):
        engine = self.engine("--tp", "2", "--ep", "2").ready()
        text, at = engine.log(), 0
        for line in ("server_args=ServerArgs(model_path=", " TP0 EP0] Init torch distributed begin.", " TP0 EP0] sglang is using nccl==", " TP0 EP0] Init torch distributed ends. elapsed=",
                     " TP0 EP0] Load weight begin. avail mem=", "\rMulti-thread loading shards:   0% Completed | 0/96", "\rMulti-thread loading shards: 100% Completed | 96/96",
                     " TP0 EP0] Load weight end. elapsed=", " TP0 EP0] Mamba Cache is allocated.", " TP0 EP0] KV Cache is allocated. dtype: torch.bfloat16, #tokens:",
                     " TP0 EP0] Memory pool end. avail mem=", " TP0 EP0] Capture target decode CUDA graph begin. backend=", "\rCapturing batches (bs=",
                     " TP0 EP0] Capture target decode CUDA graph end. elapsed=", " TP0 EP0] max_total_num_tokens=", "] Engine startup timings (s): load_weight=",
                     "Application startup complete.", "Uvicorn running on http://127.0.0.1:", "] The server is fired up and ready to roll!"):
            self.assertIn(line, text[at:])
            at = text.index(line, at)
        self.assertIn(" TP1 EP1] Load weight end.", text)
        self.assertEqual(text.count("0% Completed | 0/96"), 1)
        titles = subprocess.run(["ps", "--ppid", str(engine.process.pid), "-o", "args="], stdout=subprocess.PIPE, text=True).stdout.split()
        self.assertEqual(sorted(titles), ["sglang::detokenizer", "sglang::scheduler_TP0_EP0", "sglang::scheduler_TP1_EP1"])

    def test_health_goes_from_refused_over_503_to_200_with_empty_bodies(self):
        engine, seen = self.engine(switches={"scale": 1.0}), []
        end = time.monotonic() + 20
        while not seen or seen[-1] != (200, ""):
            self.assertLess(time.monotonic(), end, seen)
            answer = engine.get("/health")
            if not seen or seen[-1] != answer:
                seen.append(answer)
        self.assertEqual(seen, [(0, ""), (503, ""), (200, "")])

    def test_the_gate_decides_on_consumer_blackwell(self):
        engine = self.fails("tcgen05", capability="12.0")
        self.assertIn("Scheduler hit an exception: Traceback", engine.log())
        self.assertIn("Received sigquit from a child process. It usually means the child failed.", engine.log())
        self.engine(capability="10.0").ready()

    def test_files_are_checked(self):
        self.fails("Repo id must be in the form", model="/nowhere/Kimi-K3", code=1)
        model = self.copy_of_weights()
        os.remove(model + "/model-00003-of-000096.safetensors")
        self.fails("references 1 shard file(s) missing from", model=model)
        for text, change in (("MetadataIncompleteBuffer", lambda p: os.truncate(p, os.path.getsize(p) - 1)),
                             ("HeaderTooLarge", lambda p: overwrite(p, struct.pack("<Q", 1 << 60))),
                             ("HeaderTooSmall", lambda p: os.truncate(p, 4)),
                             ("InvalidHeaderDeserialization", lambda p: overwrite(p, struct.pack("<Q", 16) + b"not json at all!"))):
            model = self.copy_of_weights()
            change(model + "/model-00003-of-000096.safetensors")
            self.fails("Error while deserializing header: " + text, model=model)

    def test_two_nodes_meet_and_the_second_has_a_dummy(self):
        address = f"127.0.0.1:{free_port()}"
        first = self.engine("--tp", "4", "--nnodes", "2", "--dist-init-addr", address)
        second = self.engine("--tp", "4", "--nnodes", "2", "--node-rank", "1", "--dist-init-addr", address)
        first.ready()
        second.wait_log(" TP3] Capture target decode CUDA graph end.")
        time.sleep(0.3)
        self.assertEqual([second.get(p) for p in ("/ping", "/health", "/health_generate")], [(200, "")] * 3)
        self.assertEqual(second.get("/v1/models")[0], 404)
        for absent in ("Multi-thread", "fired up", "Uvicorn", "max_total_num_tokens"):
            self.assertNotIn(absent, second.log())
        second.process.send_signal(signal.SIGKILL)
        first.wait_log("Connection closed by peer [127.0.0.1]")
        self.assertEqual(first.wait(), 0)
        self.assertIn("ncclRemoteError", first.log())

    def test_a_missing_node_hangs_then_times_out(self):
        address = f"127.0.0.1:{free_port()}"
        flags = ("--tp", "4", "--nnodes", "2", "--dist-init-addr", address, "--dist-timeout", "2")
        first = self.engine(*flags)
        first.wait_log("Init torch distributed begin.")
        self.assertEqual(first.get("/health")[0], 0)
        self.assertEqual(first.wait(), 0)
        self.assertIn("torch.distributed.DistStoreError: Timed out after 3 seconds waiting for clients. 2/4 clients joined.", first.log())
        lonely = self.engine(*flags, "--node-rank", "1")
        lonely.wait()
        self.assertIn("The client socket has timed out after 2000ms", lonely.log())

    def test_busy_ports(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.fails("EADDRINUSE", "--tp", "2", "--nnodes", "1", "--dist-init-addr", f"127.0.0.1:{port}")
            self.fails("[Errno 98] error while attempting to bind on address", port=port, code=1)

    def test_switches_exit_and_hang(self):
        for phase, wanted, code in (("args", "are not supported for now", 1), ("dist", "connectFullMesh failed", 0), ("weights", "OutOfMemoryError", 0), ("kv", "state cache", 0),
                                    ("graphs", "Capture cuda graph failed", 0), ("http", "address already in use", 1), ("warmup", "Initialization failed. warmup error:", 1)):
            with self.subTest(phase):
                self.fails(wanted, switches={"exit": {"phase": phase}}, code=code)
        self.fails("watchdog timeout", switches={"exit": {"phase": "graphs", "id": "N7"}})
        hung = self.engine("--tp", "2", switches={"hang": {"phase": "graphs", "rank": 1}}).wait_log("TP0] Capture target decode CUDA graph begin")
        time.sleep(0.5)
        self.assertNotIn("graph end", hung.log())

    def test_environment_that_breaks_collectives(self):
        self.fails("NCCL error: invalid usage", "--tp", "2", environment={"NCCL_ALGO": "TREE"})
        self.fails("Unable to find address for: bond9", "--tp", "2", environment={"GLOO_SOCKET_IFNAME": "bond9"})
        self.fails("no socket interface found", "--tp", "2", environment={"NCCL_SOCKET_IFNAME": "bond9"})

    def test_gpus_held_by_others(self):
        with tempfile.TemporaryDirectory() as run:
            os.mkdir(run + "/gpu")
            with open(run + "/state.json", "w", encoding="utf-8") as f:
                json.dump({"ghost": {"1": 40960}}, f)
            place = {"NVIDIA_STANDIN_DIR": run}
            self.fails("The memory capacity is unbalanced.", "--tp", "2", environment=place)
            self.fails("Not enough GPU memory for hybrid (mamba/linear-attention) state cache", "--tp", "2",
                       environment={**place, "SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK": "0"})
            os.remove(run + "/state.json")
            first = self.engine("--tp", "2", environment=place).ready()
            self.fails("Not enough GPU memory for hybrid", "--tp", "2", environment=place)
            first.stop()
            for index in range(2):  # its ranks end a moment after it, and free what they held
                with open(f"{run}/gpu/{index}.lock", encoding="utf-8") as f:
                    fcntl.flock(f, fcntl.LOCK_EX)
            self.engine("--tp", "2", environment=place).ready()

    def test_no_gpus_without_the_toolkit(self):
        env = {k: v for k, v in os.environ.items() if k != "LAB_CUDA_CAPABILITY"}
        done = subprocess.run([sys.executable, "-m", "sglang.launch_server", "--model-path", self.weights.name, "--port", str(free_port())],
                              env={**env, "PYTHONPATH": STANDIN, "NVIDIA_STANDIN_DIR": "/nowhere", "PYTHONDONTWRITEBYTECODE": "1"}, stderr=subprocess.PIPE, timeout=20)
        self.assertIn(b"No CUDA GPUs are available", done.stderr)

    def test_disaggregation_is_refused_as_long_as_it_is_not_played(self):
        self.fails("does not play", "--disaggregation-mode", "prefill", code=1)

    def test_a_killed_scheduler_ends_the_node(self):
        engine = self.engine("--tp", "2").ready()
        child = subprocess.run(["pgrep", "-P", str(engine.process.pid), "-f", "sglang::scheduler_TP1"], stdout=subprocess.PIPE, text=True).stdout
        os.kill(int(child), signal.SIGKILL)
        self.assertEqual(engine.wait(), 0)
        self.assertRegex(engine.log(), r"Subprocess scheduler_1 \(pid=\d+\) crashed with exit code -9|Connection closed by peer")


if __name__ == "__main__":
    unittest.main()
