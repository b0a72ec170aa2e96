#!/usr/bin/env python3
"""Writes tests/golden/defaults.json: the default of every key of an experiment, by its path and the kinds that have it.

Runs are told apart by what differs from the defaults (framework/study/identity.cpp), so that a new key changes none of those
that are kept. Where a default has changed, kDefaults there has to count up, since all runs are others then; without that the
file is not written. Usage: tests/golden/defaults.py build/release/attnlab
"""
import json
import pathlib
import re
import subprocess
import sys

FILE = pathlib.Path(__file__).with_suffix(".json")
IDENTITY = pathlib.Path(__file__).parents[2] / "framework/study/identity.cpp"


def defaults(program):
    schema = json.loads(subprocess.run([program, "config", "schema", "--json"], check=True, capture_output=True).stdout)
    return {key["path"] + (f" with {key['when']}" if key.get("when") else ""): key["default"] for key in schema}


def version():
    return re.search(r'kDefaults = "(.*)"', IDENTITY.read_text()).group(1)


def changed(known, now):
    return [f"{key}: {known[key]}, now {now[key]}" for key in sorted(known.keys() & now.keys()) if known[key] != now[key]]


def write(program):
    now = defaults(program)
    if FILE.exists():
        known = json.loads(FILE.read_text())
        differences = changed(known["defaults"], now)
        if differences and known["version"] == version():
            sys.exit(f"defaults have changed; count kDefaults up in {IDENTITY}:\n" + "\n".join(differences))
    FILE.write_text(json.dumps({"version": version(), "defaults": now}, indent=0, sort_keys=True, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write(sys.argv[1])
