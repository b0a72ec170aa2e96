"""Runs the rows, both sides in turn, and keeps what they print."""
import datetime
import json
import pathlib

from . import figures
from .machine import OthersWatch, commit


class Results:
    """All figures so far, by machine and row; written after every round, so that work can be broken off."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.machines = json.loads(self.path.read_text())["machines"] if self.path.exists() else {}

    def rounds(self, machine, key):
        return self.machines.get(machine, {}).get(key, {}).get("rounds", [])

    def put(self, machine, key, rounds):
        when = datetime.date.today().isoformat()
        self.machines.setdefault(machine, {})[key] = {"when": when, "commit": commit(), "rounds": rounds}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps({"machines": self.machines}, indent=1) + "\n")
        fresh.replace(self.path)


def complete(row, rounds):
    return len(rounds) >= row.rounds


def one_round(row, programs, python, earlier):
    """Both sides once. The first round tries every setting of the peer, later ones only those that may be its best."""
    watch = OthersWatch()
    result = {"ours": programs.ours(row.ours), "peers": {}}
    if row.second:
        result["second"] = programs.ours(row.second)
    wanted = figures.contenders(earlier) if earlier else list(row.peers)
    if python:
        for setting in wanted:
            result["peers"][setting] = programs.peer(python, row.peers[setting])
    result["others"] = watch.share()
    return result


def measure(rows, programs, results, machine, again, most_rounds, log):
    """Measures rows that are not there yet, or all of them `again`. A row that fails on our side is left for another time."""
    for row in rows:
        rounds = [] if again else list(results.rounds(machine, row.key))
        if most_rounds:
            row.rounds = min(row.rounds, most_rounds)
        python = programs.python(row.environment) if row.environment else None
        if row.environment and not python:
            log(f"{row.key}: no environment has {row.environment}; only our side is measured")
        while not complete(row, rounds):
            log(f"{row.key}: round {len(rounds) + 1} of {row.rounds}")
            one = one_round(row, programs, python, rounds)
            for name, line in {"attnlab": one["ours"][0], **one["peers"]}.items():
                if "error" in line:
                    log(f"{row.key}: {name} failed: {line['error']}")
            if "error" in one["ours"][0]:
                break
            rounds.append(one)
            results.put(machine, row.key, rounds)
