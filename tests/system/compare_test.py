"""tools/bench/compare.py: its statistics, its page and its choice of rows, on made-up figures."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support import SOURCE, main

sys.path.insert(0, str(SOURCE / "tools/bench"))
from comparison import figures, measure, page, rows  # noqa: E402


def one_round(ours, peers, memory=(1.0, 2.0), **more):
    """A round of the row that takes `ours` seconds here and these seconds in each setting of the peer."""
    lines = {name: {"error": "it failed"} if seconds is None else
             {"peer": "torch 2", "median_s": seconds, "peak_rss_gb": memory[1]} for name, seconds in peers.items()}
    own = {"peer": "attnlab 1", "median_s": ours, "peak_rss_gb": memory[0], "gflop": 300.0, "moved_gb": 2.0,
           "target_tokens_per_s": 1000.0, "parameters": 50_000_000, "threads": 2}
    return {"ours": [own], "peers": lines, "others": 0.1, **more}


ROUNDS = [
    one_round(1.0, {"eager": 3.0, "fused": 2.0, "compile": None}),
    one_round(1.0, {"fused": 2.5}),
    one_round(2.0, {"fused": 2.6}),
]


class Figures(unittest.TestCase):
    def test_the_best_setting_is_that_of_the_least_median_among_those_measured_to_the_end(self):
        self.assertEqual(figures.best_setting(ROUNDS), "fused")
        self.assertEqual(figures.best_setting(ROUNDS[:1]), "fused")
        self.assertIsNone(figures.best_setting([one_round(1.0, {"eager": None})]))

    def test_settings_near_the_best_get_further_rounds(self):
        first = [one_round(1.0, {"eager": 2.2, "fused": 2.0, "compile": 4.0, "compile+fused": None})]
        self.assertEqual(sorted(figures.contenders(first)), ["eager", "fused"])

    def test_ratios_are_taken_round_by_round(self):
        ratio = figures.ratio(ROUNDS)
        self.assertEqual((ratio.median, ratio.low, ratio.high, ratio.count), (2.0, 1.3, 2.5, 3))
        memory = figures.ratio(ROUNDS, "peak_rss_gb", inverse=True)
        self.assertEqual(memory.median, 0.5)

    def test_rounds_that_failed_are_left_out(self):
        rounds = ROUNDS + [{"ours": [{"error": "no"}], "peers": {"fused": {"median_s": 9.0}}}]
        self.assertEqual(figures.ratio(rounds).count, 3)
        self.assertIsNone(figures.ratio([]))
        self.assertIsNone(figures.our_figure([{"ours": [{"error": "no"}]}]))

    def test_others(self):
        self.assertEqual(figures.others(ROUNDS + [one_round(1, {}, others=0.7)]), 0.7)
        self.assertIsNone(figures.others([]))


class Page(unittest.TestCase):
    def machines(self):
        slow = [one_round(1.0, {"eager": 1.2}, memory=(1.5, 2.0))]
        roof = {"preset": "base", "gflop": 300.0, "best_s": 0.9, "gflop_per_s": 333.0, "attnlab_s": 1.0}
        growth = [{"kind": kind, "length": length, "median_s": seconds * length ** slope}
                  for kind, seconds, slope in [("scaled_dot", 1e-6, 2), ("window", 1e-5, 1)] for length in (1024, 16384)]
        growth += [{"kind": kind, "from": 1024.0, "to": 16384.0, "time_slope": slope, "memory_slope": 1.0}
                   for kind, slope in [("scaled_dot", 2.0), ("window", 1.0)]]
        frozen = [{"ours": [{"median_s": 4.0, "peak_rss_gb": 2.0}], "second": [{"median_s": 2.0, "peak_rss_gb": 1.5}]}]
        scaling = [{"axis": "depth", "from": 1, "to": 8, "exponent": 0.95, "theory": 0.8}]
        every = {"step:toy:f32": [*ROUNDS], "step:base:f32": slow, "matmul:base:f32": [{"ours": [{}, roof]}],
                 "startup": [{"ours": [{"median_s": 0.25}], "others": 0}], "growth:f32": [{"ours": growth}],
                 "frozen:f32": frozen, "scaling:f32": [{"ours": scaling}]}
        return {"A CPU, AVX2, 2 threads": {key: {"when": "2030-01-02", "rounds": value} for key, value in every.items()}}

    def line(self, start):
        found = [line for line in page.render(self.machines()).splitlines() if line.startswith(start)]
        self.assertEqual(len(found), 1, start)
        return [cell.strip() for cell in found[0].strip("|").split("|")]

    def test_the_table_of_targets(self):
        self.assertEqual(self.line("| step, toy")[:7], ["step, toy", "≥ 5×", "2 (1.3–2.5)", "short", "1 (1–2)", "2.5 (2–2.6)", "fused"])
        self.assertEqual(self.line("| step, base")[2:4], ["1.2", "short"])

    def test_limits(self):
        self.assertEqual(self.line("| peak memory over PyTorch's, base")[1:4], ["≤ 0.5×", "0.75", "short"])
        self.assertEqual(self.line("| start to the first step")[1:4], ["≤ 0.3 s", "0.25", "reached"])
        self.assertEqual(self.line("| share of the roofline, base")[1:4], ["≥ 80%", "90%", "reached"])
        self.assertEqual(self.line("| time of training the LayerNorms")[1:4], ["≤ 0.75×", "0.5", "reached"])
        self.assertEqual(self.line("| peak memory of training the LayerNorms")[1:4], ["≤ 0.5×", "0.75", "short"])

    def test_growth_scaling_and_bounds(self):
        self.assertEqual(self.line("| window")[:5], ["window", "1", "reached", "1", "102×"])
        self.assertEqual(self.line("| depth"), ["depth", "1–8", "0.95", "0.8", "+0.15"])
        self.assertEqual(self.line("| base | f32")[:2], ["base", "f32"])

    def test_a_page_of_nothing(self):
        self.assertIn("# Performance", page.render({}))
        self.assertIn("what bounds it", page.render({}, "what bounds it"))
        self.assertIn("## B", page.render({"B": {"startup": {"when": "2030-01-02", "rounds": [{"ours": [{"error": "x"}]}]}}}))


class Rows(unittest.TestCase):
    def every(self):
        return rows.all_rows(["f32", "bf16"], "config.yaml", "batches.json", [])

    def test_names_are_unique_and_chosen_by_their_beginning(self):
        keys = [row.key for row in self.every()]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertEqual([row.key for row in rows.chosen(self.every(), ["step:toy"])], ["step:toy:f32", "step:toy:bf16"])
        with self.assertRaises(SystemExit):
            rows.chosen(self.every(), ["step:to"])

    def test_peers_get_the_shapes_that_we_get(self):
        for row in self.every():
            for command in row.peers.values():
                for option in ("--preset", "--precision", "--steps", "--beam"):
                    if option in command and option in row.ours:
                        self.assertEqual(command[command.index(option) + 1], row.ours[row.ours.index(option) + 1], row.key)


class Measuring(unittest.TestCase):
    def test_rounds_gather_and_are_not_made_twice(self):
        class FakePrograms:
            calls = []

            def python(self, environment):
                return "python"

            def ours(self, arguments):
                self.calls.append("ours")
                return [{"median_s": 1.0}]

            def peer(self, python, arguments):
                self.calls.append(arguments[-1])
                return {"median_s": {"eager": 2.0, "fused": 3.0}[arguments[-1]]}

        row = rows.Row("step:toy:f32", ["bench", "step"], "torch",
                       rows.torch_settings("torch_step.py", settings=["eager", "fused"]), rounds=3)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "docs/figures.json")
            for expected in (["ours", "eager", "fused", "ours", "eager", "ours", "eager"], []):
                FakePrograms.calls = []
                measure.measure([row], FakePrograms(), measure.Results(file), "machine", False, None, lambda text: None)
                self.assertEqual(FakePrograms.calls, expected)
            kept = json.loads(file.read_text())["machines"]["machine"]["step:toy:f32"]["rounds"]
            self.assertEqual(figures.ratio(kept).median, 2.0)

    def test_a_row_that_fails_on_our_side_leaves_nothing(self):
        class Failing:
            def ours(self, arguments):
                return [{"error": "no data"}]

        said = []
        with tempfile.TemporaryDirectory() as folder:
            results = measure.Results(pathlib.Path(folder, "figures.json"))
            measure.measure([rows.Row("ops:f32", ["bench", "ops"])], Failing(), results, "machine", False, None, said.append)
            self.assertEqual(results.machines, {})
        self.assertIn("ops:f32: attnlab failed: no data", said)

    def test_the_program_lists_its_rows(self):
        done = subprocess.run([sys.executable, "-B", SOURCE / "tools/bench/compare.py", "--list", "--precision", "f32"],
                              capture_output=True, text=True, check=True)
        self.assertIn("attention:8192:causal:f32", done.stdout.split())


if __name__ == "__main__":
    main()
