"""What a study says before it runs, and while: its runs, their cost, what is not judged, and all mistakes at once."""

import re

from support import SystemTest, main

SWEPT = """\
base: tiny.yaml
train: {validate_every: 10}
study:
  name: swept
  seeds: [1, 2]
  rates: {values: [1e-3, 2e-3, 4e-3], seeds: [7]}
  arms:
    full: {}
    raw: {untrained: true}
  expect:
    training helps: {kind: order, arms: [raw, full], metric: valid_accuracy}
    it learns: {kind: band, arm: full, metric: valid_accuracy, at_least: 0}
"""


class Announced(SystemTest):
    def setUp(self):
        super().setUp()
        self.write("swept.yaml", SWEPT)

    def test_an_untrained_arm_does_not_stand_for_the_others(self):
        many = ("--dry-run", "--set", "train.max_steps=100000")
        cut = self.attnlab("run", "swept.yaml", "--budget", "1s", *many).err
        self.assertNotIn("about 0 s to come", cut)
        self.assertIn("leaves 1 of 2 seeds", cut)

        # Nor when it has been made, and the others have not.
        raw = self.attnlab("run", "swept.yaml", "--set", "study.only=[raw]").err
        self.assertRegex(raw, r"\[1/2\] raw seed 1: .* in \d+ s\n")
        self.assertIn("from one step of training", self.attnlab("run", "swept.yaml", *many).err)

    def test_runs_that_wait_for_a_rate_are_counted(self):
        log = self.attnlab("run", "swept.yaml").err
        self.assertIn("7 runs, 3 of them to choose rates; 0 are there already", log)
        self.assertEqual(re.findall(r"\[(\d+)/(\d+)\]", log), [(str(done), "7") for done in range(1, 8)])
        # Chosen before, they are runs like others.
        self.assertIn("7 runs, 3 of them to choose rates; 7 are there already", self.attnlab("run", "swept.yaml").err)

    def test_a_dry_run_does_not_round_to_nothing(self):
        def seconds(steps):
            text = self.attnlab("run", "tiny.yaml", "--dry-run", "--set", f"train.max_steps={steps}", "--set",
                                "train.schedule=constant").out
            return [float(re.search(rf"(\S+) s {what}", text)[1]) for what in ("a step", "of training")]

        for steps in (1, 20, 1000000):
            step, training = seconds(steps)
            self.assertGreater(step, 0)
            self.assertAlmostEqual(training / (steps * step), 1, delta=0.011)  # three digits each

    def test_claims_that_are_not_judged_are_named(self):
        left_out = self.attnlab("run", "swept.yaml", "--dry-run", "--set", "study.only=[full]").err
        self.assertEqual(left_out.count("not judged"), 1)
        self.assertIn("claims that are not judged, with their arms that are left out: 'training helps' (raw)\n", left_out)
        self.assertNotIn("not judged", self.attnlab("run", "swept.yaml", "--dry-run").err)

    def test_mistakes_are_reported_together(self):
        self.write("bad.yaml", SWEPT.replace("arm: full,", "arm: ful,").replace("[raw, full]", "[rw, full]")
                   + "  baseline: fll\n")
        refused = self.attnlab("run", "bad.yaml", code=2).err
        for name in ("'ful'", "'rw'", "'fll'"):
            self.assertIn(f"no arm has the name {name}", refused)

        self.write("bad.yaml", SWEPT.replace("metric: valid_accuracy", "metric: blue").replace("seeds: [7]", "seeds: [7], choose_by: valid_black")
                   + "  metric: red\n  columns: [green, valid_nll, grey]\n  controls: [majorty]\n")
        refused = self.attnlab("run", "bad.yaml", code=2).err
        for name in ("red", "green", "grey", "valid_black"):
            self.assertEqual(refused.count(f"no arm produces the metric '{name}'"), 1, name)
        self.assertEqual(refused.count("no arm produces the metric 'blue'"), 2, "one a claim")
        self.assertIn("no control 'majorty'", refused)
        self.assertFalse((self.folder / "runs").exists(), "nothing ran")


if __name__ == "__main__":
    main()
