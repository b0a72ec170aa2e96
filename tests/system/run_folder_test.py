"""What a run leaves in its folder, and what the folder is good for afterwards."""

import csv
import json
import os

from support import SystemTest, environment, main, read_weights, tree


class RunFolder(SystemTest):
    def test_contents(self):
        done = self.train("run")
        run = self.folder / "run"
        for name in ("config.yaml", "config.given/tiny.yaml", "config.given/quickstart.yaml", "environment.json",
                     "metrics.jsonl", "metrics.csv", "result.json", "checkpoints/best", "checkpoints/last"):
            self.assertTrue((run / name).exists(), name)
        self.assertFalse((run / "lock").exists(), "the lock is for the time of the run")
        for name in ("model.safetensors", "optimizer.safetensors", "state.json"):
            self.assertTrue((run / "checkpoints/step-20" / name).is_file(), name)
        self.assertEqual((run / "checkpoints/last").resolve(), (run / "checkpoints/step-20").resolve())
        self.assertEqual((run / "config.given/tiny.yaml").read_text(), (self.folder / "tiny.yaml").read_text())
        self.assertIn("version", self.json("run", "checkpoints", "last", "state.json"))

        environment_of_run = self.json("run", "environment.json")
        for key in ("cpu", "isa", "threads", "onednn", "program", "compiler"):
            self.assertIn(key, environment_of_run)
        self.assertEqual(environment_of_run["threads"], 2)

        result = self.json("run", "result.json")
        self.assertEqual((result["status"], result["step"]), ("done", 20))
        for key in ("wall_seconds", "training_seconds", "peak_memory_bytes", "target_tokens_per_second"):
            self.assertGreater(result[key], 0, key)
        for key in ("valid_nll", "valid_perplexity", "test_exact_match"):
            self.assertIn(key, result)
        self.assertIn("expected 0", done.out)
        self.assertIn("step 20/20", done.err)
        self.assertNotIn("\r", done.err, "a progress bar is for terminals")

    def test_bound_threads_use_all_processors(self):
        """The program starts itself again when nobody has said how to wait; its first thread is bound by then."""
        env = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_"))}
        self.attnlab("run", "tiny.yaml", "--out", "run", "--set", "train.max_steps=2", env={**env, "OMP_PROC_BIND": "true"})
        self.assertEqual(self.json("run", "environment.json")["threads"], len(os.sched_getaffinity(0)))

    def test_metrics(self):
        self.train("run")
        lines = [json.loads(line) for line in (self.folder / "run/metrics.jsonl").read_text().splitlines()]
        with open(self.folder / "run/metrics.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(lines), len(rows))
        for key in ("step", "epoch", "loss", "nll", "perplexity", "learning_rate", "tokens_per_second", "valid_nll",
                    "valid_perplexity"):
            self.assertIn(key, rows[0])
        self.assertEqual([line["step"] for line in lines if "loss" in line], [5, 10, 15, 20])
        for line, row in zip(lines, rows):
            for key, value in line.items():
                self.assertEqual(float(row[key]), value, key)

    def test_the_resolved_config_runs_again_to_the_same_bits(self):
        self.train("run", "--seed", 7, "--set", "model.heads=4")
        self.train("again", config="run/config.yaml")
        self.assert_same_bits("run", "again")
        self.train("other", "--seed", 8, "--set", "model.heads=4")
        self.assertNotEqual(self.weights("run"), self.weights("other"))
        self.assertEqual((self.folder / "run/config.given/set.txt").read_text(), "model.heads=4\nseed=7\n")

    def test_the_default_folder_is_that_of_the_name(self):
        self.attnlab("run", "tiny.yaml", "--set", "train.max_steps=2", "--set", "name=mine")
        self.assertTrue((self.folder / "runs/mine/result.json").exists())

    def test_a_used_folder_is_refused_untouched(self):
        self.train("run")
        before = tree(self.folder / "run")
        self.assert_log_only(self.train("run", code=2))
        self.assertEqual(tree(self.folder / "run"), before)
        self.write("other/notes.txt", "mine")
        self.assert_log_only(self.train("other", code=2))
        self.assertEqual(list(tree(self.folder / "other")), ["notes.txt"])

    def test_overwrite_replaces(self):
        self.train("run", "--set", "train.keep_last=9")
        self.train("run", "--overwrite", "--set", "train.max_steps=3")
        self.assertEqual(self.json("run", "result.json")["step"], 3)
        self.assertEqual({path.name for path in (self.folder / "run/checkpoints").iterdir()}, {"step-3", "best", "last"})

    def test_overwrite_removes_no_more_than_one_run(self):
        self.train("runs/first")
        before = tree(self.folder / "runs")
        refused = self.train("runs", "--overwrite", code=2)
        self.assertIn("runs holds something else than a run", refused.err)
        self.assertEqual(tree(self.folder / "runs"), before)
        self.write("runs/first/inner/config.yaml", "")
        self.write("runs/first/inner/environment.json", "{}")
        before = tree(self.folder / "runs")
        self.assertIn("holds another run, runs/first/inner", self.train("runs/first", "--overwrite", code=2).err)
        self.assertEqual(tree(self.folder / "runs"), before)

    def test_a_dry_run_leaves_nothing(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        before = tree(self.folder)
        done = self.attnlab("run", "tiny.yaml", "--dry-run", env=environment(TMPDIR=str(temporary)))
        self.assertRegex(done.out, r"memory .*MB")
        self.assertRegex(done.out, r"of training")
        self.assertEqual(tree(self.folder), before)

    def test_a_dry_run_shows_what_trains_at_which_rate(self):
        shown = self.attnlab("run", "tiny.yaml", "--dry-run", "--set", "train.trainable=[layernorm_only]",
                             "--set", "train.groups.norms.learning_rate=0.02").out
        self.assertRegex(shown, r"(?m)^target_embedding\.weight .* frozen$")
        self.assertRegex(shown, r"(?m)^decoder\.norm\.weight .* trains$")
        self.assertIn("14 of 53 tensors train, 224 of 7014 numbers\n", shown)
        self.assertRegex(shown, r"(?m)^norms\n +step  learning rate\n( +\d+ .*\n)* +5  0\.02$")

    def test_the_program_is_not_needed_by_name(self):
        # It starts itself again for OpenMP's sake; a name without a folder must not matter.
        env = environment()
        del env["OMP_WAIT_POLICY"]
        self.attnlab("run", "tiny.yaml", "--out", "run", "--set", "train.max_steps=2", env=env)


class Using(SystemTest):
    """Translating with a run, and scoring it."""

    def setUp(self):
        super().setUp()
        self.train("run")

    def test_one_line_out_for_each_line_in(self):
        lines = ["1 2 3", "", "4", "   ", "5 6 never_seen 7", "", ""]
        for text in ("\n".join(lines) + "\n", "\n".join(lines[:5])):
            done = self.attnlab("translate", "run", stdin=text.encode())
            self.assertEqual(done.out.count("\n"), len(text.splitlines()))
        self.assertEqual(self.attnlab("translate", "run", stdin=b"").out, "")
        self.assertEqual(self.attnlab("translate", "run", stdin=b"\n\n").out.count("\n"), 2)

    def test_company_changes_nothing(self):
        lines = ["1 2 3", "4 5 6 7 0", "2", "7 7 7 7"]
        together = self.attnlab("translate", "run", "--beam", 3, stdin="\n".join(lines).encode()).out.splitlines()
        alone = [self.attnlab("translate", "run", "--beam", 3, stdin=line.encode()).out[:-1] for line in lines]
        self.assertEqual(together, alone)

    def test_n_best(self):
        done = self.attnlab("translate", "run", "--beam", 4, "--n-best", 3, stdin=b"1 2 3\n\n4 5\n")
        fields = [line.split(" ||| ") for line in done.out.splitlines()]
        self.assertEqual({len(field) for field in fields}, {3})
        self.assertEqual([field[0] for field in fields], sorted(field[0] for field in fields))
        for index in ("0", "2"):
            scores = [float(field[2]) for field in fields if field[0] == index]
            self.assertEqual(len(scores), 3)
            self.assertEqual(scores, sorted(scores, reverse=True))

    def test_sampling_follows_the_seed(self):
        stdin = b"1 2 3\n4 5\n6 7 0 1\n2 2\n"
        draw = lambda seed: self.attnlab("translate", "run", "--sample", "--temperature", "2", "--seed", seed, stdin=stdin).out
        self.assertEqual(draw(1), draw(1))
        self.assertNotEqual(draw(1), draw(2))

    def test_bad_stdin(self):
        self.assertRegex(self.attnlab("translate", "run", stdin=b"1\n2 \xff\n", code=3).err, "stdin:2")
        self.assertRegex(self.attnlab("translate", "run", stdin=b"1\n\n1\0\n", code=3).err, "stdin:3")

    def test_eval_agrees_with_the_run(self):
        result = self.json("run", "result.json")
        split = json.loads(self.attnlab("eval", "run", "--json").out)["splits"]["test"]
        self.assertEqual(split["exact_match"], result["test_exact_match"])
        self.assertGreater(split["perplexity"], 1)
        valid = json.loads(self.attnlab("eval", "run", "--json", "--split", "valid").out)["splits"]["valid"]
        self.assertAlmostEqual(valid["nll"], result["valid_nll"], delta=1e-5)
        self.assertIn("exact_match", self.attnlab("eval", "run/checkpoints/step-20").out)
        self.attnlab("eval", "run", "--split", "nonsense", code=2)

    def test_starting_weights(self):
        self.train("next", "--set", "model.from=run", "--set", "train.max_steps=1", "--set", "train.learning_rate=1e-30")
        before = read_weights(self.folder / "run/checkpoints/best/model.safetensors")
        after = read_weights(self.folder / "next/checkpoints/last/model.safetensors")
        self.assertEqual(before.keys(), after.keys())
        for name, values in before.items():
            for a, b in zip(values, after[name]):
                self.assertAlmostEqual(a, b, delta=1e-6, msg=name)


if __name__ == "__main__":
    main()
