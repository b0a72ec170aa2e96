"""What a report is made of: runs found where their study lies, names that differ, numbers that are not there.

Figures are looked at in this process, which therefore is one of a Python with matplotlib, if there is any.
"""

import html
import importlib.util
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest
from unittest import mock

from report_test import python_that_draws
from support import SOURCE, SystemTest, main

if __name__ == "__main__" and not importlib.util.find_spec("matplotlib") and python_that_draws():
    os.execv(python_that_draws(), [python_that_draws(), "-B", *sys.argv])
sys.path.insert(0, str(SOURCE / "tools/report"))
draws = bool(importlib.util.find_spec("matplotlib"))
if draws:
    import data
    import figures
    import probe_figures
    from report import Report

NO_PYTHON = "SKIPPED: no Python with matplotlib here; tools/setup.sh installs one"


def arm(name, scores, **more):
    """An arm of results.json: `scores` by seed, None for a run that diverged."""
    runs = [{"seed": seed, "status": "done" if score is not None else "diverged", "folder": "", "code": "",
             "values": {"test_bleu": score, "training_seconds": 10.0 if score is not None else 1.0, "step": 7}}
            for seed, score in scores.items()]
    return {"name": name, "baseline": "base", "runs": runs, "point": {}, "published": None, **more}


def study(folder, title, *arms):
    """As `attnlab report` gathers it, from a folder without runs."""
    results = {"study": "parts", "metric": "test_bleu", "seeds": [1, 2], "baseline": "base", "arms": arms}
    return {"file": f"{folder}/study/results.json", "title": title, "results": results, "runs": [], "intervals": []}


def probe(table, columns, *rows):
    return {"numbers": {}, "tables": {table: {"columns": columns, "rows": rows}}, "notes": []}


RESIDUAL = ["stack", "layer", "centre", "norm", "mean", "sd", "noise"]
RESIDUAL_ROW = ["encoder", 0, "mean", "composite", 0.5, 0.1, 1e-7]
WITHOUT_NUMBERS = ["encoder", 1, "mean", "composite", None, None, None]
# Of every kind a table with a number, then the same row without.
TABLES = {
    "residual_norm": ("residual_norm", RESIDUAL, RESIDUAL_ROW, WITHOUT_NUMBERS),
    "token_cosine": ("token_cosine", ["stack", "layer", "mean", "sd"], ["encoder", 0, 0.5, None], ["encoder", 1, None, None]),
    "head_importance": ("head_importance", ["type", "layer", "head", "importance"], ["encoder", 0, 0, 1.0], ["cross", 0, 1, None]),
    "attention_entropy": ("attention_entropy", ["type", "layer", "head", "relative_entropy"], ["cross", 0, 0, 1.0],
                          ["cross", 1, 0, None]),
    "value_norms": ("value_norms", ["type", "layer", "head", "value"], ["encoder", 0, 0, 1.0], ["encoder", 1, 0, None]),
    "head_pruning": ("curves", ["type", "order", "share", "score"], ["encoder", "random 1", 0.0, 1.0],
                     ["encoder", "importance", 0.5, None]),
    "path_decomposition": ("path_decomposition", ["length", "token_accuracy", "sequence_accuracy"], [0, 0.5, None], [1, None, None]),
}


class MadeUp(unittest.TestCase):
    """Each test gets a folder of its own."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="attnlab-report-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, path, content):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))

    def report(self, *studies):
        self.write("report.json", {"problems": [], "studies": studies, "runs": [], "views": []})
        return Report(self.folder)


@unittest.skipUnless(draws, NO_PYTHON)
class Arms(MadeUp):
    def along(self, *arms):
        """The first figure along an axis."""
        group = data.study_group(study("/nowhere", "parts", *arms))
        (key, lines), = figures.axis_arms(group).items()
        with mock.patch.object(figures, "Figure", lambda name, figure, caption: figure):
            return figures.along_axis(group, key, lines, "along").axes[0]

    def test_stems_of_names(self):
        for name, point, stem in [("base-1", {"a": "1"}, "base"), ("no-1-0.5", {"a": "0.5"}, "no-1"), ("base", {}, "base"),
                                  ("grid-4-window", {"a": "4", "b": "window"}, "grid"), ("low-1", {"a": "-1"}, "low"),
                                  ("list-1-2", {"a": "[1, 2]"}, "list"), ("other", {"a": "1"}, "other")]:
            self.assertEqual(data.Arm(name, [], point=point).stem(), stem)

    def test_arms_that_share_an_axis_are_lines_of_their_own(self):
        at = [{"point": {"model.layers": str(layers)}} for layers in (1, 3)]
        axes = self.along(arm("base-3", {1: 3.0, 2: 5.0}, **at[1]), arm("base-1", {1: 1.0}, **at[0]),
                          arm("no_mlp-1", {1: 2.0}, published=7.0, **at[0]), arm("no_mlp-3", {1: 3.0}, published=8.0, **at[1]),
                          arm("untrained-1", {1: 0.0}, control=True, **at[0]), arm("untrained-3", {1: 0.5}, control=True, **at[1]))
        lines = {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}
        self.assertEqual([word.get_text() for word in axes.get_legend().get_texts()], ["base", "no_mlp", "untrained", "published"])
        for stem, means in {"base": [1, 4], "no_mlp": [2, 3], "untrained": [0, 0.5]}.items():
            self.assertEqual(list(lines[stem].get_xdata()), [1, 3], stem)
            self.assertEqual(list(lines[stem].get_ydata()), means)
        self.assertEqual(lines["untrained"].get_color(), figures.CONTROL)
        self.assertNotEqual(lines["base"].get_color(), lines["no_mlp"].get_color())
        self.assertIn(([1, 3], [7, 8]), [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.get_lines()])

    def test_one_line_needs_no_legend(self):
        axes = self.along(*(arm(f"arm-{width}", {1: width}, point={"model.width": str(width)}) for width in (8, 16)))
        self.assertIsNone(axes.get_legend())

    def test_runs_that_diverged_do_not_count_but_are_drawn(self):
        made = study("/nowhere", "parts", arm("base", {1: 4.0, 2: None}), arm("wild", {1: None, 2: None}))
        for name in ("base", "wild"):
            (self.folder / name).mkdir()
            (self.folder / name / "metrics.jsonl").write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "loss": 9.0}\n')
            made["runs"].append({"arm": name, "seed": 2, "folder": str(self.folder / name)})
        group = data.study_group(made)
        base, wild = group.arms
        for metric, value in {"test_bleu": 4.0, "training_seconds": 10.0, "step": 7.0}.items():
            self.assertEqual(base.values(metric), [value])
            self.assertEqual(wild.values(metric), [])
        self.assertIsNone(figures.cost(group, "cost"))
        with mock.patch.object(figures, "Figure", lambda name, figure, caption: figure):
            drawn = figures.training_curves(group, "training").axes[0].get_lines()
        self.assertEqual([line.get_label() for line in drawn], ["base", "wild"])


@unittest.skipUnless(draws, NO_PYTHON)
class Pages(MadeUp):
    def test_studies_of_like_names_have_sections_and_figures_of_their_own(self):
        studies = []
        for folder, title in [("a", "parts"), ("b", "parts-quick"), ("c", "parts_quick"), ("d", "parts")]:
            self.write(f"{folder}/study/probes/base.seed-1/norm/residual_norm.json", probe(*TABLES["residual_norm"][:3]))
            studies.append(study(self.folder / folder, title, arm("base", {1: 1.0, 2: 2.0}), arm("other", {1: 2.0, 2: 3.0})))
        report = self.report(*studies)
        page = report.html()
        sections = re.findall(r"<h2 id='([^']*)'", page)
        self.assertEqual(len(sections), len(set(sections)))
        names = [figure.name for figure in report.drawn]
        self.assertEqual(len(names), len(set(names)))
        for name in ("parts_scores", "parts_quick_norm_base__seed_1", "parts_quick_2_norm_base__seed_1", "parts_2_cost"):
            self.assertIn(name, names)
        for words in ("parts-quick: scores", "parts: base, seed 1: norm"):
            self.assertIn(words, page)

    def test_long_names_that_begin_alike(self):
        arms = [arm("x" * 70 + end, {1: 1.0}) for end in "ab"]
        for one in arms:
            self.write(f"study/probes/{one['name']}.seed-1/cosine/value_norms.json", probe(*TABLES["value_norms"][:3]))
        report = self.report(study(self.folder, "parts", *arms))
        report.html()
        names = [figure.name for figure in report.drawn]
        self.assertEqual(len(names), len(set(names)))

    def test_what_has_no_number_is_left_out_of_figures(self):
        for kind, (table, columns, row, without) in TABLES.items():
            draw = probe_figures.FIGURES[kind][""]
            self.assertIsNotNone(draw(probe(table, columns, without, row), "name"), kind)
            self.assertIsNone(draw(probe(table, columns, without), "name"), kind)
            if kind in probe_figures.SHARED:
                arms = [("base", False, [probe(table, columns, without, row)]), ("other", False, [probe(table, columns, without)])]
                self.assertIsNotNone(probe_figures.shared_curves(kind, arms, "name"), kind)
                self.assertIsNone(probe_figures.shared_curves(kind, arms[1:], "name"), kind)
        self.assertIsNone(probe_figures.single_heads(probe("single", ["type", "layer", "head", "change"], ["cross", 0, 0, None]), "name"))

    def test_a_probe_that_cannot_be_drawn_is_named_and_the_rest_drawn(self):
        self.write("study/probes/base.seed-1/good/residual_norm.json", probe(*TABLES["residual_norm"][:3]))
        self.write("study/probes/base.seed-1/bad/residual_norm.json", probe("residual_norm", ["mean"], [0.5]))
        self.write("study/probes/base.seed-1/worse/token_cosine.json", {"numbers": {}, "tables": {"token_cosine": {"rows": [[1]]}}})
        self.write("study/probes/base.seed-1/empty/token_cosine.json", None)
        report = self.report(study(self.folder, "parts", arm("base", {1: 1.0, 2: 2.0})))
        page = report.html()
        for words in ("base, seed 1: bad cannot be drawn: KeyError: 'stack'", "base, seed 1: worse: a table cannot be drawn"):
            self.assertIn(html.escape(words), page)
        self.assertIn("good_base__seed_1", [figure.name for figure in report.drawn])


@unittest.skipUnless(python_that_draws(), NO_PYTHON)
class Gathering(SystemTest):
    def setUp(self):
        super().setUp()
        self.write("study.yaml", """\
base: tiny.yaml
study:
  name: parts
  seeds: [1]
  arms:
    base: {}
    narrow: {model: {width: 8}}
  quick: {train: {max_steps: 10}}
""")
        self.attnlab("run", "study.yaml")

    def page_of(self, *inputs):
        self.attnlab("report", *inputs, "--views", "0")
        return (self.folder / "report.html").read_text(encoding="utf-8")

    def keep(self, path):
        """The results alone, as a repository keeps them."""
        results = self.json("runs/parts/study/results.json")
        for one in results["arms"]:
            for run in one["runs"]:
                run["folder"] = ""
        self.write(path, json.dumps(results))

    def test_a_study_is_reported_from_where_it_lies(self):
        # Runs of the same names are where the report is made: those of the study are to be drawn.
        shutil.copytree(self.folder / "runs", self.folder / "elsewhere/runs", symlinks=True)
        environment = "elsewhere/runs/parts/base/seed-1/environment.json"
        self.write(environment, json.dumps({**self.json(environment), "cpu": "A MADE-UP CPU"}))
        shutil.rmtree(self.folder / "elsewhere/runs/parts/narrow/seed-1")
        page = self.page_of("elsewhere/runs/parts")
        for words in ("A MADE-UP CPU", "All runs", "parts: the folders of 1 of 2 finished runs are not there", "95 % over seeds, sentences"):
            self.assertTrue(words in page, f"{words!r} is missing")
        shutil.rmtree(self.folder / "runs")
        page = self.page_of("elsewhere/runs/parts")
        self.assertIn("A MADE-UP CPU", page)
        self.assertTrue((self.folder / "report_figures/training.svg").exists())

    def test_results_that_are_kept_without_runs_lack_nothing(self):
        self.keep("kept/parts.json")
        self.assertNotIn("are not there", self.page_of("kept/parts.json"))
        page = self.page_of("runs/parts", "kept/parts.json", "runs/parts/study/results.json")
        sections = re.findall(r"<h2 id='([^']*)'", page)
        self.assertEqual([name for name in sections if name.endswith("scores")], ["runs_parts_scores", "kept_parts_scores"])
        self.assertIn("runs/parts: scores", page)

    def test_configurations_are_compared_within_a_study(self):
        self.attnlab("run", "study.yaml", "--quick")
        page = self.page_of("runs/parts", "runs/parts-quick")
        for words in ("parts: narrow: 1 key differs from base", "parts-quick: narrow: 1 key differs from base", "parts-quick: training"):
            self.assertIn(words, page)
        self.assertNotIn("keys differ", page)

    def test_runs_of_one_name_get_their_folders_in_front(self):
        page = self.page_of("runs/parts/base/seed-1", "runs/parts/narrow/seed-1/", "./runs/parts/narrow/seed-1")
        for words in ("Paired bootstrap", "<title>base/seed-1 and narrow/seed-1</title>", "narrow/seed-1: 1 key differs from base/seed-1"):
            self.assertIn(words, page)


if __name__ == "__main__":
    main()
