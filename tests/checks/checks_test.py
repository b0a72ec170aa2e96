#!/usr/bin/env python3
"""Holds the source checks to made-up trees with known mistakes."""
import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "checks"))
sys.dont_write_bytecode = True

import file_sizes  # noqa: E402
import include_floors  # noqa: E402

# File, its one include, and part of the complaint (None: allowed).
INCLUDES = [
    ("framework/core/a.h", '#include "core/b.h"', None),
    ("framework/core/a.h", "#include <vector>", None),
    ("framework/core/a.h", '#include "config/b.h"', "core may include core only"),
    ("framework/config/a.cpp", '#include "core/b.h"', "config may include config only"),
    ("framework/kernels/a.cpp", '#include "core/b.h"', None),
    ("framework/kernels/a.cpp", '#include "ops/b.h"', "kernels may include core, config, kernels only"),
    ("framework/kernels/a.inl", '  #  include "nn/b.h"', "kernels may include"),
    ("framework/ops/a.cpp", '#include "kernels/b.h"', None),
    ("framework/attention/a.cpp", '#include "models/b.h"', "attention may include"),
    ("framework/data/a.cpp", '#include "config/b.h"', None),
    ("framework/data/a.h", '#include "ops/b.h"', "data may include core, config, data only"),
    ("framework/data/a.h", '#include "models/b.h"', "data may include core, config, data only"),
    ("framework/train/a.cpp", '#include "data/b.h"', None),
    ("framework/train/a.cpp", '#include "study/b.h"', "train may include"),
    ("framework/study/a.cpp", '#include "train/b.h"', None),
    ("framework/ops/a.cpp", '#include "b.h"', 'expected "FLOOR/file"'),
    ("framework/ops/a.cpp", '#include "../core/b.h"', 'expected "FLOOR/file"'),
    ("framework/extras/a.cpp", '#include "core/b.h"', "'extras' is not a floor"),
    ("framework/kernels/a.cpp", "#include <dnnl.hpp>", None),
    ("framework/kernels/a.h", "#include <dnnl.hpp>", "oneDNN belongs"),
    ("framework/kernels/a.inl", "#include <dnnl.hpp>", None),
    ("framework/kernels/a.cpp", '#include "kernels/b.inl"', None),
    ("framework/kernels/a.inl", '#include "kernels/b.inl"', None),
    ("framework/kernels/a.h", '#include "kernels/b.inl"', "belongs in .cpp files of its own folder"),
    ("framework/ops/a.cpp", '#include "kernels/b.inl"', "belongs in .cpp files of its own folder"),
    ("tools/a.cpp", '#include "kernels/b.inl"', "belongs in .cpp files of its own folder"),
    ("framework/ops/a.cpp", "#include <oneapi/dnnl/dnnl.hpp>", "oneDNN belongs"),
    ("framework/config/a.cpp", "#include <yaml-cpp/parser.h>", None),
    ("framework/config/a.h", "#include <yaml-cpp/parser.h>", "yaml-cpp belongs"),
    ("framework/train/a.cpp", "#include <yaml-cpp/yaml.h>", "yaml-cpp belongs"),
    ("framework/train/a.cpp", "#include <spdlog/spdlog.h>", None),
    ("framework/train/a.h", "#include <spdlog/spdlog.h>", "spdlog belongs"),
    ("framework/core/a.cpp", "#include <spdlog/spdlog.h>", "spdlog belongs"),
    ("framework/ops/a.cpp", "#include <omp.h>", "OpenMP belongs"),
    ("framework/train/a.cpp", "#include <sentencepiece_trainer.h>", "SentencePiece belongs"),
    ("tools/commands/a.cpp", "#include <spdlog/spdlog.h>", None),
    ("tools/a.h", "#include <spdlog/spdlog.h>", "spdlog belongs"),
    ("tools/a.cpp", '#include "study/b.h"', None),
    ("tools/a.cpp", "#include <dnnl.hpp>", "oneDNN belongs"),
]


def run(check, files):
    """Runs a check over a tree of the given files; its exit status and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            status = check.main(folder)
    return status, out.getvalue()


class IncludeFloors(unittest.TestCase):
    def test_each_edge(self):
        for name, line, complaint in INCLUDES:
            with self.subTest(file=name, include=line):
                status, out = run(include_floors, {name: f"#pragma once\n{line}\n"})
                if complaint is None:
                    self.assertEqual((status, out), (0, ""))
                else:
                    self.assertEqual(status, 1)
                    self.assertTrue(out.startswith(f"{name}:2: "), out)
                    self.assertIn(complaint, out)

    def test_all_problems_are_listed(self):
        bad = '#include "study/a.h"\n#include <dnnl.hpp>\n'
        status, out = run(include_floors, {"framework/core/a.cpp": bad, "framework/ops/b.cpp": bad})
        self.assertEqual((status, len(out.splitlines())), (1, 4))

    def test_an_empty_tree_is_a_failure(self):
        self.assertEqual(run(include_floors, {})[0], 1)


class FileSizes(unittest.TestCase):
    def test_the_bound(self):
        self.assertEqual(run(file_sizes, {"framework/ops/a.cpp": "\n" * 400})[0], 0)
        status, out = run(file_sizes, {"framework/ops/a.cpp": "\n" * 401, "tests/b.py": "\n" * 10})
        self.assertEqual(status, 1)
        self.assertIn("framework/ops/a.cpp: 401 lines, more than 400", out)

    def test_other_files_do_not_count(self):
        self.assertEqual(run(file_sizes, {"tools/a.sh": "\n", "tests/golden/a.json": "\n" * 1000})[0], 0)


if __name__ == "__main__":
    unittest.main()
