"""What a study does with run folders that are there: it scores, keeps and links them, and loses none."""

import json

from support import SystemTest, main, tree

STUDY = """\
base: tiny.yaml
train: {validate_every: 10}
study:
  name: parts
  seeds: [1, 2]
  arms:
    full: {}
    no_mlp: {model: {mlp: false}}
    greedy: {decode: {length_penalty: 0.1}}
"""


class StudyFolders(SystemTest):
    def setUp(self):
        super().setUp()
        self.write("parts.yaml", STUDY)

    def results(self):
        return self.json("runs/parts/study/results.json")

    def test_weights_that_are_there_are_scored_anew(self):
        """A change of decoding trains nothing, loses nothing, and what weights are linked to is watched."""
        some = ("--set", "study.only=[full,greedy]", "--set", "study.seeds=[1]")
        full, greedy = (self.folder / "runs/parts" / arm / "seed-1" for arm in ("full", "greedy"))
        self.attnlab("run", "parts.yaml", *some)
        weights = (full / "checkpoints/last/model.safetensors").stat().st_mtime_ns
        before = tree(self.folder / "runs/parts/full")
        self.attnlab("run", "parts.yaml", *some, "--set", "decode.length_penalty=0.1", "--dry-run")
        self.assertEqual(tree(self.folder / "runs/parts/full"), before)
        for penalty in ("0.1", "0.6"):  # that of the other arm, and a new one
            done = self.attnlab("run", "parts.yaml", *some, "--set", f"decode.length_penalty={penalty}")
            self.assertNotIn("warning", done.err)
            self.assertEqual([run["status"] for arm in self.results()["arms"] for run in arm["runs"]], ["done", "done"])
            self.assertIn(f"length_penalty: {penalty}", (full / "config.yaml").read_text())
            self.assertFalse(full.is_symlink())
            self.assertEqual((full / "checkpoints/last/model.safetensors").stat().st_mtime_ns, weights)

        # One arm is trained for longer: the other does not take its weights for its own.
        self.attnlab("run", "parts.yaml", *some, "--set", "study.arms.full.train={max_steps: 25}")
        steps = [json.loads((folder / "checkpoints/last/state.json").read_text())["training"]["step"] for folder in (full, greedy)]
        self.assertEqual(steps, [25, 20])

    def test_a_budget_leaves_what_is_there(self):
        self.attnlab("run", "parts.yaml", "--set", "study.only=[full]")
        done = self.attnlab("run", "parts.yaml", "--set", "study.only=[full,no_mlp]", "--set",
                            "study.arms.no_mlp.train={max_steps: 1000}", "--budget", "1s")
        self.assertIn("leaves 1 of 2 seeds", done.err)
        seeds = {arm["name"]: [run["seed"] for run in arm["runs"]] for arm in self.results()["arms"]}
        self.assertEqual(seeds, {"full": [1, 2], "no_mlp": [1]})
        self.assertEqual(self.results()["seeds"], [1, 2])

    def test_a_run_that_diverges_at_once_is_not_made_again(self):
        wild = ("--set", "study.only=[full]", "--set", "study.seeds=[1]", "--set", "train.learning_rate=1e30",
                "--set", "train.schedule=constant", "--set", "train.checkpoint_every=1000")
        first = self.attnlab("run", "parts.yaml", *wild)
        self.assertIn("diverged", first.err)
        result = self.folder / "runs/parts/full/seed-1/result.json"
        stamp = result.stat().st_mtime_ns
        self.assertIn("1 are there already", self.attnlab("run", "parts.yaml", *wild).err)
        self.assertEqual(result.stat().st_mtime_ns, stamp)


if __name__ == "__main__":
    main()
