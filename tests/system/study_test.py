"""Studies: many runs from one YAML, found again, resumable, judged."""

import json
import os
import pathlib
import random
import re
import signal
import time

from support import SOURCE, SystemTest, main

STUDY = """\
base: tiny.yaml
train: {validate_every: 10}
study:
  name: parts
  source: a made-up table
  seeds: [1, 2]
  columns: [valid_nll, parameters]
  arms:
    full: {published: 0.9}
    no_mlp: {model: {mlp: false}, published: 0.5, note: no MLPs}
    greedy: {decode: {length_penalty: 0.1}}
    heads: {axes: {model.heads: [1, 4]}}
  expect:
    size matters: {kind: difference, arm: no_mlp, metric: parameters, at_most: -100, every_seed: true}
    an MLP is worth much: {kind: difference, arm: no_mlp, metric: valid_nll, at_least: 100}
    the order of sizes: {kind: order, arms: [no_mlp, full], metric: parameters}
    heads are free: {kind: band, arm: heads-4, metric: parameters, at_least: 1}
  quick:
    train: {max_steps: 3}
    study: {seeds: [1], only: [full, no_mlp]}
"""
RUNS = [f"{arm}/seed-{seed}" for arm in ("full", "no_mlp", "greedy", "heads-1", "heads-4") for seed in (1, 2)]
TIMES = ("wall_seconds", "training_seconds", "target_tokens_per_second", "peak_memory_bytes")


class Studies(SystemTest):
    def setUp(self):
        super().setUp()
        self.write("parts.yaml", STUDY)

    def results(self, name="parts"):
        return self.json("runs", name, "study", "results.json")

    def numbers(self):
        """Everything that must come out the same, whatever happened on the way."""
        results = self.results()
        results.pop("environment")  # the number of threads may differ
        for arm in results["arms"]:
            for run in arm["runs"]:
                for name in TIMES:
                    run["values"].pop(name)
        return results

    def stamps(self):
        return {name: (self.folder / "runs/parts" / name / "result.json").stat().st_mtime_ns for name in RUNS}

    def test_a_study_from_one_file(self):
        done = self.attnlab("run", "parts.yaml")
        results = self.results()
        self.assertEqual([arm["name"] for arm in results["arms"]], ["full", "no_mlp", "greedy", "heads-1", "heads-4"])
        for arm in results["arms"]:
            self.assertEqual([(run["seed"], run["status"]) for run in arm["runs"]], [(1, "done"), (2, "done")])
        for name in RUNS:
            folder = self.folder / "runs/parts" / name
            for file in ("config.yaml", "result.json", "metrics.jsonl", "environment.json", "checkpoints/last/state.json"):
                self.assertTrue((folder / file).exists(), f"{name}/{file}")
        self.assertIn("single seed", self.attnlab("run", "parts.yaml", "--quick").out)
        self.assertEqual(len(self.results("parts-quick")["arms"]), 2)
        verdicts = {verdict["claim"]: verdict for verdict in results["verdicts"]}
        self.assertEqual([v["verdict"] for v in verdicts.values()],
                         ["reproduced", "not reproduced", "not decidable", "reproduced"])
        self.assertTrue(all(v["set"] == "before the run" for v in verdicts.values()))
        for text in ("no_mlp", "0.5", "made-up", "not reproduced", "no MLPs"):
            self.assertIn(text, done.out)
        # Only decoding differs, so the weights are those of another arm.
        checkpoints = self.folder / "runs/parts/greedy/seed-1/checkpoints"
        self.assertTrue(checkpoints.is_symlink())
        self.assertEqual(checkpoints.resolve(), (self.folder / "runs/parts/full/seed-1/checkpoints").resolve())

        # Again: nothing is made anew, and what is added later is said to be so.
        before, numbers = self.stamps(), self.numbers()
        again = self.attnlab("run", "parts.yaml")
        self.assertEqual(self.stamps(), before)
        self.assertEqual(self.numbers(), numbers)
        self.assertEqual(again.out, done.out)
        # What other code made is shown as such, and kept only on request.
        environment = self.folder / "runs/parts/no_mlp/seed-1/environment.json"
        code = json.loads(environment.read_text())["code"]
        environment.write_text(environment.read_text().replace(code, "0" * 64))
        self.assertIn("1 of other code", self.attnlab("run", "parts.yaml", "--reuse-stale").out)
        self.assertEqual(self.stamps(), before)
        self.assertIn("1 results are of other code", self.attnlab("run", "parts.yaml").err)
        changed = {name for name, stamp in self.stamps().items() if stamp != before[name]}
        self.assertEqual(changed, {"no_mlp/seed-1"})
        self.assertEqual(json.loads(environment.read_text())["code"], code)
        self.assertEqual(self.numbers(), numbers)

        # Another study finds the same weights by content.
        self.write("other.yaml", "base: parts.yaml\nname: elsewhere\nstudy: {name: other, only: [full, no_mlp]}\n")
        self.assertIn("4 are there already", self.attnlab("run", "other.yaml").err)
        self.assertTrue((self.folder / "runs/other/full/seed-1").is_symlink())

        # A claim that is added later is said to be so.
        before = self.stamps()
        self.write("more.yaml", "base: parts.yaml\nstudy: {expect: {late: {kind: band, arm: full, at_least: 0}}}\n")
        self.attnlab("run", "more.yaml")
        self.assertEqual(self.stamps(), before)
        self.assertEqual([v["set"] for v in self.results()["verdicts"] if v["claim"] == "late"], ["after seeing"])

        # A plain run is found, too.
        self.attnlab("run", "tiny.yaml", "--set", "train.validate_every=10", "--set", "seed=3")
        found = self.attnlab("run", "parts.yaml", "--set", "study={name: third, seeds: [3], only: [full]}")
        self.assertIn("1 are there already", found.err)
        self.assertTrue((self.folder / "runs/third/full/seed-3").is_symlink())

    def test_tables_and_reproduce(self):
        self.write("configs/toy/parts.yaml", STUDY.replace("tiny.yaml", "../../tiny.yaml"))
        self.write("configs/toy/plain.yaml", "base: ../../tiny.yaml\n")
        done = self.attnlab("reproduce", "--quick")
        self.assertIn("parts (quick)", done.out)
        self.assertFalse((self.folder / "runs/parts").exists())
        done = self.attnlab("reproduce", "toy")
        self.assertIn("parts: size matters", done.out)
        self.assertEqual(self.attnlab("reproduce", "toy/parts").out, done.out)
        kept = self.json("experiments/toy/results/parts.json")
        self.assertEqual(kept["arms"][0]["runs"][0]["folder"], "")
        readme = (self.folder / "experiments/toy/README.md").read_text()
        self.assertIn("| no_mlp | 2 |", readme)
        self.assertIn("attnlab run configs/toy/parts.yaml\n", readme)
        self.write("experiments/toy/README.md", "# Toys\n\n" + readme.replace("| no_mlp | 2 |", "| no_mlp | 999 |") + "Last words.\n")
        self.attnlab("reproduce", "toy")
        changed = (self.folder / "experiments/toy/README.md").read_text()
        self.assertEqual(changed, "# Toys\n\n" + readme + "Last words.\n")
        self.assertIn("[parts](toy/README.md) | an MLP is worth much |", (self.folder / "experiments/README.md").read_text())
        self.assertIn("parts: an MLP is worth much", self.attnlab("board").out)
        self.assertIn("no results below nowhere", self.attnlab("board", "--experiments", "nowhere", code=2).err)
        self.assertIn("there are: toy/parts", self.attnlab("reproduce", "toys", code=2).err)

        table = self.attnlab("results", "parts").out
        self.assertIn("an MLP is worth much", table)
        self.assertEqual(self.attnlab("results", "experiments/toy/results/parts.json").out, table)
        rows = self.attnlab("results", "parts", "--csv").out.splitlines()
        self.assertEqual(len(rows), 1 + len(RUNS))
        self.assertEqual(len({row.count(",") for row in rows}), 1)
        self.assertIn("\\toprule", self.attnlab("results", "parts", "--latex").out)
        self.assertEqual(json.loads(self.attnlab("results", "parts", "--json").out)["study"], "parts")
        self.assertEqual(len(json.loads(self.attnlab("results", "parts", "parts-quick", "--json").out)), 2)
        self.assertIn("valid_nll", self.attnlab("results", "runs/parts/full/seed-1").out)
        self.assertIn("\nseed-2,seed-2,2,done,false,,", self.attnlab("results", "runs/parts/full/seed-2", "--csv").out)
        self.assertIn("neither a run nor a study", self.attnlab("results", "nothing", code=2).err)

        # Less than what is kept does not take its place.
        self.assertIn("parts: the results in", self.attnlab("reproduce", "toy", "--set", "study.seeds=[1]").err)
        self.assertEqual((self.folder / "experiments/toy/README.md").read_text(), changed)

        example = re.findall(r"```yaml\n(.*?)```", (SOURCE / "README.md").read_text(), re.S)[1]
        self.write("example.yaml", example.replace("base: configs/", f"base: {SOURCE}/configs/"))
        self.assertIn("a study of 5 arms", self.attnlab("config", "check", "example.yaml").out)
        self.assertIn("a study of 5 arms", self.attnlab("config", "check", "parts.yaml").out)
        self.assertIn("layers: 1", self.attnlab("config", "show", "parts.yaml", "--arm", "no_mlp").out)
        schema = self.attnlab("config", "schema", "--study").out
        for key in ("study.seeds", "study.arms.NAME.published", "study.expect.NAME.margin", "study.rates.choose_by",
                    "study.probes.NAME.probe", "study.probes.NAME.ablate"):
            self.assertIn(f"\n{key}", schema)

    def test_budget_preview_and_controls(self):
        self.write("more.yaml", """\
base: parts.yaml
study:
  name: more
  controls: [majority, copy, unigram]
  arms: {raw: {untrained: true}}
  only: [full, raw]
  expect: {learns: {kind: difference, arm: full, to: unigram, metric: valid_nll, at_most: 10}}
""")
        preview = self.attnlab("run", "more.yaml", "--dry-run")
        self.assertIn("to come", preview.err)
        self.assertIn("sign test's smallest p is 0.25", preview.err)
        self.assertFalse((self.folder / "runs/more/full").exists())
        # The speed of the machine is unknown, so the steps are many and the budget is small.
        cut = self.attnlab("run", "more.yaml", "--budget", "1s", "--dry-run", "--set", "train.max_steps=100000")
        self.assertIn("leaves 1 of 2 seeds", cut.err)
        self.attnlab("run", "more.yaml", "--budget", "10h")
        arms = {arm["name"]: arm for arm in self.results("more")["arms"]}
        self.assertEqual(list(arms), ["full", "raw", "majority", "copy", "unigram"])
        self.assertTrue(arms["raw"]["control"] and arms["copy"]["control"])
        untrained = arms["raw"]["runs"][0]["values"]
        self.assertEqual(untrained["step"], 1)
        self.assertGreater(untrained["valid_nll"], arms["full"]["runs"][0]["values"]["valid_nll"])
        self.assertGreater(arms["unigram"]["runs"][1]["values"]["valid_nll"], 1)
        self.assertEqual(len(self.results("more")["verdicts"]), 5 - 4)

    def test_probes_are_metrics(self):
        config = """\
base: parts.yaml
study:
  name: probed
  columns: [start.encoder.mean.composite.layer_1]
  probes:
    start: {probe: residual_norm, initial: true, sentences: 4}
    entropy: attention_entropy
    narrow: {probe: {kind: residual_norm, low: 1e-6}, arms: [full], sentences: 4}
  expect:
    tokens differ: {kind: band, arm: full, metric: start.encoder.mean.composite.layer_1, at_least: 0.01, every_seed: true}
    nothing of that name: {kind: band, arm: full, metric: start.blue, at_least: 0}
"""
        self.write("probed.yaml", config)
        done = self.attnlab("run", "probed.yaml", "--jobs", "2")
        arms = {arm["name"]: arm for arm in self.results("probed")["arms"]}
        values = arms["full"]["runs"][1]["values"]
        self.assertGreater(values["start.encoder.mean.composite.layer_1"], 0)
        self.assertIn("narrow.sentences", values)
        self.assertNotIn("narrow.sentences", arms["no_mlp"]["runs"][0]["values"])
        self.assertTrue(any(name.startswith("entropy.") for name in values))
        verdicts = [verdict["verdict"] for verdict in self.results("probed")["verdicts"]]
        self.assertEqual(verdicts[-2:], ["reproduced", "not decidable"])
        self.assertIsNone(self.results("probed")["verdicts"][-1]["p_holm"])
        self.assertRegex(done.err, r"no run has the metric 'start.blue'; probe 'start' gives: .*start.encoder.mean.composite.layer_1")
        files = [path for path in (self.folder / "runs/probed/study/probes").rglob("residual_norm.json")]
        self.assertEqual(len(files), 5 * 2 + 2)
        before = {path: path.stat().st_mtime_ns for path in files}
        self.assertEqual(self.attnlab("run", "probed.yaml").out, done.out)
        self.assertEqual({path: path.stat().st_mtime_ns for path in files}, before)
        self.write("out.yaml", config.replace("    entropy: attention_entropy", "    without: {probe: residual_norm, sentences: 4, ablate: "
                                              "['encoder.layers.*.mlp=zero'], arms: [full]}"))
        self.attnlab("run", "out.yaml")
        full = next(arm for arm in self.results("probed")["arms"] if arm["name"] == "full")["runs"][0]["values"]
        at = "encoder.mean.composite.layer_1"
        self.assertNotEqual(full[f"without.{at}"], full[f"start.{at}"])
        for rule, wanted in (("encoder.layers.*.mpl=zero", "matches no head and no sublayer"), ("encoder.*.mlp=zer", "zero, mean")):
            self.write("bad.yaml", config.replace("probe: residual_norm, initial: true", f"probe: residual_norm, ablate: ['{rule}']"))
            refused = self.attnlab("run", "bad.yaml", code=2).err
            self.assertIn(wanted, refused)
            self.assertRegex(refused, r"bad\.yaml:6:\d+: error")
        for change, wanted in (("probe: residual_nrm", "residual_norm"), ("arms: [ful], sentences", "did you mean 'full'?"),
                               ("lo: 1e-6", "did you mean 'low'?")):
            old = {"p": "probe: residual_norm", "a": "arms: [full], sentences", "l": "low: 1e-6"}[change[0]]
            self.write("bad.yaml", config.replace(old, change, 1))
            self.assertIn(wanted, self.attnlab("run", "bad.yaml", code=2).err)
        self.write("bad.yaml", config.replace("    narrow:", "    bare:") + "  arms: {bare: {model: {layers: 0}}}\n")
        self.assertIn("bad.yaml:6:5: error: 'study.probes.start' on arm 'bare'", self.attnlab("run", "bad.yaml", code=2).err)

    def test_kill_at_random(self):
        arguments = ("run", "parts.yaml", "--jobs", "2", "--set", "train.max_steps=60", "--set", "train.checkpoint_every=10",
                     "--set", "study.probes={entropy: attention_entropy}")
        self.attnlab(*arguments)
        expected = self.numbers()
        self.assertTrue(any(name.startswith("entropy.") for name in expected["arms"][0]["runs"][0]["values"]))
        os.rename(self.folder / "runs", self.folder / "unbroken")
        seed = int(os.environ.get("ATTNLAB_TEST_SEED", random.randrange(10**6)))
        print(f"kills at random: ATTNLAB_TEST_SEED={seed}", flush=True)
        draw = random.Random(seed)
        for sent in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            process = self.start(*arguments)
            started = time.monotonic()
            self.wait_until(lambda: time.monotonic() > started + draw.uniform(0.2, 2.5) or process.poll() is not None,
                            process, "the moment to kill")
            if process.poll() is None:
                process.send_signal(sent)
                self.assertIn(process.wait(60), (-sent, 128 + sent, 0))
        finished = {name: stamp for name, stamp in self.finished_stamps().items()}
        probes = {path: path.stat().st_mtime_ns for path in (self.folder / "runs/parts/study/probes").glob("*/*/of.json")}
        self.attnlab(*arguments)
        after = self.stamps()
        self.assertEqual({name: after[name] for name in finished}, finished, "no finished run is made again")
        self.assertEqual({path: path.stat().st_mtime_ns for path in probes}, probes, "nor a finished probe")
        self.assertEqual(self.numbers(), expected)

    def finished_stamps(self):
        stamps = {}
        for name in RUNS:
            file = self.folder / "runs/parts" / name / "result.json"
            if file.exists() and self.json("runs", "parts", name, "result.json")["status"] == "done":
                stamps[name] = file.stat().st_mtime_ns
        return stamps

    def test_a_failing_arm_and_rates(self):
        self.write("wild.yaml", """\
base: tiny.yaml
train: {validate_every: 10, clip: 0, optimizer: sgd}
study:
  name: wild
  seeds: [1]
  rates: {values: [1e-3, 1e-2, 1e-1], seeds: [7]}
  arms:
    tame: {}
    wild: {rates: [1e300, 1e301]}
  expect:
    tame learns: {kind: band, arm: tame, metric: valid_nll, at_most: 100}
    wild learns: {kind: band, arm: wild, metric: valid_nll, at_most: 100}
""")
        done = self.attnlab("run", "wild.yaml")
        tame, wild = self.results("wild")["arms"]
        self.assertEqual(tame["rate"]["rates"], [0.001, 0.01, 0.1])
        self.assertEqual(len(tame["runs"]), 1)
        self.assertIn(tame["rate"]["chosen"], tame["rate"]["rates"])
        self.assertEqual(wild["runs"], [])
        self.assertIn("no rate worked", done.err)
        verdicts = [verdict["verdict"] for verdict in self.results("wild")["verdicts"]]
        self.assertEqual(verdicts, ["not decidable" if tame["rate"]["at_edge"] else "reproduced", "not decidable"])

    def test_a_run_that_fails(self):
        self.write("fails.yaml", """\
base: tiny.yaml
study:
  name: fails
  arms: {full: {}, odd: {train: {early_stopping: {metric: valid_blue}}}, after: {model: {layers: 2}}}
  expect: {odd is worse: {kind: order, arms: [odd, full]}}
""")
        done = self.attnlab("run", "fails.yaml")
        self.assertRegex(done.out, r"(?m)^odd +0 .*seed 1: .*valid_blue")
        statuses = [arm["runs"][0]["status"] for arm in self.results("fails")["arms"]]
        self.assertEqual(statuses, ["done", "failed", "done"])
        self.assertIn("not decidable", done.out)
        self.assertIn("1 runs", self.attnlab("run", "fails.yaml", "--set", "study.only=[odd]").err)
        # What the data show to be too long for a model is said before anything runs.
        short = self.attnlab("run", "fails.yaml", "--set", "study.arms.odd={model: {positions: {kind: learned, max_length: 3}}}", code=3)
        self.assertRegex(short.err, r"a source of . tokens as the model reads it")

    def test_a_run_that_is_killed_or_interrupted(self):
        self.write("ends.yaml", "base: tiny.yaml\ntrain: {max_steps: 100000}\nstudy: {name: ends, arms: {full: {}}}\n")
        self.write("runs/ends/study/logs/full.seed-1.txt", "error: of another time\n")
        for sent, code, error in ((signal.SIGKILL, 0, "signal 9 (Killed)"),
                                  (signal.SIGTERM, 143, "interrupted by signal 15 (Terminated)")):
            process = self.start("run", "ends.yaml")
            begun = self.step_logged("runs/ends/full/seed-1")
            self.wait_until(lambda: self.step_logged("runs/ends/full/seed-1") > begun, process, "a step of the run")
            runs = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            os.kill(int(runs[0]) if sent == signal.SIGKILL else process.pid, sent)
            self.assertEqual(process.wait(60), code)
            self.assertEqual(self.results("ends")["arms"][0]["runs"][0]["error"], error)

    def test_bad_input(self):
        def refused(change, *wanted, old="    no_mlp: {model: {mlp: false}, published: 0.5, note: no MLPs}\n"):
            self.assertIn(old, STUDY)
            self.write("bad.yaml", STUDY.replace(old, change))
            done = self.attnlab("run", "bad.yaml", code=2)
            for text in wanted:
                self.assertIn(text, done.err)
            self.assertFalse((self.folder / "runs").exists(), "nothing ran")

        refused("    no_mlp: {model: {mpl: false}}\n", "bad.yaml:10:22: error: unknown key 'model.mpl', did you mean 'mlp'?")
        refused("    no_mlp: {publshed: 3}\n", "bad.yaml:10:14: error: unknown key 'study.arms.no_mlp.publshed', did you mean 'published'?")
        refused("    no_mlp: {axes: {model.heads: []}}\n", "bad.yaml:10:21: error:", "axis without values")
        refused("    no_mlp: {axes: {model.heads: {from: 3, to: 1, step: 1}}}\n", "must be larger than 'from'")
        refused("    full: {}\n", "bad.yaml:10:5: error:", "key 'full' given twice")
        refused("    heads-4: {}\n    no_mlp: {}\n", "bad.yaml:13:5: error: two arms have the name 'heads-4'")
        refused("    study: {}\n    no_mlp: {}\n", "no name for an arm")
        refused("    no_mlp: {model: {heads: 3}}\n", "arm 'no_mlp'", "16", "3")
        refused("    no-mlp: {}\n", "no arm has the name 'no_mlp', did you mean 'no-mlp'?")
        metric = "    size matters: {kind: difference, arm: no_mlp, metric: parameters, at_most: -100, every_seed: true}\n"
        refused("    size: {kind: difference, arm: no_mlp, metric: blue, at_most: -1}\n",
                "bad.yaml:14:5: error:", "no arm produces the metric 'blue'", "valid_nll", old=metric)
        refused("    size: {kind: difference, arm: no_mlp}\n", "needs 'at_least', 'at_most' or both", old=metric)
        refused("    size: {kind: diference, arm: no_mlp}\n", "difference", old=metric)
        refused("  metric: valid_bleu\n", "bad.yaml:5:3: error: 'study.metric': no arm produces the metric 'valid_bleu'",
                old="  source: a made-up table\n")
        refused("  columns: [parameters, blue]\n", "bad.yaml:7:3: error: 'study.columns': no arm produces the metric 'blue'",
                old="  columns: [valid_nll, parameters]\n")
        refused("  controls: [majorty]\n", "bad.yaml:5:3: error: 'study.controls': no control 'majorty'", "majority", old="  source: a made-up table\n")
        refused("  rates: {values: [1e-3], choose_by: valid_bleu}\n", "bad.yaml:5:3: error: 'study.rates': no arm produces",
                "the metric 'valid_bleu'", "valid_nll", old="  source: a made-up table\n")
        refused("  seeds: []\n", "at least one seed", old="  seeds: [1, 2]\n")
        refused("  seeds: [1, 1]\n", "given twice", old="  seeds: [1, 2]\n")
        refused("  only: [ful]\n", "did you mean 'full'?", old="  source: a made-up table\n")
        refused("  sorce: a made-up table\n", "did you mean 'source'?", old="  source: a made-up table\n")
        self.assertIn("for studies", self.attnlab("run", "tiny.yaml", "--quick", code=2).err)


if __name__ == "__main__":
    main()
