"""Frozen transfer as a user meets it: pretrain, transfer, look at the result, export."""

import json

from support import SOURCE, SystemTest, main, read_weights

BODY = f"""\
base: {SOURCE}/configs/frozen/body.yaml
precision: f32
model: {{width: 16, layers: 2, heads: 2, feed_forward: 32, positions: {{max_length: 24}}}}
"""
PRETRAIN = """\
base: body.yaml
name: pretrain
data: {task: {kind: made_up_words, block: 20, train: 200, valid: 20, test: 20}}
train: {max_steps: 10, batch_tokens: 200}
"""
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
        before = read_weights(next((self.folder / "runs/pretrain/checkpoints").glob("best/model.safetensors")))
        after = read_weights(next((self.folder / "runs/transfer/checkpoints").glob("last/model.safetensors")))
        for name in ("decoder.layers.0.self_attention.query.weight", "decoder.layers.1.mlp.down.weight"):
            self.assertEqual(before[name], after[name])
        self.assertNotEqual(before["decoder.norm.weight"], after["decoder.norm.weight"])
        scores = self.attnlab("eval", "runs/transfer").out
        self.assertIn("accuracy", scores)

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
