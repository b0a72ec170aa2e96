"""attnlab prune, as a user meets it: a study of heads, and models without some of them that other commands take."""

import json

from report_test import python_that_draws
from support import SystemTest, main


class PruneTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.train("run", "--set", "model.heads=4")

    def scores(self, run):
        return json.loads(self.attnlab("eval", run, "--json", "--set", "precision=f32").out)["splits"]["test"]

    def test_a_study(self):
        done = self.attnlab("prune", "run", "--out", "found", "--set", "head_pruning.random_orders=2",
                            "--set", "head_pruning.metric=log_likelihood")
        found = self.json("found", "head_pruning.json")
        self.assertEqual(len(found["tables"]["single"]["rows"]), 12)
        self.assertIn("pooled.importance.mean_score", found["numbers"])
        self.assertIn("best_alone", found["tables"])
        self.assertIn("log_likelihood", done.out)

    def test_masked_and_removed_models_score_alike_and_are_runs(self):
        choice = ["--share", "0.5", "--type", "pooled"]
        self.attnlab("prune", "run", "--write", "masked", *choice)
        self.attnlab("prune", "run", "--write", "removed", *choice, "--physical")
        self.assertEqual(self.json("masked", "pruned.json")["heads_out"], self.json("removed", "pruned.json")["heads_out"])
        self.assertEqual(len(self.json("removed", "pruned.json")["heads_out"]), 6)
        masked, removed, whole = self.scores("masked"), self.scores("removed"), self.scores("run")
        self.assertAlmostEqual(masked["nll"], removed["nll"], delta=1e-5)
        self.assertNotAlmostEqual(masked["nll"], whole["nll"], delta=1e-5)
        self.assertLess(len(self.weights("removed")), len(self.weights("masked")))
        self.assertEqual(self.attnlab("translate", "removed", stdin=b"1 2 3\n").returncode, 0)
        self.attnlab("probe", "removed", "head_importance")

    def test_what_makes_its_scores_is_said(self):
        self.attnlab("prune", "run", "--write", "masked", "--share", "0.5")
        done = self.attnlab("results", "masked", code=2)
        self.assertIn("masked: a run without result.json", done.err)
        self.assertIn("eval masked", done.err)
        if not python_that_draws():
            return print("SKIPPED: the report, no Python with matplotlib here; tools/setup.sh installs one")
        done = self.attnlab("report", "run", "masked", "--views", "0")
        self.assertIn("attnlab eval masked --outputs masked/outputs", done.err)
        self.attnlab("eval", "masked", "--outputs", "masked/outputs")
        self.assertNotIn("--outputs", self.attnlab("report", "run", "masked", "--views", "0").err)

    def test_models_with_no_head_of_a_type_left_are_runs_and_can_be_pruned_again(self):
        for name, choice in (("blind", ["--heads", "*.cross_attention.heads.*"]), ("headless", ["--share", "1"])):
            with self.subTest(name):
                self.attnlab("prune", "run", "--write", name + "_masked", *choice)
                self.attnlab("prune", "run", "--write", name, *choice, "--physical")
                masked, removed = self.scores(name + "_masked"), self.scores(name)
                self.assertAlmostEqual(masked["nll"], removed["nll"], delta=1e-5)
                self.assertEqual(self.attnlab("translate", name, stdin=b"1 2 3\n").returncode, 0)
        self.attnlab("prune", "blind", "--write", "again", "--heads", "decoder.*.heads.1", "--physical")
        self.assertNotAlmostEqual(self.scores("again")["nll"], self.scores("blind")["nll"], delta=1e-7)

    def test_heads_by_name_and_what_is_refused(self):
        self.attnlab("prune", "run", "--write", "some", "--heads", "*.cross_attention.heads.0")
        self.assertEqual(self.json("some", "pruned.json")["heads_out"], ["decoder.layers.0.cross_attention.heads.0"])
        self.attnlab("prune", "run", "--write", "some", "--heads", "*.heads.0", code=2)  # the folder is in use
        self.attnlab("prune", "run", "--write", "other", "--heads", "*.heads.9", code=2)
        self.attnlab("prune", "run", "--write", "other", code=2)
        self.attnlab("prune", "run", "--share", "0.5", code=2)


if __name__ == "__main__":
    main()
