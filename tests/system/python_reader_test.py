"""tools/python: the reader agrees with the files, and the notebook runs from top to bottom."""

import contextlib
import importlib.util
import io
import json
import math
import os
import struct
import sys
import unittest.mock
import zipfile

from support import SOURCE, SystemTest, main
from study_test import STUDY

sys.path.insert(0, str(SOURCE / "tools/python"))
import attnlab


def npy(shape, kind, values, code):
    head = str({"descr": kind, "fortran_order": False, "shape": shape}).encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack(f"<{len(values)}{code}", *values)


class Reader(SystemTest):
    def test_studies_runs_and_the_notebook(self):
        self.write("parts.yaml", STUDY)
        self.attnlab("run", "parts.yaml")
        study = attnlab.read_study(self.folder / "runs/parts")
        self.assertEqual((study.name, study.metric, study.seeds), ("parts", "test_exact_match", [1, 2]))
        no_mlp, full = study.arms["no_mlp"], study.arms["full"]
        self.assertEqual(no_mlp.published, 0.5)
        self.assertEqual(study.arms["heads-4"].point, {"model.heads": "4"})
        summary = next(arm for arm in self.json("runs/parts/study/results.json")["arms"] if arm["name"] == "no_mlp")
        self.assertAlmostEqual(no_mlp.mean(study.metric), summary["summary"]["mean"])
        self.assertEqual(len(no_mlp.differences(full, "valid_nll")), 2)
        self.assertGreater(no_mlp.sd("valid_nll"), 0)
        self.assertAlmostEqual(no_mlp.sem(study.metric), summary["summary"]["sem"])
        full.runs[0]["precision"] = "another"  # then the runs of that seed make no pair
        self.assertEqual(len(no_mlp.differences(full, "valid_nll")), 1)
        self.assertTrue(math.isnan(no_mlp.mean("nothing")))
        self.assertEqual(len(study.rows()), 10)
        run = attnlab.read_run(self.folder / "runs/parts/full/seed-2")
        self.assertTrue(run.finished)
        self.assertEqual(run.column("valid_nll")[-1], (20, run.result["valid_nll"]))
        for name, wrong in (("runs/parts", FileNotFoundError), ("nowhere", FileNotFoundError)):
            with self.assertRaises(wrong):
                attnlab.read_run(self.folder / name)
        self.write("other.json", "{}")
        with self.assertRaises(ValueError):
            attnlab.read_study(self.folder / "other.json")

        notebook = json.loads((SOURCE / "tools/python/results.ipynb").read_text())
        names, out = {}, io.StringIO()
        variables = {"STUDY": str(self.folder / "runs/parts"), "ATTNLAB_PYTHON": str(SOURCE / "tools/python")}
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            with unittest.mock.patch.dict(os.environ, variables), contextlib.redirect_stdout(out):
                for cell in notebook["cells"]:
                    if cell["cell_type"] == "code":
                        exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
        finally:
            os.chdir(here)
        for text in ("parts - ", "no_mlp", "published 0.5", "not reproduced", "step     20"):
            self.assertIn(text, out.getvalue())

    def test_arrays(self):
        path = self.folder / "arrays.npz"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.npy", npy((2, 3), "<f4", [1, 2, 3, 4, 5, 6.5], "f"))
            archive.writestr("b/c.npy", npy((2,), "<i8", [7, -8], "q"))
        arrays = attnlab.read_npz(path)
        self.assertEqual(arrays["a"].shape, (2, 3))
        self.assertEqual(arrays["a"][1][2], 6.5)
        self.assertEqual(arrays["a"][-1].values, [4, 5, 6.5])
        self.assertEqual(arrays["b/c"].values, [7, -8])
        with self.assertRaises(IndexError):
            arrays["b/c"][2]
        if importlib.util.find_spec("numpy"):
            import numpy

            self.assertTrue((numpy.load(path)["a"] == arrays["a"].numpy()).all())
        with zipfile.ZipFile(self.folder / "bad.npz", "w") as archive:
            archive.writestr("a.npy", npy((1,), ">f4", [1], "f"))
        with self.assertRaises(ValueError):
            attnlab.read_npz(self.folder / "bad.npz")


if __name__ == "__main__":
    main()
