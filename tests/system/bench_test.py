"""attnlab bench: every benchmark runs, and its lines have the keys that the comparison with peers reads."""

import json
import math

from support import SystemTest, main


class Bench(SystemTest):
    def lines(self, *arguments):
        done = self.attnlab("bench", *arguments, "--json")
        return [json.loads(line) for line in done.out.splitlines()]

    def assert_times(self, line):
        self.assertGreater(line["min_s"], 0)
        self.assertLessEqual(line["min_s"], line["median_s"])
        self.assertLessEqual(line["median_s"], line["max_s"])

    def test_step(self):
        lines = self.lines("step", "--preset", "toy", "--steps", "3", "--precision", "f32", "--threads", "1")
        self.assertEqual(len(lines), 1)
        line = lines[0]
        self.assertEqual((line["preset"], line["precision"], line["dropout"], line["threads"]), ("toy", "f32", 0.1, 1))
        self.assert_times(line)
        self.assertEqual(line["pool_misses"], 0)
        # Six operations for each weight of a map and each row: D 64, F 256, V 100, 2 + 2 layers, 512 rows a side.
        self.assertAlmostEqual(line["gflop"], 6 * 512 * (2 * (3 * 4 * 64**2 + 2 * 2 * 64 * 256) + 100 * 64) / 1e9, places=4)
        self.assertAlmostEqual(line["target_tokens_per_s"], 512 / line["median_s"], delta=0.01 * line["target_tokens_per_s"])

    def test_frozen_weights_are_counted(self):
        line = self.lines("step", "--preset", "toy", "--steps", "2", "--trainable", "layernorm_only")[0]
        self.assertEqual(line["trainable"], 2 * 64 * (2 * 2 + 2 * 3 + 2))

    def test_a_table_by_default_and_a_profile_on_stderr(self):
        done = self.attnlab("bench", "step", "--preset", "toy", "--steps", "2", "--profile")
        self.assertEqual(len(done.out.splitlines()), 2)
        self.assertIn("products by shape", done.err)

    def test_decode(self):
        lines = self.lines("decode", "--preset", "toy", "--sentences", "6", "--batch", "4", "--source-length", "5",
                           "--target-length", "7", "--repeat", "2", "--beam", "3", "1")
        self.assertEqual([line["beam"] for line in lines], [3, 1])
        for line in lines:
            self.assertEqual(line["target_tokens"], 6 * 7)
            self.assert_times(line)

    def test_attention(self):
        lines = self.lines("attention", "--lengths", "16", "32", "--heads", "2", "--width", "8", "--repeat", "2")
        kinds = {(line["kind"], line["causal"]) for line in lines}
        self.assertIn(("linformer", False), kinds)
        self.assertNotIn(("linformer", True), kinds)
        self.assertTrue({("scaled_dot", True), ("window", False), ("linear", True)} <= kinds)
        for kind, causal in kinds:
            small, large, growth = [line for line in lines if (line["kind"], line["causal"]) == (kind, causal)]
            self.assertEqual((small["length"], large["length"]), (16, 32))
            self.assert_times(small)
            self.assertGreater(large["tensors_mb"], 0)
            slope = math.log(large["median_s"] / small["median_s"]) / math.log(2)
            self.assertAlmostEqual(growth["time_slope"], slope, delta=0.02 + 0.01 * abs(slope))

    def test_matmul(self):
        *products, total = self.lines("matmul", "--preset", "toy", "--precision", "f32", "--seconds", "0.0002")
        self.assertEqual(len(products), 6 * 3)
        self.assertAlmostEqual(total["gflop"], sum(line["count"] * line["gflop"] for line in products), delta=1e-3)
        self.assertAlmostEqual(total["best_s"], sum(line["count"] * line["best_s"] for line in products), delta=0.01 * total["best_s"])

    def test_ops(self):
        lines = self.lines("ops", "--rows", "32", "--width", "16", "--feed-forward", "32", "--vocabulary", "50",
                           "--weights", "1000", "--repeat", "2")
        self.assertEqual(lines[0]["op"], "copy")
        self.assertTrue({"layer_norm", "adamw", "embedding"} <= {line["op"] for line in lines})
        self.assertTrue(all(line["gb_per_s"] > 0 for line in lines))

    def test_startup(self):
        line = self.lines("startup", "--config", "tiny.yaml", "--repeat", "2")[0]
        self.assert_times(line)
        self.assertFalse(self.folder.joinpath("runs").exists())
        done = self.attnlab("bench", "startup", "--config", "tiny.yaml", "--set", "model.width=15", code=1)
        self.assertIn("ended before its first step", done.err)

    def test_text_writes_the_batches_it_trains_on(self):
        line = self.lines("text", "tiny.yaml", "--steps", "4", "--warm-up", "1", "--write-batches", "batches.json")[0]
        self.assert_times(line)
        batches = self.json("batches.json")
        self.assertEqual((batches["warm_up"], len(batches["batches"])), (1, 5))
        tokens = sum(len(ids) - 1 for batch in batches["batches"][1:] for ids in batch["target"])
        self.assertAlmostEqual(line["target_tokens_per_s"], tokens / line["total_s"], delta=0.01 * line["target_tokens_per_s"])

    def test_scaling(self):
        lines = self.lines("scaling", "--preset", "toy", "--axis", "depth", "threads", "--steps", "2", "--warm-up", "1")
        fits = {line["axis"]: line for line in lines if "exponent" in line}
        self.assertEqual(set(fits), {"depth", "threads"})
        self.assertEqual(fits["threads"]["theory"], -1)
        self.assertGreater(fits["depth"]["theory"], 0.9)

    def test_unknown_names_are_usage_errors(self):
        self.attnlab("bench", "step", "--preset", "huge", code=2)
        self.attnlab("bench", "step", "--preset", "toy", "--precision", "f16", code=2)
        self.attnlab("bench", "attention", "--kind", "no_such", code=2)


if __name__ == "__main__":
    main()
