"""The command line: what help shows of options, what is said of wrong values, words and names, and what a log and a table name."""

import json

from support import SystemTest, environment, main


class Help(SystemTest):
    def test_an_option_that_takes_one_value_shows_one(self):
        for command, option in (("run", "--set"), ("probe", "--ablate"), ("prune", "--heads"), ("predict", "--set")):
            with self.subTest(command=command):
                line = next(line for line in self.attnlab(command, "--help").out.splitlines() if line.strip().startswith(option))
                self.assertNotIn("TEXT ...", line)
        text = self.attnlab("score", "--help").out
        self.assertRegex(text, r"--set TEXT +options of the score.*\(may be given several times\)")
        self.assertRegex(text, r"--ref TEXT \.\.\. ", "takes all that follow")

    def test_repeated_options_still_add_up(self):
        shown = self.attnlab("config", "show", "tiny.yaml", "--set", "seed=5", "--set", "model.width=24").out
        self.assertRegex(shown, r"(?m)^seed: 5$")
        self.assertRegex(shown, r"(?m)^  width: 24$")


class Words(SystemTest):
    def test_an_assignment_needs_its_own_set(self):
        self.train("run", "--set", "train.max_steps=1")
        for command in (["run", "tiny.yaml", "--set", "seed=2", "model.width=8"], ["run", "tiny.yaml", "model.width=8"],
                        ["eval", "run", "--set=decode.beam=2", "model.width=8"],
                        ["probe", "run", "residual_norm", "--set", "seed=2", "model.width=8"]):
            with self.subTest(command=command):
                done = self.attnlab(*command, code=2)
                self.assert_log_only(done)
                self.assertIn("model.width=8: no such file or folder; every key needs its own --set: --set model.width=8", done.err)

    def test_files_may_be_called_so(self):
        self.write("width=8", (self.folder / "tiny.yaml").read_text())
        self.attnlab("config", "check", "width=8")

    def test_commands_of_commands(self):
        for words, near in ((["config", "shema"], "schema"), (["data", "gett", "x"], "get"), (["bench", "stepp"], "step"),
                            (["config", "shema", "--help"], "schema")):
            with self.subTest(words=words):
                done = self.attnlab(*words, code=2)
                self.assert_log_only(done)
                self.assertIn(f"no command '{words[1]}', did you mean '{near}'?", done.err)
        self.assertIn("config", self.attnlab("config", "check", code=2).err)  # the command is there, its file is not

    def test_registries(self):
        self.assertIn("no registry 'attentions', did you mean 'attention'?", self.attnlab("list", "attentions", code=2).err)

    def test_run_folders_as_configurations(self):
        self.train("a")
        self.train("b", "--set", "model.width=24")
        self.assertEqual(self.attnlab("config", "diff", "a", "b").out, "model.width: 16 -> 24\n")
        self.assertEqual(self.attnlab("config", "diff", "tiny.yaml", "a/").out, "")


class Values(SystemTest):
    def test_ranges_are_said_in_words(self):
        for arguments, message in ((["translate", "run", "--beam", "0"], "--beam: must be at least 1, got 0"),
                                   (["translate", "run", "--n-best", "x"], "--n-best: must be a whole number, got x"),
                                   (["translate", "run", "--top-k", "-1"], "--top-k: must be at least 0, got -1"),
                                   (["translate", "run", "--top-p", "2"], "--top-p: must be from 0 to 1, got 2"),
                                   (["translate", "run", "--temperature", "0"], "--temperature: must be above 0, got 0"),
                                   (["run", "tiny.yaml", "--jobs", "1.5"], "--jobs: must be a whole number, got 1.5"),
                                   (["prune", "run", "--write", "x", "--share", "nan"], "--share: must be from 0 to 1, got nan"),
                                   (["probe", "run", "residual_norm", "--sentences", "0"], "--sentences: must be at least 1, got 0")):
            with self.subTest(arguments=arguments):
                done = self.attnlab(*arguments, code=2)
                self.assert_log_only(done)
                self.assertTrue(done.err.startswith(message + "\n"), done.err)

    def test_messages_name_what_was_typed(self):
        self.train("run", "--set", "train.max_steps=1")
        for arguments, message in (
            (["probe", "run", "residual_nrom"], "error: unknown kind 'residual_nrom' of probe, did you mean 'residual_norm'?"),
            (["probe", "run", "token_cosine", "--set", "token_cosine.x=1"], "--set:1:14: error: unknown key 'token_cosine.x'"),
            (["probe", "run", "residual_norm", "--set", "seed=2", "--set", "residual_norm.lo=1"],
             "--set:2:15: error: unknown key 'residual_norm.lo', did you mean 'low'?"),
            (["probe", "run", "residual_norm", "--set", "residual_norm.low=1e-9", "--set", "model.widht=1"],
             "--set:2:7: error: unknown key 'model.widht', did you mean 'width'?"),
            (["prune", "run", "--set", "head_pruning.x=1"], "--set:1:14: error: unknown key 'head_pruning.x'"),
            (["translate", "run", "--beam", "3", "--set", "decode.bem=5"], "--set:1:8: error: unknown key 'decode.bem', did you mean 'beam'?"),
        ):
            with self.subTest(arguments=arguments):
                done = self.attnlab(*arguments, code=2)
                self.assertEqual(done.out, "")
                self.assertIn(message, done.err)

    def test_score_names_its_option(self):
        self.write("a", "x\n")
        done = self.attnlab("score", "--sys", "a", "--ref", "a", "--metric", "bleuu", code=2)
        self.assertIn("error: --metric: unknown kind 'bleuu' of score, did you mean 'bleu'?", done.err)
        done = self.attnlab("score", "--sys", "a", "--ref", "a", "--set", "tokenise=char", code=2)
        self.assertIn("--set:1:1: error: unknown key 'tokenise', did you mean 'tokenize'?", done.err)


class Downloads(SystemTest):
    def test_without_a_network_files_may_come_from_a_folder(self):
        self.write("bin/curl", "#!/bin/sh\nexit 6\n").chmod(0o755)
        done = self.attnlab("data", "get", "multi30k", code=1, env=environment(PATH=f"{self.folder}/bin:/usr/bin:/bin"))
        self.assertIn("no network?", done.err)
        self.assertIn("--from FOLDER", done.err)


class Evaluation(SystemTest):
    TEXT = """\
base: tiny.yaml
data: {task: {kind: text, folder: set, block: 16}}
model: {kind: decoder}
train: {max_steps: 2}
expect: {score: null}
"""

    def test_a_language_model_without_a_test_split(self):
        self.write("data/set/input.txt", "".join(f"line {i} of some text\n" for i in range(200)))
        self.write("text.yaml", self.TEXT)
        made = self.train("run", "--set", "train.log_every=1", config="text.yaml")
        self.assertRegex(made.err, r"(?m) tokens/s$", "it has no source")
        done = self.attnlab("eval", "run")
        self.assertIn("no test split", done.err)
        self.assertEqual(done.out.count("perplexity"), 1)
        self.assertIn("valid", done.out)
        self.assertEqual(list(json.loads(self.attnlab("eval", "run", "--json").out)["splits"]), ["valid"])
        done = self.attnlab("eval", "run", "--split", "test", code=2)
        self.assertIn("--split test: this task has no such split; it has: valid", done.err)

    def test_the_log_says_which_tokens_it_counts(self):
        self.assertRegex(self.train("run").err, r"(?m) tokens/s \(source and target\)$")


if __name__ == "__main__":
    main()
