#!/usr/bin/env python3
"""Writes tests/golden/defaults.json: the default of every key by its path and the kinds that have it, of experiments and of
claims.

Runs and claims are told apart by what differs from the defaults, so that a new key changes none of those that are kept. Where
a default has changed, the constant kDefaults of the code that tells them apart has to count up, since all of them are others
then; without that the file is not written. Usage: tests/golden/defaults.py build/release/attnlab
"""
import json
import pathlib
import re
import subprocess
import sys

FILE = pathlib.Path(__file__).with_suffix(".json")
STUDY = pathlib.Path(__file__).parents[2] / "framework/study"
PARTS = {"runs": STUDY / "identity.cpp", "claims": STUDY / "expectation_record.cpp"}  # what has kDefaults of each


def part_of(path):
    return "claims" if path.startswith("study.expect.NAME.") else None if path.split(".")[0] == "study" else "runs"


def defaults(program):
    schema = json.loads(subprocess.run([program, "config", "schema", "--study", "--json"], check=True, capture_output=True).stdout)
    experiment = json.loads(subprocess.run([program, "config", "schema", "--json"], check=True, capture_output=True).stdout)
    found = {part: {} for part in PARTS}
    for key in experiment + schema:
        if part := part_of(key["path"]):
            found[part][key["path"] + (f" with {key['when']}" if key.get("when") else "")] = key["default"]
    return found


def versions():
    return {part: re.search(r'kDefaults = "(.*)"', file.read_text()).group(1) for part, file in PARTS.items()}


def changed(known, now):
    return [f"{key}: {known[key]}, now {now[key]}" for key in sorted(known.keys() & now.keys()) if known[key] != now[key]]


def write(program):
    now = defaults(program)
    if FILE.exists():
        known = json.loads(FILE.read_text())
        for part, version in versions().items():
            differences = changed(known["defaults"][part], now[part])
            if differences and known["versions"][part] == version:
                sys.exit(f"defaults have changed; count kDefaults up in {PARTS[part]}:\n" + "\n".join(differences))
    FILE.write_text(json.dumps({"versions": versions(), "defaults": now}, indent=0, sort_keys=True, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write(sys.argv[1])
