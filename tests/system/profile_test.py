"""attnlab run --profile: what it writes, and that measuring changes nothing."""

import json

from support import SystemTest, main


class Profile(SystemTest):
    def test_a_profiled_run_writes_table_figures_and_timeline(self):
        done = self.train("run", "--profile")
        table = self.folder.joinpath("run/profile.txt").read_text()
        for words in ("profile of 18 steps", "forward linear", "backward linear", "encoder.layers.*.self_attention forward",
                      "products by shape", "weights", "step optimizer", "(step) step"):
            self.assertIn(words, table)
            self.assertIn(words, done.err)
        profile = self.json("run", "profile.json")
        self.assertEqual(profile["steps"], 18)  # the first two make primitives and fill the pool
        seconds = sum(op["seconds"] for op in profile["ops"])
        self.assertLessEqual(seconds, profile["seconds"] * 1.0001)
        modules = {op["module"] for op in profile["ops"]}
        self.assertTrue({"embedding", "output", "decoder.layers.0.cross_attention", "decoder.layers.0.mlp"} <= modules, modules)
        self.assertEqual(sum(op["flop"] for op in profile["ops"]), sum(p["flop"] for p in profile["products"]))
        for product in profile["products"]:
            self.assertNotIn("roofline_seconds", product)
        slices = self.json("run", "trace.json")["traceEvents"]
        self.assertTrue(all(each["ph"] == "X" and each["dur"] >= 0 for each in slices))
        self.assertTrue({"forward", "backward", "step", "product"} <= {each["cat"] for each in slices})

    def test_rooflines_stand_beside_the_products(self):
        self.train("run", "--profile-rooflines", "--set", "train.max_steps=3", "--set", "train.overfit_one_batch=true")
        products = self.json("run", "profile.json")["products"]
        self.assertTrue(products)
        for product in products:
            self.assertGreater(product["roofline_seconds"], 0)

    def test_measuring_changes_no_bit(self):
        self.train("plain")
        self.train("measured", "--profile")
        self.assert_same_bits("plain", "measured")
        self.assertFalse(self.folder.joinpath("plain/trace.json").exists())


if __name__ == "__main__":
    main()
