"""Starts the stand-in engine on loopback, as a child process with small ranks and short phases."""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

STANDIN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WEIGHTS = os.path.join(os.path.dirname(STANDIN), "lib", "weights.py")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def make_weights():
    folder = tempfile.TemporaryDirectory(prefix="standin-")
    subprocess.run([sys.executable, WEIGHTS, folder.name], check=True)
    return folder


class Engine:
    def __init__(self, model, *flags, port=None, capability="9.0", switches=None, environment=None):
        self.port = port or free_port()
        env = {k: v for k, v in os.environ.items() if not k.startswith(("NCCL_", "GLOO_", "SGLANG_", "NVIDIA_"))}
        env.update(PYTHONPATH=STANDIN, PYTHONDONTWRITEBYTECODE="1", LAB_CUDA_CAPABILITY=capability,
                   SGLANG_STANDIN=json.dumps({"scale": 0.1, "first_prompt_s": 0.3, **(switches or {})}), **(environment or {}))
        self._out = tempfile.NamedTemporaryFile(mode="ab")
        self.process = subprocess.Popen([sys.executable, "-m", "sglang.launch_server", "--model-path", model, "--port", str(self.port), *flags],
                                        stdout=self._out, stderr=self._out, env=env)

    def log(self):
        with open(self._out.name, "rb") as f:
            return f.read().decode("utf-8", "replace")

    def wait_log(self, text, seconds=20):
        end = time.monotonic() + seconds
        while text not in self.log():
            if time.monotonic() > end:
                raise AssertionError(f"{text!r} not within {seconds} s in: {self.log()[-2000:]}")
            time.sleep(0.05)
        return self

    def ready(self):
        return self.wait_log("The server is fired up and ready to roll!")

    def request(self, method, path, body=None, headers=None, timeout=20):
        """(status, body text); (0, '') when nobody listens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, json.dumps(body) if isinstance(body, dict) else body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except ConnectionRefusedError:
            return 0, ""
        finally:
            connection.close()

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def chat(self, text, **fields):
        status, body = self.request("POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": text}], **fields})
        assert status == 200, body
        return json.loads(body)

    def events(self, path, body):
        status, text = self.request("POST", path, {**body, "stream": True})
        assert status == 200, text
        rows = text.split("\n\n")
        assert rows[-1] == "" and rows[-2] == "data: [DONE]", rows[-3:]
        return [json.loads(r[len("data: "):]) for r in rows[:-2]]

    def wait(self, seconds=20):
        return self.process.wait(seconds)

    def stop(self):
        """Only processes of this engine: its children end with their parent."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self._out.close()
