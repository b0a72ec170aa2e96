"""Things that training must be able to do: overfit, freeze, stop where numbers explode, and the other models."""

import json

from support import SystemTest, main, read_weights

EXPLODES = ("--set", "train.optimizer=sgd", "--set", "train.learning_rate=1e30", "--set", "train.clip=0",
            "--set", "train.schedule={kind: linear, warmup_steps: 0}", "--set", "train.checkpoint_every=1")


class Training(SystemTest):
    def lines(self, run, key):
        lines = [json.loads(line) for line in (self.folder / run / "metrics.jsonl").read_text().splitlines()]
        return [line[key] for line in lines if key in line]

    def test_overfit_one_batch(self):
        self.train("run", "--set", "train.overfit_one_batch=true", "--set", "train.max_steps=150", "--set",
                   "model.width=32", "--set", "model.dropout=0", "--set", "train.learning_rate=1e-2",
                   "--set", "train.checkpoint_every=1000", "--set", "train.validate_every=1000")
        losses = self.lines("run", "nll")
        self.assertGreater(losses[0], 1)
        self.assertLess(losses[-1], 0.05)

    def changed(self, *more):
        """Names of the tensors that three steps have changed."""
        self.train("start", "--overwrite", *more, "--set", "train.max_steps=1", "--set", "train.learning_rate=1e-30")
        done = self.train("run", "--overwrite", *more, "--set", "train.max_steps=3", "--set", "train.learning_rate=0.01")
        before, after = (read_weights(self.folder / run / "checkpoints/last/model.safetensors") for run in ("start", "run"))
        # The learning rate of `start` is too small to move anything but zeros, and those by next to nothing.
        far = lambda name: any(abs(a - b) > 1e-6 for a, b in zip(before[name], after[name]))
        return {name for name in before if far(name)}, set(before), done.err

    def test_layernorm_only(self):
        changed, names, log = self.changed("--set", "train.trainable=[layernorm_only]")
        self.assertEqual(changed, {name for name in names if "norm" in name})
        self.assertRegex(log, r"target_embedding\.weight .* frozen")
        self.assertRegex(log, r"decoder\.norm\.weight .* trains")

    def test_head_only(self):
        changed, names, _ = self.changed("--set", "train.trainable=head_only", "--set", "model.tie=none")
        self.assertEqual(changed, {name for name in names if name.startswith("output")})
        self.assertTrue(changed)

    def test_patterns(self):
        changed, names, _ = self.changed("--set", "train.trainable=['decoder.*']", "--set", "train.frozen=['*.bias']")
        self.assertTrue(changed)
        for name in changed:
            self.assertTrue(name.startswith("decoder.") and not name.endswith(".bias"), name)

    def test_divergence_stops(self):
        done = self.train("run", *EXPLODES, code=4)
        self.assertIn("diverged", done.err)
        result = self.json("run", "result.json")
        self.assertEqual(result["status"], "diverged")
        last = self.json("run", "checkpoints", "last", "state.json")["training"]["step"]
        self.assertGreaterEqual(last, 1)
        for name, values in read_weights(self.folder / "run/checkpoints/last/model.safetensors").items():
            self.assertTrue(all(value == value for value in values), f"{name}: the last good weights have a NaN")

    def test_divergence_skips(self):
        done = self.train("run", *EXPLODES, "--set", "train.divergence={policy: skip, skips: 3}", code=4)
        self.assertEqual(done.err.count("update is skipped"), 3)
        self.assertIn("4 updates in a row", done.err)
        self.assertEqual(self.json("run", "checkpoints", "last", "state.json")["training"]["skipped_updates"], 3)

    def test_what_was_skipped_is_no_loss(self):
        self.train("run", *EXPLODES, "--set", "train.divergence={policy: skip, skips: 14}", "--set",
                   "train.validate_every=1000", "--set", "train.log_every=2", code=4)
        self.assertIsNotNone(self.lines("run", "loss")[0])
        self.assertEqual(self.lines("run", "loss")[2], None)

    def test_early_stopping(self):
        options = ("--set", "train.early_stopping={patience: 2, minimum_gain: 1000}", "--set", "train.validate_every=2",
                   "--set", "train.max_steps=100")
        self.train("run", *options)
        result = self.json("run", "result.json")
        self.assertEqual(result["status"], "early_stopped")
        self.assertEqual(result["step"], 6)
        self.assertIn("finished", self.train("run", "--resume", *options).err)

    def test_validation_in_the_result_is_that_of_the_scored_weights(self):
        """Means of checkpoints, and best ones that are not the last."""
        wild = ("--set", "train.learning_rate=0.3", "--set", "train.schedule=constant", "--set", "train.max_steps=1000",
                "--set", "train.early_stopping.patience=1")  # ends at the first validation that is worse than one before
        for name, options in (("mean", ("--set", "train.average_last=2")), ("best", wild)):
            self.train(name, "--set", "train.validate_every=2", *options)
            result = self.json(name, "result.json")
            valid = json.loads(self.attnlab("eval", name, "--json", "--split", "valid").out)["splits"]["valid"]
            self.assertAlmostEqual(valid["nll"], result["valid_nll"], delta=1e-5)
            self.assertEqual(valid["exact_match"], result["valid_exact_match"])
            lines = [json.loads(line) for line in (self.folder / name / "metrics.jsonl").read_text().splitlines()]
            last = [line["valid_nll"] for line in lines if "valid_nll" in line][-1]
            self.assertNotEqual(last, result["valid_nll"], "the last validation is to be of other weights here")

    def test_language_model(self):
        self.write("data/song/input.txt", "the cat sat on the mat and the dog sat on the log\n" * 60)
        self.write("language.yaml", "base: tiny.yaml\nmodel: {kind: decoder, width: 32, dropout: 0}\ndata: {task: {kind: text, "
                   "folder: song, block: 24}}\ntrain: {max_steps: 120, learning_rate: 1e-2, batch_tokens: 256}\nexpect: {score: null}\n")
        self.train("run", config="language.yaml")
        perplexity = json.loads(self.attnlab("eval", "run", "--split", "valid", "--json").out)["splits"]["valid"]["perplexity"]
        self.assertLess(perplexity, 2)
        self.assertAlmostEqual(perplexity, self.json("run", "result.json")["valid_perplexity"], delta=0.01)

    def test_encoder(self):
        done = self.train("run", "--set", "model.kind=encoder", "--set", "model.tie=none", "--set", "train.max_steps=300",
                          "--set", "train.learning_rate=1e-2", "--set", "model.width=32", "--set", "model.dropout=0",
                          "--set", "data.task.max_length=4", "--set", "train.checkpoint_every=1000",
                          "--set", "train.validate_every=100", "--set", "data.task.train=2000")
        nll = self.lines("run", "nll")
        self.assertLess(nll[-1], 0.6 * nll[0], done.err)
        lines = ["1 2 3", "", "4"]
        answer = self.attnlab("translate", "run", stdin="\n".join(lines).encode()).out.split("\n")[:-1]
        self.assertEqual([len(line.split()) for line in answer], [3, 0, 1])

    def test_precisions(self):
        for precision in ("auto", "bf16", "f64"):
            with self.subTest(precision=precision):
                self.train(precision, "--set", f"precision={precision}", "--set", "train.max_steps=5")
                self.attnlab("translate", precision, stdin=b"1 2\n")

    def test_combinations_of_toggles(self):
        for assignments in (["model.skip=false"], ["model.norm=none"], ["model.norm=post", "model.tie=all"],
                            ["model.mlp=false"], ["model.positions=none"], ["model.cross_attention.kind=none"],
                            ["model.attention.kind=window", "model.attention.width=2"],
                            ["model.decoder.attention.kind=linear"], ["model.encoder.attention.kind=linformer"],
                            ["model.attention.kind=uniform"], ["model.attention.kind=shared_query_key"],
                            ["model.biases=false", "model.attention.key_width=3", "model.attention.value_width=5"]):
            with self.subTest(assignments=assignments):
                sets = [word for assignment in assignments for word in ("--set", assignment)]
                self.train("run", "--overwrite", *sets, "--set", "train.max_steps=2")
                self.attnlab("translate", "run", stdin=b"1 2\n")


if __name__ == "__main__":
    main()
