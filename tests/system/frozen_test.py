"""Frozen transfer as a user meets it: pretrain, transfer, look at the result, export."""

import json

from frozen_configs import BODY, PRETRAIN
from support import SystemTest, main, read_weights

TRANSFER = """\
base: body.yaml
name: transfer
data: {task: {kind: bit_xor, bits: 2, train: 64, valid: 4, test: 4}}
model: {from: runs/pretrain, head: last}
train: {trainable: [fpt], max_steps: 12, batch_tokens: 32, schedule: constant, learning_rate: 0.01,
        early_stopping: {metric: valid_accuracy}}
"""


class FrozenTransfer(SystemTest):
    def setUp(self):
        super().setUp()
        for name, text in (("body", BODY), ("pretrain", PRETRAIN), ("transfer", TRANSFER)):
            self.write(f"{name}.yaml", text)
        self.attnlab("run", "pretrain.yaml")

    def result(self, run):
        return json.loads((self.folder / "runs" / run / "result.json").read_text())

    def test_a_frozen_body_stays_as_it_was_pretrained(self):
        log = self.attnlab("run", "transfer.yaml").err
        self.assertIn("unused      1: target_embedding.weight (this model reads vectors)", log)
        self.assertIn("output.weight (the head of this task)", log)
        result = self.result("transfer")
        self.assertIs(result["frozen_unchanged"], True)
        self.assertIn("baseline_majority", result)
        self.assertIn("test_accuracy", result)
        self.assertNotIn("feature_seconds", result)
        before = read_weights(next((self.folder / "runs/pretrain/checkpoints").glob("best/model.safetensors")))
        after = read_weights(next((self.folder / "runs/transfer/checkpoints").glob("last/model.safetensors")))
        for name in ("decoder.layers.0.self_attention.query.weight", "decoder.layers.1.mlp.down.weight"):
            self.assertEqual(before[name], after[name])
        self.assertNotEqual(before["decoder.norm.weight"], after["decoder.norm.weight"])
        scores = self.attnlab("eval", "runs/transfer").out
        self.assertIn("accuracy", scores)

    def test_cached_features_are_those_of_the_body_when_a_run_goes_on(self):
        cached = ("transfer.yaml", "--set", "train.trainable=head_only", "--set", "train.cache_features=true",
                  "--set", "model.dropout=0", "--set", "train.validate_every=100000",
                  "--set", "train.checkpoint_every=100000")
        self.attnlab("run", *cached, "--out", "broken", "--set", "train.max_steps=100000000", "--max-time", "1s")
        steps = self.json("broken", "result.json")["step"]
        more = (*cached, "--set", f"train.max_steps={steps + 20}")
        self.attnlab("run", *more, "--out", "broken", "--resume")
        self.attnlab("run", *more, "--out", "unbroken")
        self.assert_same_bits("broken", "unbroken")
        result = self.json("unbroken", "result.json")
        self.assertGreater(result["feature_seconds"], 0)
        self.assertGreater(result["wall_seconds"], result["feature_seconds"] + result["training_seconds"])

    def test_adapters_are_merged_into_what_is_published(self):
        self.write("adapted.yaml", PRETRAIN.replace("name: pretrain", "name: adapted") +
                   "model: {from: runs/pretrain, adapters: {rank: 2, targets: ['*']}}\n" +
                   "precision: f32\n")
        self.attnlab("run", "adapted.yaml", "--set", "train.trainable=adapters", "--set", "train.learning_rate=0.1")
        result = self.result("adapted")
        self.assertIs(result["frozen_unchanged"], True)
        out = self.attnlab("model", "export", "runs/adapted", "published").out
        self.assertIn("merged: 12 adapters", out)
        self.assertNotIn("left out", out)
        self.write("again.yaml", PRETRAIN.replace("name: pretrain", "name: again") + "model: {from: published}\n")
        self.attnlab("run", "again.yaml", "--set", "train.learning_rate=1e-30", "--set", "train.max_steps=1")
        adapted, pretrained, again = (self.result(run)["valid_nll"] for run in ("adapted", "pretrain", "again"))
        self.assertAlmostEqual(adapted, again, places=4)
        self.assertNotAlmostEqual(adapted, pretrained, places=2)

    def test_a_run_becomes_a_published_model_and_comes_back(self):
        out = self.attnlab("model", "export", "runs/pretrain", "published").out
        self.assertIn("as gpt2", out)
        shown = self.attnlab("model", "show", "published").out
        self.assertIn("width: 16", shown)
        self.write("again.yaml", PRETRAIN.replace("pretrain", "again") + "model: {from: published}\n")
        log = self.attnlab("run", "again.yaml").err
        self.assertIn("transposed  8", log)
        self.assertNotIn("unexplained", log)


if __name__ == "__main__":
    main()
