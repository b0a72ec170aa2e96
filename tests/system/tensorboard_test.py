"""Event files as TensorBoard itself reads them.

Needs an interpreter with the tensorboard package: ATTNLAB_TENSORBOARD_PYTHON, or the one that runs this test.
"""

import json
import os
import subprocess
import sys
import unittest

from support import SystemTest, main

PYTHON = os.environ.get("ATTNLAB_TENSORBOARD_PYTHON", sys.executable)
READER = """\
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
events.Reload()
print(json.dumps({tag: [[e.step, e.value, e.wall_time] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}))
"""


def has_tensorboard():
    return subprocess.run([PYTHON, "-c", "import tensorboard"], capture_output=True).returncode == 0


@unittest.skipUnless(has_tensorboard(), f"SKIPPED: {PYTHON} has no tensorboard package (pip install tensorboard)")
class TensorBoard(SystemTest):
    def scalars(self, run):
        done = subprocess.run([PYTHON, "-c", READER, str(self.folder / run / "tensorboard")], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return json.loads(done.stdout)

    def logged(self, run, metric):
        lines = [json.loads(line) for line in (self.folder / run / "metrics.jsonl").read_text().splitlines()]
        return {line["step"]: line[metric] for line in lines if metric in line}

    def test_it_reads_what_was_logged(self):
        self.train("run", "--set", "log.tensorboard=true", "--set", "train.validate_every=10")
        scalars = self.scalars("run")
        for tag, metric in (("train/loss", "loss"), ("valid/nll", "valid_nll")):
            wanted = self.logged("run", metric)
            self.assertGreater(len(wanted), 1)
            self.assertEqual([step for step, _, _ in scalars[tag]], list(wanted))
            for step, value, _ in scalars[tag]:
                self.assertAlmostEqual(value, wanted[step], delta=1e-6 * abs(wanted[step]))
        times = [time for _, _, time in scalars["train/loss"]]
        self.assertEqual(times, sorted(times))

    def test_a_run_that_goes_on_is_one_curve(self):
        options = ("--set", "log.tensorboard=true", "--set", "train.log_every=1", "--set", "train.checkpoint_every=50", "--set",
                   "train.max_steps=240")
        process = self.start("run", "tiny.yaml", "--out", "run", *options)
        self.wait_until(lambda: self.step_logged("run") >= 70, process, "step 70")
        process.kill()  # the steps after the last checkpoint are done again
        process.wait(60)
        self.train("run", *options, "--resume")
        steps = [step for step, _, _ in self.scalars("run")["train/loss"]]
        self.assertEqual(steps, list(range(1, 241)))


if __name__ == "__main__":
    main()
