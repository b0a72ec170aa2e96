"""Reads what attnlab writes: runs, studies, arrays of probes. Pure Python; with pandas and NumPy where they are there.

    import attnlab
    run = attnlab.read_run("runs/quickstart")
    run.result["test_exact_match"], run.column("valid_nll"), run.frame()
    study = attnlab.read_study("runs/ablation")          # or experiments/ablation/results/ablation.json
    study.arms["no_skip"].values("test_exact_match"), study.frame(), study.verdicts
    maps = attnlab.read_npz("attention_maps.npz")        # name -> Array: shape, and values in row order
"""

import ast
import json
import math
import pathlib
import struct
import zipfile
from dataclasses import dataclass, field


def _json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def _frame(rows):
    """A pandas DataFrame of dictionaries. Raises ImportError without pandas; .rows() needs none."""
    import pandas

    return pandas.DataFrame(rows)


@dataclass
class Run:
    """A run folder. `metrics` has one dictionary for each line of metrics.jsonl, `result` is empty if it has not ended."""

    folder: pathlib.Path
    config: str
    result: dict
    environment: dict
    metrics: list

    @property
    def finished(self):
        return self.result.get("status") in ("done", "early_stopped")

    def column(self, name):
        """(step, value) of every line that has it."""
        return [(line["step"], line[name]) for line in self.metrics if name in line]

    def rows(self):
        return self.metrics

    def frame(self):
        return _frame(self.metrics)


def read_run(folder):
    """Raises FileNotFoundError if it is no run folder. A last line that was cut off is left out."""
    folder = pathlib.Path(folder)
    config = (folder / "config.yaml").read_text(encoding="utf-8")
    optional = {name: _json(folder / name) if (folder / name).exists() else {} for name in ("result.json", "environment.json")}
    metrics, path = [], folder / "metrics.jsonl"
    for line in path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []:
        metrics.append(json.loads(line))
    return Run(folder, config, optional["result.json"], optional["environment.json"], metrics)


@dataclass
class Arm:
    """One arm of a study: `runs` as in the file, one dictionary a seed."""

    name: str
    note: str
    baseline: str
    control: bool
    published: float
    point: dict
    runs: list
    rate: dict = field(default_factory=dict)

    def values(self, metric):
        """seed -> value, of the runs that ended."""
        ended = [run for run in self.runs if run["status"] in ("done", "early_stopped")]
        return {run["seed"]: run["values"][metric] for run in ended if run["values"].get(metric) is not None}

    def mean(self, metric):
        values = list(self.values(metric).values())
        return math.fsum(values) / len(values) if values else math.nan

    def sd(self, metric):
        values = list(self.values(metric).values())
        if len(values) < 2:
            return math.nan
        mean = self.mean(metric)
        return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))

    def sem(self, metric):
        """Standard error of the mean."""
        return self.sd(metric) / math.sqrt(len(self.values(metric)) or math.nan)

    def differences(self, other, metric):
        """Paired by seed: this arm minus the other, where both were computed in one precision."""
        mine, theirs = self.values(metric), other.values(metric)
        precisions, others = ({run["seed"]: run.get("precision") for run in arm.runs} for arm in (self, other))
        return [mine[seed] - theirs[seed] for seed in sorted(mine)
                if seed in theirs and (precisions[seed] == others[seed] or None in (precisions[seed], others[seed]))]


@dataclass
class Study:
    name: str
    question: str
    source: str
    metric: str
    baseline: str
    seeds: list
    arms: dict
    verdicts: list

    def rows(self):
        """One dictionary a run: arm, seed, status, where it lies on the axes, and all values."""
        return [
            {"arm": arm.name, "seed": run["seed"], "status": run["status"], "control": arm.control,
             "published": arm.published, **arm.point, **run["values"]}
            for arm in self.arms.values() for run in arm.runs
        ]

    def frame(self):
        return _frame(self.rows())


def read_study(path):
    """From the folder of a study, or from a file of its results. Raises ValueError if it is neither."""
    path = pathlib.Path(path)
    if path.is_dir():
        path = path / "study" / "results.json"
    data = _json(path)
    if "study" not in data or "arms" not in data:
        raise ValueError(f"{path}: no results of a study")
    arms = {
        arm["name"]: Arm(arm["name"], arm["note"], arm["baseline"], arm["control"], arm["published"], arm["point"],
                         arm["runs"], arm.get("rate", {}))
        for arm in data["arms"]
    }
    return Study(data["study"], data["question"], data["source"], data["metric"], data["baseline"], data["seeds"], arms,
                 data["verdicts"])


@dataclass
class Array:
    shape: tuple
    values: list

    def __getitem__(self, index):
        """The part with this first index: an Array, or a number."""
        if not -self.shape[0] <= index < self.shape[0]:
            raise IndexError(index)
        size = len(self.values) // self.shape[0]
        begin = index % self.shape[0] * size
        return self.values[begin] if len(self.shape) == 1 else Array(self.shape[1:], self.values[begin : begin + size])

    def numpy(self):
        import numpy

        return numpy.array(self.values).reshape(self.shape)


_FORMATS = {"f4": "f", "f8": "d", "i4": "i", "i8": "q", "u4": "I", "u8": "Q", "i1": "b", "u1": "B", "b1": "?"}


def _npy(data, name):
    if data[:6] != b"\x93NUMPY":
        raise ValueError(f"{name}: no array")
    wide = data[6] > 1
    length = struct.unpack_from("<I" if wide else "<H", data, 8)[0]
    start = 12 if wide else 10
    head = ast.literal_eval(data[start : start + length].decode("latin-1"))
    kind = head["descr"]
    if head["fortran_order"] or kind[0] not in "<|" or kind[1:] not in _FORMATS:
        raise ValueError(f"{name}: arrays in row order with plain numbers only, found {kind}")
    count = math.prod(head["shape"])
    return Array(tuple(head["shape"]), list(struct.unpack_from(f"<{count}{_FORMATS[kind[1:]]}", data, start + length)))


def read_npz(path):
    """name -> Array of a .npz file."""
    with zipfile.ZipFile(path) as archive:
        return {name.removesuffix(".npy"): _npy(archive.read(name), f"{path}: {name}") for name in archive.namelist()}
