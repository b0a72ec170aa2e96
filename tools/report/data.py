"""What is drawn: arms with their runs, read from what `attnlab report` gathered and from the folders of the runs."""

import json
import math
import pathlib
import re
from dataclasses import dataclass, field

FINISHED = ("done", "early_stopped")


@dataclass
class Run:
    seed: int
    folder: pathlib.Path
    status: str = "done"
    precision: str = ""  # "f32" or "bf16", where it is known
    values: dict = field(default_factory=dict)  # numbers of result.json
    metrics: list = field(default_factory=list)  # lines of metrics.jsonl
    environment: dict = field(default_factory=dict)
    probes: dict = field(default_factory=dict)  # what `attnlab probe` found, by name
    counts: bool = True  # in means and scores: in a study, a run that diverged does not

    def finished(self):
        return self.status in FINISHED


@dataclass
class Arm:
    """Runs that differ in their seed only."""

    name: str
    runs: list
    note: str = ""
    control: bool = False
    published: float | None = None
    point: dict = field(default_factory=dict)  # values of axes, as text
    parameters: int = 0
    baseline: str = ""
    difference: dict | None = None
    made: int = 0  # runs that there are
    stale: int = 0  # those of them that other code made
    rate: dict | None = None  # the learning rates that it tried
    interval: list | None = None  # central 95 % of the score over seeds and sentences
    difference_interval: list | None = None  # and of the difference from the baseline

    def stem(self):
        """The name without what points of axes put at its end (see GridPoint::suffix): "base" of "base-1"."""
        name = self.name
        for value in reversed(list(self.point.values())):
            name = name.removesuffix("-" + re.sub(r"[^A-Za-z0-9._]+", "-", value).strip("-"))
        return name

    def by_seed(self, metric):
        """Values of the runs that count: {seed: value}, seeds rising."""
        runs = sorted((run for run in self.runs if run.counts), key=lambda run: run.seed)
        found = {run.seed: number(run.values.get(metric)) for run in runs}
        return {seed: value for seed, value in found.items() if value is not None}

    def differences(self, base, metric):
        """From another arm, over the seeds that both have in one precision."""
        own, other = self.by_seed(metric), base.by_seed(metric)
        precisions, others = ({run.seed: run.precision for run in arm.runs} for arm in (self, base))
        return [value - other[seed] for seed, value in own.items()
                if seed in other and (precisions[seed] == others[seed] or "" in (precisions[seed], others[seed]))]

    def values(self, metric):
        """Of the runs that count, in the order of their seeds."""
        return list(self.by_seed(metric).values())


@dataclass
class Group:
    """A study, or the runs that were named by themselves."""

    title: str
    arms: list
    metric: str = ""
    columns: list = field(default_factory=list)
    question: str = ""
    source: str = ""
    quick: bool = False
    seeds: list = field(default_factory=list)
    baseline: str = ""
    verdicts: list = field(default_factory=list)
    expectations_hash: str = ""
    prefix: str = ""  # of the names of its sections and figures, where there are several groups

    def precisions(self):
        return {run.precision for arm in self.arms for run in arm.runs if run.precision}

    def all_stale(self):
        """Whether other code made every run that there is."""
        stale, made = (sum(getattr(arm, name) for arm in self.arms) for name in ("stale", "made"))
        return 0 < made == stale


def number(value):
    """A finite number, or None. True and false count as 1 and 0, as in the tables of `attnlab results`."""
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def read_json(path):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def read_lines(path):
    """Objects of a file of JSON lines; a last line that is cut off is left out."""
    records = []
    try:
        lines = pathlib.Path(path).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return records
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and "step" in record:
            records.append(record)
    return records


def read_probes(folder):
    """Results of `attnlab probe … --out FOLDER` and of studies, which have a folder for each, by name."""
    found = {}
    for path in sorted([*pathlib.Path(folder).glob("*/*.json"), *pathlib.Path(folder).glob("*.json")]):
        probe = read_json(path)
        if isinstance(probe, dict) and "numbers" in probe:
            name = path.stem if path.parent == pathlib.Path(folder) else path.parent.name
            found[name] = {"kind": path.stem, **probe}
    return found


def read_run(folder, seed=0, status=None, values=None):
    folder = pathlib.Path(folder)
    result = read_json(folder / "result.json")
    return Run(
        seed=seed,
        folder=folder,
        status=status or result.get("status", "unfinished"),
        values=values if values is not None else result,
        metrics=read_lines(folder / "metrics.jsonl"),
        environment=read_json(folder / "environment.json"),
        probes=read_probes(folder / "probes"),
    )


def study_group(study):
    results = study["results"]
    folders = {(run["arm"], run["seed"]): run["folder"] for run in study["runs"]}
    intervals = {entry["arm"]: entry for entry in study.get("intervals", [])}
    arms = []
    for arm in results["arms"]:
        runs = []
        for run in arm["runs"]:
            folder = folders.get((arm["name"], run["seed"]), "")
            values = dict(run.get("values", {}))
            runs.append(read_run(folder or "/nonexistent", run["seed"], run["status"], values))
            kept = pathlib.Path(study["file"]).parent / "probes" / f"{arm['name']}.seed-{run['seed']}"
            runs[-1].precision = run.get("precision", "")
            runs[-1].counts = runs[-1].finished()
            runs[-1].probes.update(read_probes(kept))
        known = intervals.get(arm["name"], {})
        arms.append(
            Arm(arm["name"], runs, arm.get("note", ""), arm.get("control", False), number(arm.get("published")),
                arm.get("point", {}), arm.get("parameters", 0), arm.get("baseline", ""), arm.get("difference"),
                sum(bool(run.get("code")) for run in arm["runs"]), sum(bool(run.get("stale")) for run in arm["runs"]),
                arm.get("rate"), known.get("score"), known.get("difference"))
        )
    return Group(
        study["title"], arms, results["metric"], results.get("columns", []), results.get("question", ""),
        results.get("source", ""), results.get("quick", False), results.get("seeds", []), results.get("baseline", ""),
        results.get("verdicts", []), results.get("expectations_hash", ""),
    )


def main_metric(runs):
    """The first score of the first test set that a run has."""
    for run in runs:
        for name, value in run.values.items():
            if name.startswith("test") and number(value) is not None:
                return name
    for name in ("valid_nll", "valid_loss"):
        if any(number(run.values.get(name)) is not None for run in runs):
            return name
    return ""


def runs_group(runs, comparison=None):
    arms = [Arm(run["name"], [read_run(run["folder"])]) for run in runs]
    metric = main_metric([arm.runs[0] for arm in arms])
    for score in (comparison or {}).get("scores", []):
        if metric == f"{score['test']}_{score['metric']}":
            for arm, side in zip(arms, "ab"):
                arm.interval = [score[side] - score[side + "_interval"], score[side] + score[side + "_interval"]]
    columns = ["valid_nll", "training_seconds"] if metric != "valid_nll" else ["training_seconds"]
    return Group("Runs", arms, metric, columns)
