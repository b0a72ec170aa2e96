"""attnlab predict, as a user meets it: labels of lines by a classifier of sentences, and what else takes such lines."""

import json
import shutil
import subprocess
import unittest

from support import SystemTest, main

FILMS = """\
name: films
precision: f32
data: {root: data, task: {kind: polarity, folder: films, max_tokens: 12}}
model: {kind: encoder, head: mean, tie: none, width: 16, heads: 2, feed_forward: 32, layers: 1, dropout: 0,
        positions: {max_length: 16}}
train: {learning_rate: 1e-2, schedule: constant, batch_tokens: 16, max_steps: 60, validate_every: 20}
"""
PRAISE, BLAME = ["good", "fine", "warm", "bright"], ["bad", "dull", "cold", "weak"]
NOUNS = ["film", "story", "cast", "plot", "music"]


def reviews(words):
    """80 sentences, no two alike, whose words say at once what they think."""
    return "".join(
        f"a {words[i % 4]} {NOUNS[i % 5]} and a {words[i // 4 % 4]} {NOUNS[i // 5 % 5]}\n" for i in range(80)
    )


def python_draws():
    for python in filter(None, map(shutil.which, ("python3", "/usr/bin/python3"))):
        if subprocess.run([python, "-c", "import matplotlib, numpy"], capture_output=True).returncode == 0:
            return True
    return False


class PredictTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.write("data/films/rt-polarity.pos", reviews(PRAISE))
        self.write("data/films/rt-polarity.neg", reviews(BLAME))
        self.write("films.yaml", FILMS)
        self.train("run", config="films.yaml")

    def predict(self, text, *arguments, **more):
        return self.attnlab("predict", "run", *arguments, stdin=text if isinstance(text, bytes) else text.encode(), **more)

    def test_a_label_for_each_line(self):
        shutil.rmtree(self.folder / "data")  # the run folder has all that it takes
        done = self.predict("a good film\n\na dull cast and a weak plot\n   \na warm story")
        self.assertEqual(done.out, "positive\n\nnegative\n\npositive\n")
        self.assertEqual(self.predict("").out, "")
        self.assertEqual(self.attnlab("predict", "run/checkpoints/last", stdin=b"a bad plot\n").out, "negative\n")

    def test_the_test_set_gets_the_labels_that_the_run_found(self):
        test = reviews(BLAME).splitlines()[-8:] + reviews(PRAISE).splitlines()[-8:]
        self.assertEqual(self.predict("\n".join(test) + "\n").out, (self.folder / "run/outputs/test.txt").read_text())

    def test_probabilities(self):
        text = "a good film\n\na weak cast\n"
        answers = [json.loads(line) for line in self.predict(text, "--probabilities").out.splitlines()]
        self.assertEqual([answer["label"] for answer in answers], ["positive", None, "negative"])
        self.assertEqual(answers[1]["probabilities"], {})
        for answer in (answers[0], answers[2]):
            self.assertEqual(list(answer["probabilities"]), ["negative", "positive"])
            self.assertAlmostEqual(sum(answer["probabilities"].values()), 1, places=5)
            self.assertEqual(max(answer["probabilities"], key=answer["probabilities"].get), answer["label"])

    def test_long_lines_are_cut_as_the_task_cuts_them(self):
        beginning = " ".join(["fine"] * 10)
        long = beginning + " dull" * 30
        done = self.predict(f"{beginning}\n{long}\n", "--probabilities")
        first, second = map(json.loads, done.out.splitlines())
        for name, probability in first["probabilities"].items():
            self.assertAlmostEqual(second["probabilities"][name], probability, places=5)
        self.assertRegex(done.err, "stdin:2: .*cut")
        self.assertNotIn("stdin:1", done.err)
        self.assertNotIn("stdin:", self.predict(long, "--set", "data.task.max_tokens=64").err)

    def test_bad_lines(self):
        self.assertRegex(self.predict(b"a film\na \xff\n", code=3).err, "stdin:2: invalid UTF-8")
        self.assertRegex(self.predict(b"a film\n\na\0b\n", code=3).err, "stdin:3: NUL")
        self.assertIn("max_tokens", self.predict("", "--set", "data.task.max_tokns=9", code=2).err)

    def test_words_that_the_model_does_not_know_are_counted(self):
        done = self.predict("a good film\na gaudy film\nquite gaudy\n")
        self.assertIn("stdin: 3 of 8 pieces of the text (in 2 of 3 lines, line 2 first) are unknown to the model: it reads <unk>", done.err)
        self.assertNotIn("unknown", self.predict("a good film\n").err)
        self.write("text", "a gaudy film\n")
        self.assertIn("1 of 3 pieces of the text", self.attnlab("probe", "run", "residual_norm", "--text", "text").err)
        self.train("writer")
        done = self.attnlab("translate", "writer", stdin=b"1 2 many\n")
        self.assertIn("stdin: 1 of 3 pieces of the text (in 1 of 1 lines, line 1 first)", done.err)

    def test_each_command_points_to_the_other(self):
        done = self.attnlab("translate", "run", stdin=b"a film\n", code=2)
        self.assert_log_only(done)
        self.assertIn("attnlab predict run", done.err)
        self.train("writer")
        done = self.attnlab("predict", "writer", stdin=b"1 2\n", code=2)
        self.assert_log_only(done)
        self.assertIn("attnlab translate writer", done.err)

    def test_tasks_of_symbols_and_of_vectors(self):
        for out, task, head in (("lists", "kind: list_ops, max_length: 12, valid: 8", "mean"),
                                ("bits", "kind: bit_xor", "last")):
            self.train(out, "--set", f"data.task={{{task}, train: 60, test: 8}}", "--set", "model.kind=encoder", "--set",
                       f"model.head={head}", "--set", "model.tie=none", "--set", "train.max_steps=2")
        self.assertRegex(self.attnlab("predict", "lists", stdin=b"[MAX 1 2 ]\n").out, r"\A\d\n\Z")
        done = self.attnlab("predict", "lists", stdin=b"[MAX 1 2 ]\n[ MAX 1 2 ]\n", code=3)
        self.assertRegex(done.err, r"line 2: symbol 1 .*\[MAX")
        done = self.attnlab("predict", "bits", stdin=b"", code=2)
        self.assertRegex(done.err, "'bit_xor' reads vectors.*attnlab eval bits")
        self.assertNotIn("attnlab predict", self.attnlab("translate", "bits", code=2).err)

    def test_probes_of_lines(self):
        self.write("text", "a good film\na dull plot and a weak cast\n")
        self.write("labelled", "a good film\tpositive\na dull plot and a weak cast\tpositive\n")
        probes = ["attention_maps", "head_importance", "residual_norm"]
        done = self.attnlab("probe", "run", *probes, "--text", "text", "--out", "found")
        self.assertIn("2 of 2 lines of the text have no target", done.err)
        tokens = self.json("found", "attention_maps.json")["tables"]["tokens"]["rows"]
        self.assertEqual([token for sentence, _, _, token in tokens if sentence == 0], ["<s>", "a", "good", "film", "</s>"])
        few = ["--set", "head_pruning.random_orders=2", "--json"]
        found = json.loads(self.attnlab("probe", "run", "head_pruning", "--text", "labelled", *few).out)
        self.assertEqual(found["numbers"]["score"], 0.5)  # one of the two labels is wrong
        few += ["--set", "head_pruning.metric=accuracy"]
        done = self.attnlab("probe", "run", "head_pruning", "--text", "text", *few, code=2)
        self.assertIn("needs references", done.err)
        self.write("wrong", "a good film\tgreat\n")
        done = self.attnlab("probe", "run", "attention_maps", "--text", "wrong", code=3)
        self.assertRegex(done.err, "line 1 .*'great'.*positive")

    def test_pruning_is_by_accuracy(self):
        found = json.loads(self.attnlab("prune", "run", "--json", "--set", "head_pruning.random_orders=2").out)
        self.assertEqual(found["numbers"]["score"], self.json("run", "result.json")["test_accuracy"])
        self.attnlab("prune", "run", "--write", "smaller", "--share", "0.5", "--physical")
        self.assertIn(self.attnlab("predict", "smaller", stdin=b"a good film\n").out, ("positive\n", "negative\n"))

    @unittest.skipUnless(python_draws(), "SKIPPED: no Python with matplotlib here; tools/setup.sh installs one")
    def test_a_report_shows_lines(self):
        self.write("text", "a bright story\n")
        done = self.attnlab("report", "run", "--text", "text")
        self.assertNotIn("no attention to show", done.err)
        self.assertIn("bright", (self.folder / "report.html").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
