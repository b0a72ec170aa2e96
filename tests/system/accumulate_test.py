"""`reproduce --accumulate`: results that are kept count as made, wherever they were made; only the others are."""

import json
import shutil

from frozen_configs import BODY, PRETRAIN
from support import SystemTest, main

STUDY = """\
base: ../../tiny.yaml
precision: auto
study:
  name: parts
  seeds: [1, 2]
  columns: [valid_nll]
  probes: {norm: {probe: residual_norm, sentences: 4}}
  arms:
    full: {}
    no_mlp: {model: {mlp: false}}
  expect:
    an MLP is worth much: {kind: difference, arm: no_mlp, metric: valid_nll, at_least: 100}
"""

TRANSFER = """\
base: ../../body.yaml
data: {task: {kind: bit_xor, bits: 2, train: 64, valid: 4, test: 4}}
model: {from: prepared:start, head: last}
train: {trainable: [fpt], max_steps: 12, batch_tokens: 32, schedule: constant, learning_rate: 0.01}
study:
  name: transfer
  prepare: {start: {config: ../../pretrain.yaml}}
  rates: {values: [1e-2, 2e-2], seeds: [7]}
  arms: {pretrained: {}, random: {model: {weights: random}}}
"""


class Accumulate(SystemTest):
    def setUp(self):
        super().setUp()
        for name, text in (("body", BODY), ("pretrain", PRETRAIN), ("configs/toy/parts", STUDY), ("configs/toy/transfer", TRANSFER)):
            self.write(f"{name}.yaml", text)

    def kept(self, name="parts"):
        return self.json("experiments/toy/results", f"{name}.json")

    def runs(self, name="parts"):
        return {(arm["name"], run["seed"]): run for arm in self.kept(name)["arms"] for run in arm["runs"]}

    def made(self, name="parts"):
        """Runs whose folders are there, as ARM/seed-N."""
        root = self.folder / "runs" / name
        return sorted(str(path.parent.relative_to(root)) for path in root.rglob("result.json"))

    def go_on_elsewhere(self, *arguments, change=lambda kept: None, name="parts", code=0):
        """As on another machine: the kept results are there, the runs are not."""
        shutil.rmtree(self.folder / "runs", ignore_errors=True)
        kept = self.kept(name)
        change(kept)
        self.write(f"experiments/toy/results/{name}.json", json.dumps(kept))
        return self.attnlab("reproduce", f"toy/{name}", "--no-report", "--accumulate", *arguments, code=code)

    def test_only_what_is_not_kept_is_made(self):
        made = self.attnlab("reproduce", "toy/parts", "--no-report")
        self.assertIn("parts: results kept in experiments/toy/results and experiments/toy/README.md", made.err)
        first, table = self.runs(), (self.folder / "experiments/toy/README.md").read_text()
        again = self.go_on_elsewhere()
        self.assertIn("4 runs; 4 are there already, 4 of them as kept results alone", again.err)
        self.assertEqual((self.made(), self.runs()), ([], first))
        self.assertEqual((self.folder / "experiments/toy/README.md").read_text(), table)

        def lose(kept):
            kept["arms"][1]["runs"][1] = {"seed": 2, "status": "missing", "folder": "", "code": "", "values": {}}

        self.go_on_elsewhere(change=lose)
        self.assertEqual(self.made(), ["no_mlp/seed-2"])
        for run in (first, now := self.runs()):
            for name in ("wall_seconds", "training_seconds", "target_tokens_per_second", "peak_memory_bytes"):
                run["no_mlp", 2]["values"].pop(name)
        self.assertEqual(now, first)

        # Judging alone makes none.
        self.go_on_elsewhere("--judge", change=lose)
        self.assertEqual((self.made(), [v["verdict"] for v in self.kept()["verdicts"]]), ([], ["not reproduced"]))
        self.assertEqual(self.runs()["no_mlp", 2]["status"], "missing")
        self.attnlab("reproduce", "toy/parts", "--no-report", "--accumulate")

        # Another configuration, another probe, a probe that failed: another run.
        self.go_on_elsewhere("--set", "train.max_steps=21")
        self.assertEqual(len(self.made()), 4)
        self.go_on_elsewhere("--set", "train.max_steps=21", "--set", "study.probes.norm.sentences=5")
        self.assertEqual(len(self.made()), 4)
        same = ("--set", "train.max_steps=21", "--set", "study.probes.norm.sentences=5")
        self.go_on_elsewhere(*same, change=lambda kept: kept["arms"][0]["runs"][0].update(error="the probe failed"))
        self.assertEqual(self.made(), ["full/seed-1"])
        self.go_on_elsewhere(*same, change=lambda kept: kept["arms"][0]["runs"][0].update(code="0" * 64))
        self.assertEqual(self.made(), [])
        self.assertIn("1 of other code", (self.folder / "experiments/toy/README.md").read_text())
        self.assertIn("excludes", self.attnlab("reproduce", "toy", "--quick", "--accumulate", code=2).err)

    def test_arms_that_are_left_out_stay(self):
        self.attnlab("reproduce", "toy/parts", "--no-report", "--set", "study.only=[full]")
        self.assertEqual([arm["name"] for arm in self.kept()["arms"]], ["full"])
        first = self.runs()
        self.go_on_elsewhere("--set", "study.only=[no_mlp]")
        self.assertEqual(self.made(), ["no_mlp/seed-1", "no_mlp/seed-2"])
        self.assertEqual({key: run for key, run in self.runs().items() if key[0] == "full"}, first)
        self.assertEqual([verdict["verdict"] for verdict in self.kept()["verdicts"]], ["not reproduced"])
        # Without --accumulate they would be lost, so what is kept stays.
        shutil.rmtree(self.folder / "runs")
        done = self.attnlab("reproduce", "toy/parts", "--no-report", "--set", "study.only=[no_mlp]", "--set", "study.seeds=[1,2,3,4,5]")
        self.assertIn("stay, which hold as much or what these lack", done.err)
        self.assertEqual(len(self.kept()["arms"]), 2)

        # Kept results that cannot be read are the matter of their study alone.
        damaged = self.write("experiments/toy/results/parts.json", "{")
        done = self.attnlab("reproduce", "toy", "--no-report", "--accumulate", code=1)
        self.assertIn("parts.json", done.err)
        self.folder.joinpath(damaged).unlink()

        # Arms whose rate was chosen among others than now stay as well.
        first = self.runs("transfer")["pretrained", 1]
        self.go_on_elsewhere("--set", "study.only=[random]", "--set", "study.rates.values=[0.03]", name="transfer")
        self.assertEqual(self.runs("transfer")["pretrained", 1], first)
        self.assertNotIn("pretrained/seed-1", self.made("transfer"))
        self.assertIn("random/rate-0.03/seed-7", self.made("transfer"))

    def test_kept_results_that_cannot_be_read_are_left_off_the_board_alone(self):
        self.write("experiments/other/results/old.json", "{")
        done = self.attnlab("reproduce", "toy/parts", "--no-report", "--set", "study.only=[full]")
        self.assertIn("experiments/other/results/old.json", done.err)
        board = (self.folder / "experiments/README.md").read_text()
        self.assertIn("\n- [old](other/README.md): other/results/old.json: no results of a study", board)
        self.assertIn("not on the board", self.attnlab("board").err)

    def test_precisions_are_told_apart(self):
        self.attnlab("reproduce", "toy/parts", "--no-report", "--set", "precision=f64")
        self.assertEqual({run["precision"] for run in self.runs().values()}, {"f64"})
        self.go_on_elsewhere("--set", "precision=f32")
        self.assertEqual(len(self.made()), 4)
        self.attnlab("reproduce", "toy/parts", "--no-report", "--set", "precision=f64")

        # Seed 1 of one arm is lost and made here: it makes no pair with the f64 run of the other.
        def lose(kept):
            del kept["arms"][1]["runs"][0]

        self.go_on_elsewhere("--set", "study.seeds=[1,2,3]", change=lose)
        self.assertEqual(self.made(), ["full/seed-3", "no_mlp/seed-1", "no_mlp/seed-3"])
        here = self.runs()["full", 3]["precision"]
        self.assertIn(f"seed 1 in {here}, 2 in f64, 3 in {here}", (self.folder / "experiments/toy/README.md").read_text())
        self.assertEqual(self.kept()["arms"][1]["difference"]["n"], 2)
        self.assertEqual(self.kept()["arms"][1]["summary"]["n"], 3)

    def test_rates_and_what_arms_start_from(self):
        self.attnlab("reproduce", "toy/transfer", "--no-report")
        first = self.runs("transfer")
        self.go_on_elsewhere(name="transfer")
        self.assertEqual((self.made("transfer"), self.runs("transfer")), ([], first))
        # One more seed, with the rates that were chosen; what the arms start from is made again for it.
        self.go_on_elsewhere("--set", "study.seeds=[1,2]", name="transfer")
        self.assertEqual(self.made("transfer"), ["prepared/start", "pretrained/seed-2", "random/seed-2"])
        # Started from other weights, or with other rates to choose from, it is another run.
        self.go_on_elsewhere("--set", "study.prepare.start.train.max_steps=11", name="transfer")
        self.assertIn("pretrained/seed-1", self.made("transfer"))
        self.go_on_elsewhere("--set", "study.rates.seeds=[8]", name="transfer")
        self.assertIn("random/rate-0.01/seed-8", self.made("transfer"))
        self.go_on_elsewhere("--set", "study.rates.values=[0.03]", name="transfer")
        self.assertIn("random/rate-0.03/seed-7", self.made("transfer"))


if __name__ == "__main__":
    main()
