#!/usr/bin/env python3
"""Reads the #include lines of framework/ and tools/ and fails on an edge that the floors do not allow.

A floor includes itself and lower ones. Strangers: core and config to each other; data to all but core and config.
Libraries have one place each and stand in no header: oneDNN in kernels, yaml-cpp in config, spdlog in train and tools.
An .inl file is part of the .cpp files that include it: no header and no other folder does.

Usage: include_floors.py [ROOT]    prints one line per bad include as file:line: …, and exits 1 if there is any
"""
import re
import sys
from pathlib import Path

FLOORS = ["core", "config", "kernels", "ops", "nn", "attention", "models", "data", "train", "study"]
ALLOWED = {floor: set(FLOORS[: i + 1]) for i, floor in enumerate(FLOORS)}
ALLOWED["config"] = {"config"}
ALLOWED["data"] = {"core", "config", "data"}

# Start of a header's name in angle brackets, the library, and the folders whose .cpp and .inl files may include it.
LIBRARIES = [
    (("dnnl", "oneapi/dnnl"), "oneDNN", ["framework/kernels"]),
    (("yaml-cpp/",), "yaml-cpp", ["framework/config"]),
    (("spdlog/",), "spdlog", ["framework/train", "tools"]),
    (("omp.h",), "OpenMP", ["framework/core", "framework/kernels"]),
    (("sentencepiece",), "SentencePiece", ["framework/data"]),
]
SOURCES = {".h", ".cpp", ".inl"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]*)[>"]')


def library_problem(path, header):
    """What is wrong with a header in angle brackets, if anything; `path` is relative to the root."""
    for starts, library, folders in LIBRARIES:
        if not header.startswith(starts):
            continue
        inside = any(path.is_relative_to(folder) for folder in folders)
        if not inside or path.suffix == ".h":
            return f"<{header}>: {library} belongs in .cpp files of {' and '.join(folders)}"
    return None


def floor_problem(path, header):
    """What is wrong with a header in quotes, if anything."""
    parts = path.parts
    if header.endswith(".inl") and (path.suffix == ".h" or not path.is_relative_to(Path("framework", header).parent)):
        return f'"{header}": belongs in .cpp files of its own folder'
    if parts[0] != "framework" or len(parts) < 3:
        return None
    own, other = parts[1], header.split("/")[0]
    if own not in ALLOWED:
        return f"'{own}' is not a floor; floors are {', '.join(FLOORS)}"
    if "/" not in header or other not in ALLOWED:
        return f'"{header}": expected "FLOOR/file" with one of {", ".join(FLOORS)}'
    if other not in ALLOWED[own]:
        allowed = ", ".join(floor for floor in FLOORS if floor in ALLOWED[own])
        return f'"{header}": {own} may include {allowed} only'
    return None


def problems(root):
    """All bad includes under root, as lines of text in a fixed order, and the number of files read."""
    found, files = [], 0
    for folder in ("framework", "tools"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SOURCES or not file.is_file():
                continue
            files += 1
            path = file.relative_to(root)
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                check = library_problem if match.group(1) == "<" else floor_problem
                problem = check(path, match.group(2))
                if problem:
                    found.append(f"{path}:{number}: {problem}")
    return found, files


def main(root):
    root = Path(root)
    found, files = problems(root)
    for line in found:
        print(line)
    if files == 0:
        print(f"{root}: no sources found", file=sys.stderr)
    return 1 if found or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]))
