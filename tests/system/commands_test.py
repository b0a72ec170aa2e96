"""The program's commands as a user meets them: help, lists, configurations, scores, the README."""

import json
import re
import shlex

from support import SOURCE, SystemTest, main

README = (SOURCE / "README.md").read_text()
CONFIGS = sorted((SOURCE / "configs").rglob("*.yaml"))


class Help(SystemTest):
    def test_version(self):
        self.assertRegex(self.attnlab("--version").out, r"^attnlab \d+\.\d+\.\d+")

    def test_help_and_usage_errors(self):
        self.assertIn("Subcommands", self.attnlab("--help").out)
        for wrong in ([], ["runn"], ["run"], ["run", "tiny.yaml", "--bogus"], ["list", "nonsense"], ["translate"],
                      ["run", "tiny.yaml", "--max-time", "soon"], ["run", "tiny.yaml", "--resume", "--overwrite"],
                      ["run", "tiny.yaml", "--set", "model.wdith=3"], ["run", "tiny.yaml", "--set", "model.width"],
                      ["config", "diff", "tiny.yaml"], ["data", "get", "nonsense"], ["new", "attention"],
                      ["check", "attention", "nonsense"], ["bench", "nonsense"], ["--load", "none.so", "list"]):
            with self.subTest(arguments=wrong):
                self.assert_log_only(self.attnlab(*wrong, code=2))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["tiny.yaml"])

    def test_commands_that_there_are_not(self):
        for words, wanted in ((["runn", "tiny.yaml"], "no command 'runn', did you mean 'run'?"), (["study", "--help"], "no command 'study'; there are: bench"),
                              (["rport", "--help"], "did you mean 'report'?")):
            done = self.attnlab(*words, code=2)
            self.assertIn(wanted, done.err)
            self.assertEqual(done.out, "")

    def test_help_is_a_command_too(self):
        for words in ([], ["run"], ["model", "get"], ["new", "attention"], ["help"]):
            with self.subTest(words=words):
                self.assertEqual(self.attnlab("help", *words).out, self.attnlab(*words, "--help").out)
        for words, wanted in ((["runn"], "no command 'runn', did you mean 'run'?"), (["model", "gett"], "did you mean 'get'?"),
                              (["run", "tiny.yaml"], "'run' has no commands")):
            done = self.attnlab("help", *words, code=2)
            self.assert_log_only(done)
            self.assertIn(wanted, done.err)

    def test_list(self):
        entries = json.loads(self.attnlab("list", "--json").out)
        names = {entry["name"] for entry in entries if entry["registry"] == "attention"}
        self.assertLessEqual({"scaled_dot", "shared_query_key", "window", "linear", "linformer", "uniform", "none"}, names)
        for entry in entries:
            self.assertTrue(entry["doc"], entry)
        one = json.loads(self.attnlab("list", "schedule", "--json").out)
        self.assertEqual({entry["registry"] for entry in one}, {"schedule"})
        text = self.attnlab("list", "attention").out
        for name in names:
            self.assertIn(name, text)


class Configurations(SystemTest):
    def test_every_config_shown_is_a_config_and_a_fixed_point(self):
        self.assertTrue(CONFIGS)
        for path in CONFIGS:
            with self.subTest(config=path.name):
                self.attnlab("config", "check", path)
                shown = self.attnlab("config", "show", path).out
                file = self.write("shown.yaml", shown)
                self.assertEqual(self.attnlab("config", "show", file).out, shown)
                self.assertEqual(self.attnlab("config", "diff", path, file).out, "")
                self.assertNotRegex(re.sub(r"(?m)#.*$", "", shown), r"\{[^}]", "block style")

    def test_set_wins_and_diff_tells(self):
        shown = self.attnlab("config", "show", "tiny.yaml", "--set", "model.width=24", "--set", "model.skip=false").out
        self.assertRegex(shown, r"(?m)^  width: 24$")
        self.write("other.yaml", "base: tiny.yaml\nmodel: {width: 24}\n")
        self.assertEqual(self.attnlab("config", "diff", "tiny.yaml", "other.yaml").out, "model.width: 16 -> 24\n")

    def test_files_merge_left_to_right(self):
        self.write("a.yaml", "seed: 5\nmodel: {width: 24}\n")
        self.write("b.yaml", "seed: 6\n")
        shown = self.attnlab("config", "show", "tiny.yaml", "a.yaml", "b.yaml").out
        self.assertRegex(shown, r"(?m)^seed: 6$")
        self.assertRegex(shown, r"(?m)^  width: 24$")
        self.assertRegex(shown, r"(?m)^name: tiny$")

    def test_keys_that_scripts_may_set(self):
        for assignment in ("name=x", "seed=3", "precision=f64", "deterministic=false", "model.kind=encoder_decoder",
                           "model.width=32", "model.heads=4", "model.feed_forward=64", "model.layers=2",
                           "model.skip=false", "model.skip.mlp=false", "model.mlp=false", "model.norm=post",
                           "model.attention.kind=uniform", "model.encoder.attention.kind=window",
                           "model.decoder.attention.kind=linear", "model.cross_attention.kind=none",
                           "data.root=there", "train.max_steps=9", "train.max_epochs=2", "train.batch_tokens=99",
                           "train.accumulate=2", "train.learning_rate=0.1", "train.trainable=[layernorm_only]",
                           "train.trainable=head_only", "train.checkpoint_every=3"):
            with self.subTest(assignment=assignment):
                self.attnlab("config", "check", "tiny.yaml", "--set", assignment)

    def test_schema(self):
        fields = json.loads(self.attnlab("config", "schema", "--json").out)
        text = self.attnlab("config", "schema").out
        self.assertRegex(text, r"\ntrain\.batch_tokens = .*\n +target tokens .*; with labels of whole examples: labels")
        self.assertIn("model.width", text)
        self.assertGreater(len(fields), 50)
        for field in fields:
            self.assertTrue(field["doc"], field)


class Readme(SystemTest):
    def commands(self):
        """The lines of shell blocks, as (words of one program, in order of the pipe)."""
        lines = "\n".join(re.findall(r"```sh\n(.*?)```", README, re.S)).split("\n")
        for line in filter(None, lines):
            words = shlex.split(line, comments=True)
            while words:
                end = words.index("|") if "|" in words else len(words)
                yield words[:end]
                words = words[end + 1 :]

    def help_of(self, words):
        """Help of the deepest subcommand that the words name, and the words left over."""
        path = []
        text = self.attnlab("--help").out
        while words and re.search(rf"(?m)^  {re.escape(words[0])} {{2,}}", text.split("Subcommands:")[-1]) and "Subcommands:" in text:
            path.append(words[0])
            words = words[1:]
            text = self.attnlab(*path, "--help").out
        return path, text, words

    def check_options(self, words):
        if words[0] == "--load":  # an option of the program itself, which names one file
            self.assertIn("--load", self.attnlab("--help").out)
            words = words[2:]
        path, text, rest = self.help_of(words)
        self.assertTrue(path, f"no such command: {words}")
        for word in rest:
            if word.startswith("-"):
                self.assertRegex(text, rf"(?m)^\s+(-\w,)?{re.escape(word.split('=')[0])}\b", f"{words}")

    def test_commands_of_code_blocks(self):
        seen = 0
        for words in self.commands():
            with self.subTest(command=words):
                if words[0] == "echo":
                    continue
                seen += 1
                if words[0].startswith("tools/"):
                    script = SOURCE / words[0]
                    self.assertTrue(script.stat().st_mode & 0o100, f"{script} is not executable")
                    words = ["build/release/attnlab", "run", *words[1:]] if words[0] == "tools/run.sh" else words
                if words[0].endswith("attnlab"):
                    self.check_options(words[1:])
                for word in words:
                    if word.startswith("configs/"):
                        self.attnlab("config", "check", SOURCE / word)
        self.assertGreaterEqual(seen, 5)

    def test_commands_of_the_table(self):
        rows = re.findall(r"(?m)^\| (`attnlab .*?) \|", README.replace(r"\|", "¦"))
        self.assertGreaterEqual(len(rows), 8)
        for row in rows:
            for command in re.findall(r"`attnlab (.*?)`", row):
                head, *rest = command.split()
                for variant in [[head]] if "¦" not in (rest or [""])[0] else [[head, name] for name in rest[0].split("¦")]:
                    path, text, _ = self.help_of(variant + rest[:1])
                    self.assertGreaterEqual(path, variant, f"{command}: no command {variant}")
                    for option in re.findall(r"--[a-z-]+", command):
                        self.assertIn(option, text, command)

    def test_the_example_is_a_valid_experiment(self):
        example = re.search(r"```yaml\n(.*?)```", README, re.S).group(1)
        self.write("example.yaml", example.replace("base: configs/", f"base: {SOURCE}/configs/"))
        self.attnlab("config", "check", "example.yaml")
        self.attnlab("run", "example.yaml", "--dry-run", "--set", "data.task.train=300", "--set", "data.task.valid=10")

    def test_options_that_the_page_on_studies_names(self):
        text = (SOURCE / "docs/studies.md").read_text()
        known = "".join(self.attnlab(command, "--help").out for command in ("run", "reproduce", "results"))
        known += self.attnlab("config", "schema", "--help").out
        options = set(re.findall(r"(?<![\w-])--[a-z-]+", text))
        self.assertGreater(len(options), 6)
        for option in options:
            self.assertIn(option, known)

    def test_keys_exist(self):
        schema = self.attnlab("config", "schema").out
        keys = set(re.findall(r"(?m)^([a-z_.0-9]+)(?: = |$)", schema))
        tops = {key.split(".")[0] for key in keys}
        named = [key for key in re.findall(r"\b([a-z_]+(?:\.[a-z_]+)+)(?==)", README) if key.split(".")[0] in tops]
        self.assertTrue(named)
        for key in (name.removesuffix(".kind") for name in named):
            self.assertTrue(key in keys or re.sub(r"^model\.(encoder|decoder)\.", "model.", key) in keys, key)


class Translate(SystemTest):
    LINE = b"1 2 3\n"

    def test_flags_that_would_change_nothing(self):
        self.train("run", "--set", "train.max_steps=2")
        for flag, value in (("--temperature", 2), ("--top-k", 3), ("--top-p", 0.5), ("--seed", 7)):
            with self.subTest(flag=flag):
                done = self.attnlab("translate", "run", flag, value, stdin=self.LINE, code=2)
                self.assert_log_only(done)
                self.assertRegex(done.err, f"error: {flag}: .*--sample")
                self.attnlab("translate", "run", "--sample", flag, value, stdin=self.LINE)
                self.attnlab("translate", "run", "--set", "decode.sample=true", flag, value, stdin=self.LINE)
        for command in (["translate", "run", "--sample"], ["eval", "run", "--set", "decode.sample=true"]):
            self.assertIn("--beam", self.attnlab(*command, "--beam", 2, stdin=self.LINE, code=2).err)

    def test_a_classifier_writes_no_lines(self):
        for out, kind, head in (("encoder", "encoder", "mean"), ("decoder", "decoder", "last")):
            with self.subTest(kind=kind, head=head):
                self.train(out, "--set", "data.task={kind: list_ops, max_length: 12, train: 60, valid: 8, test: 8}", "--set",
                           f"model.kind={kind}", "--set", f"model.head={head}", "--set", "model.tie=none",
                           "--set", "train.max_steps=2")
                done = self.attnlab("translate", out, stdin=b"[ MAX 1 2 ]\n", code=2)
                self.assert_log_only(done)
                self.assertIn(f"attnlab eval {out}", done.err)


class Scores(SystemTest):
    def test_known_values(self):
        self.write("ref", "The dog bit the man.\nIt was not unexpected.\nThe man bit him first.\n")
        self.write("same", (self.folder / "ref").read_text())
        # The example of sacreBLEU's own documentation: 48.53 against two references.
        self.write("sys", "The dog bit the man.\nIt wasn't surprising.\nThe man had just bitten him.\n")
        self.write("ref2", "The dog had bit the man.\nNo one was surprised.\nThe man had bitten the dog.\n")
        self.assertIn("100", self.attnlab("score", "--sys", "same", "--ref", "ref").out)
        self.assertRegex(self.attnlab("score", "--sys", "sys", "--ref", "ref", "ref2").out, r"\b48\.53")
        self.assertIn("100", self.attnlab("score", "--sys", "same", "--ref", "ref", "--metric", "chrf").out)

    def test_shares_have_four_decimals(self):
        self.write("ref", "".join(f"{i}\n" for i in range(200)))
        self.write("sys", "".join(f"{max(i, 3)}\n" for i in range(200)))
        self.write("worse", "".join(f"{max(i, 9)}\n" for i in range(200)))
        out = self.attnlab("score", "--sys", "sys", "--ref", "ref", "--metric", "exact_match", "--baseline", "worse").out
        self.assertRegex(out, r"(?m)^exact_match = 0\.9850$")
        self.assertRegex(out, r"system 0\.\d{4} \+- 0\.\d{4}, baseline 0\.\d{4} \+- 0\.\d{4}, p = ")
        self.assertRegex(self.attnlab("score", "--sys", "sys", "--ref", "ref", "--metric", "chrf").out, r"= \d+\.\d\d\n")

    def test_unlike_line_counts(self):
        self.write("sys", "a\nb\n")
        self.write("ref", "a\n")
        self.assert_log_only(self.attnlab("score", "--sys", "sys", "--ref", "ref", code=3))
        self.assert_log_only(self.attnlab("score", "--sys", "sys", "--ref", "absent", code=3))
        self.assert_log_only(self.attnlab("score", "--sys", "sys", "--ref", "ref", "--metric", "blue", code=2))


if __name__ == "__main__":
    main()
