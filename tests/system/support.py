"""What the system tests share: running the program, tiny configurations, reading weights.

The program is that of ATTNLAB_PROGRAM, the source tree that of ATTNLAB_SOURCE; CTest sets both.
"""

import array
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("ATTNLAB_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
PROGRAM = os.environ.get("ATTNLAB_PROGRAM", str(SOURCE / "build/release/attnlab"))
LIMIT = 120  # seconds for one command

TINY = f"""\
base: {SOURCE}/configs/quickstart.yaml
name: tiny
precision: f32
data: {{task: {{train: 400, valid: 16, test: 16, symbols: 8, max_length: 6}}}}
model: {{width: 16, heads: 2, feed_forward: 32, layers: 1, dropout: 0.1, positions: {{max_length: 32}}}}
train: {{batch_tokens: 128, max_steps: 20, log_every: 5, checkpoint_every: 7, schedule: {{warmup_steps: 5}}}}
expect: {{score: 0}}
"""


def environment(**more):
    return {**os.environ, "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "2", **more}


def read_weights(path):
    """The tensors of a safetensors file, name to list of numbers."""
    data = pathlib.Path(path).read_bytes()
    size = int.from_bytes(data[:8], "little")
    body, tensors = data[8 + size :], {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            tensors[name] = array.array({"F32": "f", "F64": "d"}[entry["dtype"]], body[begin:end])
    return tensors


def tree(folder):
    """Everything below a folder: names, and the bytes of files."""
    folder = pathlib.Path(folder)
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


class SystemTest(unittest.TestCase):
    """Each test gets a folder of its own, in which the program runs, with tiny.yaml in it."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="attnlab-system-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.write("tiny.yaml", TINY)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def attnlab(self, *arguments, code=0, stdin=b"", env=None, **more):
        """Runs the program to its end and requires its exit code."""
        done = subprocess.run(
            [PROGRAM, *map(str, arguments)],
            cwd=self.folder, input=stdin, capture_output=True, timeout=LIMIT, env=env or environment(), **more,
        )
        done.out, done.err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, f"{arguments}\nstdout:\n{done.out}\nstderr:\n{done.err[-4000:]}")
        return done

    def train(self, out, *arguments, config="tiny.yaml", **more):
        """attnlab run, with --out."""
        return self.attnlab("run", config, "--out", out, *arguments, **more)

    def start(self, *arguments):
        """Starts the program; its log goes to the file log."""
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(
                [PROGRAM, *map(str, arguments)],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment(),
            )
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()

    def wait_until(self, condition, process, what):
        """Polls until the condition holds, while the process lives."""
        deadline = time.monotonic() + LIMIT
        while not condition():
            if process.poll() is not None:
                self.fail(f"ended with {process.returncode} before {what}:\n{(self.folder / 'log').read_text()[-3000:]}")
            self.assertLess(time.monotonic(), deadline, f"no {what} in {LIMIT} s")
            time.sleep(0.0005)

    def json(self, *path):
        return json.loads(self.folder.joinpath(*path).read_text())

    def step_logged(self, run):
        """The last step of which metrics.jsonl has a whole line; 0 if none."""
        path = self.folder / run / "metrics.jsonl"
        try:
            lines = path.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:  # not yet there, or taken away by a run that starts anew
            return 0
        return json.loads(lines[-1])["step"] if lines else 0

    def weights(self, run, checkpoint="last", file="model.safetensors"):
        return (self.folder / run / "checkpoints" / checkpoint / file).read_bytes()

    def assert_same_bits(self, run, other):
        for file in ("model.safetensors", "optimizer.safetensors"):
            self.assertEqual(self.weights(run, file=file), self.weights(other, file=file), f"{run}, {other}: {file}")

    def assert_log_only(self, done):
        self.assertEqual(done.out, "")
        self.assertNotEqual(done.err, "")


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=2)
