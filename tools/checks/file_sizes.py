#!/usr/bin/env python3
"""Fails when a source file is longer than 400 lines: that is where a file is split.

Usage: file_sizes.py [ROOT]    prints one line per long file and the lines per folder, and exits 1 if there is any
"""
import sys
from pathlib import Path

MOST_LINES = 400
FOLDERS = ["framework", "tools", "tests", "experiments"]
SOURCES = {".h", ".cpp", ".inl", ".py", ".sh", ".cmake"}


def measure(root):
    """Lines of every source file, by path relative to root."""
    lines = {}
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in SOURCES and file.is_file():
                lines[file.relative_to(root)] = len(file.read_text(encoding="utf-8").splitlines())
    return lines


def main(root):
    root = Path(root)
    lines = measure(root)
    totals = {}
    for path, count in lines.items():
        folder = "/".join(path.parts[: 2 if path.parts[0] == "framework" else 1])
        totals[folder] = totals.get(folder, 0) + count
    for folder, count in totals.items():
        print(f"{count:7} {folder}")
    long_files = [path for path, count in lines.items() if count > MOST_LINES]
    for path in long_files:
        print(f"{path}: {lines[path]} lines, more than {MOST_LINES}")
    return 1 if long_files or not lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]))
