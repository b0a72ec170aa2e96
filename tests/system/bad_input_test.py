"""What bad input gets: the exit code, and a message that says where and what."""

import re
import resource
import subprocess

from support import PROGRAM, SystemTest, environment, main, tree

POSITION = r"(?m)^{file}:{where}: error: "


class BadConfigs(SystemTest):
    def refused(self, content, where, *words):
        """The file is refused with an error at line:column `where` that has the words."""
        self.write("bad.yaml", content)
        for command in (["config", "check"], ["run"]):
            done = self.attnlab(*command, "bad.yaml", code=2)
            self.assert_log_only(done)
            self.assertRegex(done.err, POSITION.format(file="bad.yaml", where=where))
            for word in words:
                self.assertIn(word, done.err)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"tiny.yaml", "bad.yaml"})

    def test_misspelt(self):
        self.refused("model:\n  wdith: 8\n", "2:3", "'width'")

    def test_duplicate(self):
        self.refused("seed: 1\nname: a\nseed: 2\n", "3:1", "seed")

    def test_wrong_type(self):
        self.refused("model:\n  width: wide\n", "2:10", "wide")
        self.refused("model: 7\n", "1:8", "model")
        self.refused("model:\n  width: [8]\n", "2:10")

    def test_out_of_range(self):
        self.refused("model:\n  width: 0\n", "2:10", "at least 1")
        self.refused("model: {width: 99999999999999999999}\n", "1:16")
        self.refused("model: {dropout: 1}\n", "1:18")

    def test_not_a_number(self):
        for text in (".nan", "nan", ".inf"):
            self.refused(f"train:\n  learning_rate: {text}\n", "2:18")

    def test_unknown_kind(self):
        self.refused("model:\n  attention: scaled_dto\n", "2:14", "scaled_dot")

    def test_tab(self):
        self.refused("model:\n\twidth: 8\n", "2:1", "tab")

    def test_nul_byte(self):
        self.refused(b"name: a\nseed: 1\0\n", "2:8", "NUL")

    def test_invalid_utf8(self):
        self.refused(b"name: a\nname: \xff\n", "2:7", "UTF-8")

    def test_nesting(self):
        self.refused("a: " + "[" * 5000 + "]" * 5000 + "\n", r"1:\d+", "nest")

    def test_two_documents(self):
        self.refused("name: a\n---\nname: b\n", r"[23]:1", "document")

    def test_empty(self):
        self.refused("", "1:1", "empty")
        self.refused("# nothing\n", r"\d+:1", "empty")

    def test_syntax(self):
        self.refused("model: {width: 8\n", r"\d+:\d+")

    def test_missing_file(self):
        done = self.attnlab("run", "absent.yaml", code=2)
        self.assertRegex(done.err, r"absent\.yaml.*error")
        self.refused("base: absent.yaml\n", "1:7", "absent.yaml")
        self.attnlab("run", ".", code=2)

    def test_all_problems_at_once(self):
        self.write("bad.yaml", "sead: 1\nmodel:\n  width: -1\n  heads: x\ntrain:\n  clip: [1]\n")
        done = self.attnlab("run", "bad.yaml", "--set", "model.layrs=1", code=2)
        self.assertEqual(len(re.findall(r"(?m)^bad\.yaml:\d+:\d+: error: ", done.err)), 4)
        self.assertRegex(done.err, r"(?m)^--set:1:7: error: .*layers")

    def test_combinations(self):
        for assignment in ("model.heads=3", "model.attention=linformer"):  # 3 does not divide 16; no causal use
            done = self.attnlab("run", "tiny.yaml", "--out", "run", "--set", assignment, code=2)
            self.assertIn("error", done.err)
            self.assertFalse((self.folder / "run").exists())

    def refused_before_training(self, code, words, *assignments):
        for more in (["--dry-run"], ["--out", "run"]):
            arguments = [word for assignment in assignments for word in ("--set", assignment)]
            done = self.attnlab("run", "tiny.yaml", *more, *arguments, code=code)
            self.assertRegex(done.err, words)
            self.assertFalse((self.folder / "run").exists())

    def test_sentences_beyond_the_positions(self):
        words = r"line \d+: a source of 7 tokens .* room for 5; raise model\.positions\.max_length to 7"
        self.refused_before_training(3, words, "model.positions={kind: learned, max_length: 5}")
        self.train("fits", "--set", "model.positions={kind: learned, max_length: 7}", "--set", "train.max_steps=2")

    def test_metrics_that_no_validation_has(self):
        self.refused_before_training(2, "no metric 'valid_bluu'; there are: .*valid_nll", "train.early_stopping.metric=valid_bluu")
        self.refused_before_training(2, "no metric 'valid_exact_match'", "train.early_stopping.metric=valid_exact_match",
                                     "train.validation_scores=false")
        self.train("run", "--set", "train.early_stopping.metric=valid_exact_match", "--set", "train.max_steps=2")

    def test_patterns_without_a_match(self):
        done = self.train("run", "--set", "train.trainable=[decoder.*, nonsense.*]", code=2)
        self.assertIn("nonsense.*", done.err)
        self.assertFalse((self.folder / "run").exists())


class BadCorpora(SystemTest):
    PAIRS = [(f"a{i % 7} b", f"B A{i % 7}") for i in range(40)]

    def setUp(self):
        super().setUp()
        for name in ("train", "val", "test"):
            self.write(f"data/set/{name}.en", "".join(f"{a}\n" for a, _ in self.PAIRS))
            self.write(f"data/set/{name}.de", "".join(f"{b}\n" for _, b in self.PAIRS))
        self.write("text.yaml", "base: tiny.yaml\ndata: {task: {kind: parallel_text, folder: set, tokenizer: word}}\n"
                                "train: {max_steps: 3}\nexpect: {score: null}\n")

    def refused(self, *words):
        done = self.train("run", config="text.yaml", code=3)
        for word in words:
            self.assertRegex(done.err, word)
        self.assertFalse((self.folder / "run").exists())

    def test_sound_corpora_train(self):
        self.train("run", config="text.yaml")
        self.assertIn("test_bleu", self.json("run", "result.json"))
        self.attnlab("data", "check", "text.yaml")

    def test_unlike_line_counts(self):
        self.write("data/set/train.de", "B\n" * 39)
        self.refused(r"train\.de", r"\b39\b", r"\b40\b")
        self.assertRegex(self.attnlab("data", "check", "text.yaml", code=3).out, r"train\.de.*39|39.*train\.de")

    def test_invalid_utf8(self):
        self.write("data/set/train.en", b"a b\na \xe4 b\n" + b"a\n" * 38)
        self.refused(r"train\.en:2\b", "UTF-8 at byte 3")  # counted from 1 by both
        self.assertRegex(self.attnlab("data", "check", "text.yaml", code=3).out, r"train\.en:2\b.*UTF-8: byte 3")

    def test_empty_file(self):
        self.write("data/set/train.en", "")
        self.write("data/set/train.de", "")
        self.refused(r"train\.en")

    def test_missing_file(self):
        (self.folder / "data/set/val.de").unlink()
        self.refused(r"val\.de")


class BadCheckpoints(SystemTest):
    def setUp(self):
        super().setUp()
        self.train("run", "--set", "train.max_steps=3")
        self.checkpoint = (self.folder / "run/checkpoints/last").resolve()

    def refused(self, *words):
        """Nothing that reads the checkpoint takes it."""
        (self.folder / "run/result.json").unlink(missing_ok=True)
        for arguments in (["translate", "run"], ["eval", "run"], ["run", "tiny.yaml", "--out", "run", "--resume"],
                          ["run", "tiny.yaml", "--out", "next", "--set", "model.from=run"]):
            with self.subTest(arguments=arguments):
                done = self.attnlab(*arguments, code=1, stdin=b"1 2\n")
                self.assertEqual(done.out, "")
                for word in words:
                    self.assertRegex(done.err, word)
        self.assertFalse((self.folder / "next").exists())

    def damage(self, change, file="model.safetensors"):
        path = self.checkpoint / file
        path.write_bytes(change(path.read_bytes()))

    def test_truncated(self):
        self.damage(lambda data: data[: len(data) // 2])
        self.refused(r"model\.safetensors")

    def test_a_changed_byte(self):
        self.damage(lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
        self.refused(r"model\.safetensors", "checksum|crc|CRC|damaged")

    def test_a_header_that_claims_much(self):
        self.damage(lambda data: (1 << 60).to_bytes(8, "little") + data[8:])
        self.refused(r"model\.safetensors")

    def test_empty_and_missing_files(self):
        self.damage(lambda data: b"")
        self.refused(r"model\.safetensors")
        (self.checkpoint / "model.safetensors").unlink()
        self.refused(r"model\.safetensors")

    def test_damaged_state(self):
        self.damage(lambda data: data[: len(data) // 2], "state.json")
        self.refused(r"state\.json")

    def test_another_format(self):
        self.damage(lambda data: re.sub(rb'"version": \d+', b'"version": 999', data), "state.json")
        self.refused("version", "999")

    def test_another_model(self):
        done = self.train("next", "--set", "model.from=run", "--set", "model.width=32", code=1)
        self.assertRegex(done.err, r"weight")
        done = self.train("next", "--set", "model.from=run", "--set", "model.layers=2", code=1)
        self.assertRegex(done.err, r"layers\.1")
        (self.folder / "run/result.json").unlink()
        before = tree(self.folder / "run")
        self.train("run", "--resume", "--set", "model.width=32", code=1)
        self.assertEqual(tree(self.folder / "run"), before)

    def test_a_damaged_optimizer_stops_only_who_needs_it(self):
        self.damage(lambda data: data[:-1], "optimizer.safetensors")
        for arguments in (["translate", "run"], ["eval", "run"], ["run", "tiny.yaml", "--out", "next", "--set", "model.from=run"]):
            self.attnlab(*arguments, stdin=b"1 2\n")
        (self.folder / "run/result.json").unlink()
        done = self.train("run", "--resume", code=1)
        self.assertRegex(done.err, r"optimizer\.safetensors is damaged")

    def test_no_run_at_all(self):
        for command in ("translate", "eval"):
            self.assert_log_only(self.attnlab(command, "absent", code=1))
            self.assert_log_only(self.attnlab(command, ".", code=1))


class FullDisk(SystemTest):
    def test_the_last_good_checkpoint_survives(self):
        often = ("--set", "train.schedule=constant", "--set", "train.checkpoint_every=1")
        self.train("run", *often, "--set", "train.max_steps=5")
        (self.folder / "run/result.json").unlink()
        good = self.weights("run", "step-5")
        limit = len(good) // 2

        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        arguments = ["run", "tiny.yaml", "--out", "run", *often, "--set", "train.max_steps=12", "--resume"]
        for restore in (True, False):  # with SIGXFSZ at its default, and ignored
            done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60,
                                  env=environment(), preexec_fn=limited, restore_signals=restore)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, r"cannot write .*model\.safetensors.*[Ff]ile too large")
            self.assertEqual(self.weights("run"), good)
        self.attnlab("translate", "run", stdin=b"1 2\n")
        self.attnlab(*arguments)
        self.train("unbroken", *often, "--set", "train.max_steps=12")
        self.assert_same_bits("run", "unbroken")

    def test_unwritable_places(self):
        self.write("file", "")
        for out in ("file/run", "/proc/attnlab-run"):
            done = self.train(out, code=1)
            self.assertIn(out, done.err)
        self.train("file", code=2)

    def test_a_full_device_for_results(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "config", "schema"], cwd=self.folder, stdout=full, stderr=subprocess.PIPE,
                                  env=environment(), timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)


if __name__ == "__main__":
    main()
