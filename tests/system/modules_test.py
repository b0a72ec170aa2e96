"""Modules loaded with --load: they belong to what made a run, and every command that takes its weights up again says so
where they are not the same."""

import ctypes
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import zlib

from support import LIMIT, PROGRAM, SystemTest, environment, main

MODULE = "./window.so"


def shared_library():
    """The bytes of one that registers nothing, and that the program needs anyhow."""
    ctypes.CDLL("libz.so.1")
    lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    return pathlib.Path(next(line.split(maxsplit=5)[5] for line in lines if "/libz.so" in line)).read_bytes()


class Modules(SystemTest):
    def setUp(self):
        super().setUp()
        self.change("")

    def change(self, more):
        """Puts another module in the place of the one that is there: what follows the end of one is not read."""
        (self.folder / MODULE).unlink(missing_ok=True)
        self.content = shared_library() + more.encode()
        self.write(MODULE, self.content)

    def described(self):
        return f"{MODULE} ({len(self.content)} bytes, crc {zlib.crc32(self.content)})"

    def load(self, *arguments, **more):
        return self.attnlab("--load", MODULE, *arguments, **more)

    def commands(self):
        """All that take the weights of a run up again, with what they read."""
        yield ["eval", "run"], b""
        yield ["eval", "run/checkpoints/last"], b""
        yield ["translate", "run"], b"1 2 3\n"
        yield ["probe", "run", "residual_norm", "--sentences", "4"], b""
        yield ["run", "tiny.yaml", "--set", "model.from=run", "--out", "later", "--overwrite"], b""
        yield ["prune", "run", "--write", "pruned", "--share", "0.25", "--sentences", "4"], b""

    def test_a_changed_or_missing_module_is_named_by_every_command(self):
        self.load("run", "tiny.yaml", "--out", "run")
        papers = self.json("run", "environment.json")
        self.assertEqual(papers["module_1"], MODULE)
        self.assertEqual(f"{papers['module_1']} ({papers['module_1_content']})", self.described())
        then = self.described()
        for arguments, lines in self.commands():
            with self.subTest(command=arguments):
                self.assertNotIn("other code", self.load(*arguments, stdin=lines).err)
        shutil.rmtree(self.folder / "pruned")
        self.change("another one")
        for arguments, lines in self.commands():
            with self.subTest(command=arguments):
                said = self.load(*arguments, stdin=lines).err
                self.assertRegex(said, f"warning .*/run was made by other code: the module {re.escape(MODULE)} is another one: ")
                self.assertIn(f"then {then}, now {self.described()}", said)
                self.assertEqual(said.count("other code"), 1)
        shutil.rmtree(self.folder / "pruned")
        for arguments, lines in self.commands():
            with self.subTest(command=arguments):
                self.assertRegex(self.attnlab(*arguments, stdin=lines).err,
                                 f"warning .*/run was made by other code: the module {re.escape(then)} is not loaded")

    def test_a_pruned_model_keeps_the_modules_that_it_was_made_with(self):
        self.load("run", "tiny.yaml", "--out", "run")
        self.load("prune", "run", "--write", "pruned", "--share", "0.25", "--sentences", "4")
        self.assertNotIn("other code", self.load("eval", "pruned").err)
        self.change("another one")
        self.assertIn(f"the module {MODULE} is another one", self.load("eval", "pruned").err)

    def test_another_program_is_no_warning_and_a_run_that_says_nothing_is_left_alone(self):
        self.train("run")
        file = self.folder / "run/environment.json"
        self.assertNotIn("module_1", file.read_text())
        file.write_text(file.read_text().replace(self.json("run", "environment.json")["code"], "0" * 64))
        said = self.attnlab("eval", "run").err
        self.assertRegex(said, "info .*/run was made by other code: the numeric code of the program is another one")
        self.assertNotIn("warning", said)
        file.write_text("{")
        self.assertIn("not known what code made this run", self.attnlab("eval", "run").err)
        file.unlink()
        self.assertNotIn("made", self.attnlab("eval", "run").err)

    def test_resuming_names_the_module(self):
        self.load("run", "tiny.yaml", "--out", "run")
        (self.folder / "run/result.json").unlink()  # as if broken off at its end
        self.change("another one")
        said = self.load("run", "tiny.yaml", "--out", "run", "--resume").err
        self.assertIn(f"run was begun by other code than this program's: the module {MODULE} is another one", said)

    def test_an_option_after_the_command(self):
        self.train("run", "--load", MODULE, "--set", "train.max_steps=2")
        self.assertEqual(self.json("run", "environment.json")["module_1"], MODULE)
        self.attnlab("list", "attention", "--load", MODULE)
        self.assertIn("none.so", self.attnlab("list", "attention", "--load", "none.so", code=2).err)
        self.assertIn("--bogus", self.attnlab("run", "tiny.yaml", "--bogus", code=2).err)

    def test_unknown_kinds_may_be_those_of_a_module(self):
        done = self.attnlab("run", "tiny.yaml", "--set", "model.attention.kind=my_kind", code=2)
        self.assertRegex(done.err, "unknown kind 'my_kind' of attention.*; kinds of one's own .*--load FILE.so")
        self.assertIn("--load FILE.so", self.attnlab("check", "attention", "my_kind", code=2).err)

    def test_a_report_says_which_attention_it_lacks(self):
        self.load("run", "tiny.yaml", "--out", "run")
        self.train("plain")
        config = self.folder / "run/config.yaml"  # as if the module had had the kind
        config.write_text(config.read_text().replace("kind: scaled_dot", "kind: my_kind"))
        done = self.attnlab("report", "run", "plain")
        page = (self.folder / "report.html").read_text()
        for text in (done.err, page):
            self.assertRegex(text, "run: no attention to show: .*unknown kind .*my_kind.*--load FILE.so")
        self.assertRegex(done.err, f"warning .*/run was made by other code: the module {re.escape(self.described())} is not loaded")

    def break_off(self, *arguments):
        """Starts a run, ends it at step 60, and returns what it says last."""
        process = self.start(*arguments)
        self.wait_until(lambda: self.step_logged("a run") >= 60, process, "step 60")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 128 + signal.SIGTERM)
        return re.search(r"saved; to go on: (attnlab .*)", (self.folder / "log").read_text()).group(1)

    def test_the_command_to_go_on_can_be_pasted(self):
        self.write("more.yaml", "train: {max_steps: 240, log_every: 1, checkpoint_every: 11}\n")
        arguments = ["--load", MODULE, "run", "tiny.yaml", "more.yaml", "--seed", "5", "--set", "name=it's $HOME; \\ \"two\"",
                     "--set", "data.task.kind=reverse", "--set", 'train.trainable=["*"]']
        self.attnlab(*arguments, "--out", "unbroken")
        command = self.break_off(*arguments, "--out", "a run")
        words = shlex.split(command)
        self.assertEqual(words[:5], ["attnlab", "--load", MODULE, "run", "tiny.yaml"])
        pasted = f"{shlex.quote(PROGRAM)} {command.removeprefix('attnlab ')}"
        done = subprocess.run(["sh", "-c", pasted], cwd=self.folder, capture_output=True, timeout=LIMIT, env=environment())
        self.assertEqual(done.returncode, 0, f"{pasted}\n{done.stderr.decode(errors='replace')}")
        self.assertNotIn("begun", done.stderr.decode())
        self.assert_same_bits("a run", "unbroken")
        self.assertEqual(self.json("a run", "result.json")["status"], "done")
        self.assertEqual((self.folder / "a run/config.yaml").read_text(), (self.folder / "unbroken/config.yaml").read_text())


class New(SystemTest):
    def next_of(self, program, folder):
        done = subprocess.run([program, "new", "attention", "mine", "--out", folder], cwd=self.folder, capture_output=True,
                              timeout=LIMIT, env=environment(), check=True, text=True)
        return [shlex.split(line) for line in done.stdout.splitlines() if line.startswith("  ")]

    def installed(self, folder):
        """The program as it would lie where it was installed."""
        program = self.folder / folder / "bin/attnlab"
        program.parent.mkdir(parents=True)
        shutil.copy(PROGRAM, program)
        (self.folder / folder / "include/attnlab").mkdir(parents=True)
        return program

    def test_the_commands_name_the_installation(self):
        prefix = (self.folder / "some where").resolve()
        configure, build, check = self.next_of(self.installed("some where"), "my module")
        self.assertIn(f"-DCMAKE_PREFIX_PATH={prefix}", configure)
        self.assertEqual(configure[:5], ["cmake", "-S", "my module", "-B", "my module/build"])
        self.assertEqual(build, ["cmake", "--build", "my module/build"])
        self.assertEqual(check, ["attnlab", "--load", "my module/build/libmine.so", "check", "attention", "mine"])

    def test_where_it_is_not_installed_that_comes_first(self):
        bare = self.folder / "build/attnlab"
        bare.parent.mkdir()
        shutil.copy(PROGRAM, bare)
        self.assertIn("-DCMAKE_PREFIX_PATH=PREFIX", self.next_of(bare, "first")[0])
        (bare.parent / "cmake_install.cmake").touch()
        install, configure, *_ = self.next_of(bare, "second")
        self.assertEqual(install, ["cmake", "--install", str(bare.parent.resolve()), "--prefix", "PREFIX"])
        self.assertIn("-DCMAKE_PREFIX_PATH=PREFIX", configure)


if __name__ == "__main__":
    main()
