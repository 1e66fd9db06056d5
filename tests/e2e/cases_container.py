"""The release binary in a container that holds nothing else."""
import io
import os
import subprocess
import tarfile

from harness import LAB, check, contains, equal

IMAGE = "sskj-alone:test"


def register(suite, lab, sskj):
    def load():
        """An image of one file, piped to the node's docker."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            tar.add(sskj, arcname="sskj")
        done = subprocess.run([LAB, "node", "6", "--", "docker", "import", "-", IMAGE], input=buffer.getvalue(), env={**os.environ, **lab.env},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=120)
        equal(done.returncode, 0, done.stdout.decode("utf-8", "replace"))

    @suite.case
    def the_binary_runs_in_a_container_that_holds_nothing_else():
        load()
        try:
            for words, text in ((["version"], "libssh2"), (["profile", "list"], "kimi3_tp32ep32"), (["start", "--dry-run", "-p", "kimi3_tp32ep32"], "docker run")):
                done = lab.node(6, "docker", "run", "--rm", "--network", "none", IMAGE, "/sskj", *words).exits(0)
                contains(done.out, text, f"sskj {words[0]}")
            done = lab.node(6, "docker", "run", "--rm", "--network", "none", IMAGE, "/sskj", "exec", "-l", "a-name", "--", "true")
            equal(done.status, 4, f"a name that nothing resolves is unreachable\n{done.err}")
            check("Segmentation" not in done.err, "no crash")
        finally:
            lab.node(6, "docker", "rmi", "-f", IMAGE)
