"""Studies whose arms start from a run that is prepared first, and what is remembered of their expectations."""

import shutil
import signal

from frozen_configs import BODY, PRETRAIN
from support import SystemTest, main

TRANSFER = """\
base: ../body.yaml
name: transfer
data: {task: {kind: bit_xor, bits: 2, train: 64, valid: 4, test: 4}}
model: {from: prepared:start, head: last}
train: {trainable: [fpt], max_steps: 12, batch_tokens: 32, schedule: constant, learning_rate: 0.01}
study:
  name: transfer
  prepare: {start: {config: ../pretrain.yaml}}
  columns: [frozen_unchanged]
  rates: {values: [1e-2], seeds: [7]}
  arms: {pretrained: {}, random: {model: {weights: random}}}
  expect: {it stays frozen: {kind: band, arm: pretrained, metric: frozen_unchanged, at_least: 1}}
  quick:
    study: {rates: {values: []}, prepare: {start: {train: {max_steps: 3}}}}
"""


class Preparations(SystemTest):
    def setUp(self):
        super().setUp()
        for name, text in (("body", BODY), ("pretrain", PRETRAIN), ("configs/transfer", TRANSFER)):
            self.write(f"{name}.yaml", text)

    def results(self, name="transfer"):
        return self.json("runs", name, "study", "results.json")

    def stamp(self, run):
        return (self.folder / "runs" / run / "result.json").stat().st_mtime_ns

    def test_arms_start_from_a_prepared_run(self):
        preview = self.attnlab("run", "configs/transfer.yaml", "--dry-run")
        self.assertIn("for arms to start from: prepared:start", preview.err)
        self.assertIn("to come", preview.err)
        self.assertFalse((self.folder / "runs/transfer/prepared").exists())
        log = self.attnlab("run", "configs/transfer.yaml").err
        self.assertLess(log.index("] prepared:start: valid_nll"), log.index("] pretrained rate 0.01 seed 7"))
        self.assertEqual(self.json("runs/transfer/prepared/start/result.json")["step"], 10)
        self.assertEqual([arm["runs"][0]["status"] for arm in self.results()["arms"]], ["done", "done"])
        self.assertIs(self.results()["arms"][0]["runs"][0]["values"]["frozen_unchanged"], True)
        config = (self.folder / "runs/transfer/pretrained/seed-1/config.yaml").read_text()
        self.assertIn("from: runs/transfer/prepared/start", config)

        # Again: nothing is made anew. Another study finds both, a plain run is found, too.
        before = [self.stamp(run) for run in ("transfer/prepared/start", "transfer/pretrained/seed-1")]
        self.assertIn("3 runs; 3 are there already", self.attnlab("run", "configs/transfer.yaml", "--set", "study.rates.values=[]",
                      "--set", "train.learning_rate=0.01").err)
        self.attnlab("run", "configs/transfer.yaml")
        self.assertEqual(before, [self.stamp(run) for run in ("transfer/prepared/start", "transfer/pretrained/seed-1")])
        other = self.attnlab("run", "configs/transfer.yaml", "--set", "study.name=other").err
        self.assertNotIn("to come", other)
        self.assertTrue((self.folder / "runs/other/prepared/start").is_symlink())
        shutil.rmtree(self.folder / "runs")
        self.attnlab("run", "pretrain.yaml")
        self.attnlab("run", "configs/transfer.yaml")
        self.assertTrue((self.folder / "runs/transfer/prepared/start").is_symlink())

        # What arms are follows from what they start from.
        before = self.stamp("transfer/pretrained/seed-1")
        changed = self.attnlab("run", "configs/transfer.yaml", "--set", "study.prepare.start.train.max_steps=11").err
        self.assertIn("] pretrained rate 0.01 seed 7", changed)
        self.assertNotEqual(before, self.stamp("transfer/pretrained/seed-1"))
        self.attnlab("run", "configs/transfer.yaml", "--quick")
        self.assertEqual(self.json("runs/transfer-quick/prepared/start/result.json")["step"], 3)

    def test_a_run_that_cannot_be_prepared(self):
        self.write("pretrain.yaml", PRETRAIN.replace("train: {", "train: {early_stopping: {metric: valid_blue}, "))
        done = self.attnlab("run", "configs/transfer.yaml")
        self.assertRegex(done.err, "(?m)prepared:start: .*valid_blue")
        self.assertRegex(done.err, "(?m)pretrained rate 0.01 seed 7: prepared:start, which it starts from: ")
        self.assertIn("not decidable", done.out)
        done = self.attnlab("run", "configs/transfer.yaml", "--set", "study.prepare.start.model.width=15", code=2)
        self.assertIn("--set:1:15: error: 'study.prepare.start'", done.err)
        done = self.attnlab("run", "configs/transfer.yaml", "--set", "study.prepare.start.config=gone.yaml", code=2)
        self.assertIn("--set:1:28: error: 'study.prepare.start': there is no file gone.yaml", done.err)

    def test_what_is_missing_is_skipped_and_named(self):
        parallel = "base: ../tiny.yaml\ndata: {task: {kind: parallel_text, folder: multi30k, source: en, target: de}}\n"
        study = "study: {name: NAME, arms: {a: {}}, quick: {train: {max_steps: 2}}}\n"
        self.write("configs/captions.yaml", parallel + study.replace("NAME", "captions"))
        self.write("configs/slow.yaml", "base: ../tiny.yaml\nstudy: {name: slow, arms: {a: {}}}\n")
        self.write("configs/published.yaml", TRANSFER.replace("prepared:start", "models/gone").replace(
            "  prepare: {start: {config: ../pretrain.yaml}}\n", "").replace(", prepare: {start: {train: {max_steps: 3}}}", ""))
        done = self.attnlab("reproduce", "--quick", "--no-report")
        self.assertIn("transfer (quick)", done.out)
        self.assertIn("skipped: configs/captions.yaml: data/multi30k/train.en: no such file, plain or .gz\nget this data set", done.out)
        self.assertIn("skipped: configs/published.yaml: model.from: models/gone: no such file or folder", done.out)
        self.assertIn("skipped: configs/slow.yaml: it has no quick version", done.out)
        self.assertIn("no such file", self.attnlab("reproduce", "captions", "--quick", "--no-report", code=3).err)

    def test_what_there_is_at_an_interruption_is_kept(self):
        self.write("configs/slow/two.yaml", "base: ../../tiny.yaml\nstudy: {name: two, arms: {a: {}, b: {train: {max_steps: 100000}}}}\n")
        process = self.start("reproduce", "slow", "--no-report")
        self.wait_until(lambda: self.step_logged("runs/two/b/seed-1") > 0, process, "the second arm's first steps")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 128 + signal.SIGTERM)
        a, b = self.json("experiments/slow/results/two.json")["arms"]
        self.assertEqual((a["runs"][0]["status"], a["summary"]["n"], b["summary"]["n"]), ("done", 1, 0))
        self.assertIn("| b | 0 |", (self.folder / "experiments/slow/README.md").read_text())

    def test_when_a_claim_was_set_outlives_the_results(self):
        def sets():
            return {verdict["claim"]: verdict["set"] for verdict in self.results()["verdicts"]}

        self.attnlab("reproduce", "transfer", "--no-report")
        self.assertEqual(sets(), {"it stays frozen": "before the run"})
        kept = self.json("experiments/transfer/results/transfer.expectations.json")
        self.assertEqual(kept["claims"][0]["set"], "before the run")
        self.assertEqual({result["arm"] for result in kept["results_seen"]}, {"pretrained", "random"})
        shutil.rmtree(self.folder / "runs")
        late = ("--set", "study.expect.late={kind: band, arm: random, metric: frozen_unchanged, at_least: 1}")
        preview = self.attnlab("run", "configs/transfer.yaml", *late, "--dry-run").out
        self.assertIn("claim 'late': set after seeing", preview)
        self.attnlab("run", "configs/transfer.yaml", *late)
        self.assertEqual(sets(), {"it stays frozen": "before the run", "late": "after seeing"})
        self.assertEqual(self.json("experiments/transfer/results/transfer.expectations.json"), kept, "only reproduce keeps")
        # Without the repository's record there is that of the runs folder, which outlives a study's own.
        for gone in ("experiments", "runs/transfer", "runs/by-content"):
            shutil.rmtree(self.folder / gone)
        later = ("--set", "study.expect.later={kind: band, arm: random, metric: frozen_unchanged, at_least: 0}")
        self.attnlab("run", "configs/transfer.yaml", *later)
        self.assertEqual(sets()["later"], "after seeing")


if __name__ == "__main__":
    main()
