"""Broken-off runs go on to the same bits: signals, kill -9, time limits."""

import json
import os
import random
import signal
import time

from support import SystemTest, main, tree

STEPS = 240


def long_run(*more):
    return ("--set", f"train.max_steps={STEPS}", "--set", "train.log_every=1", "--set",
            "train.validate_every=60", "--set", "train.checkpoint_every=11", *more)


class Resume(SystemTest):
    def break_off(self, step, sent, *arguments):
        """Starts a run, sends it a signal once it has logged the step, and returns its exit code."""
        process = self.start("run", "tiny.yaml", "--out", "run", *long_run(*arguments))
        self.wait_until(lambda: self.step_logged("run") >= step, process, f"step {step}")
        process.send_signal(sent)
        return process.wait(60)

    def test_signals_save_and_go_on(self):
        self.train("unbroken", *long_run())
        for number, (sent, step) in enumerate(((signal.SIGTERM, 60), (signal.SIGINT, 150))):
            self.assertEqual(self.break_off(step, sent, *["--resume"][:number]), 128 + sent)
            self.assertEqual(self.json("run", "result.json")["status"], "interrupted")
            stopped = self.json("run", "checkpoints", "last", "state.json")["training"]["step"]
            self.assertGreaterEqual(stopped, step)
            self.assertLess(stopped, STEPS)
            self.check_paused(self.json("run", "result.json"), (self.folder / "log").read_text())
        done = self.train("run", *long_run("--resume"))
        self.assert_same_bits("run", "unbroken")
        self.assertEqual(self.json("run", "result.json")["status"], "done")
        self.assertNotIn("validation_step", self.json("run", "result.json"))
        self.assertRegex(done.out, r"expected 0.*: reached")

    def check_paused(self, result, said):
        """A result of a broken-off run says of which step its validation is, and judges nothing."""
        self.assertIn(f"paused at step {result['step']}", said)
        self.assertNotIn("reached", said)
        self.assertNotIn("expected_reached", result)
        lines = map(json.loads, (self.folder / "run/metrics.jsonl").read_text().splitlines())
        validated = [line["step"] for line in lines if "valid_nll" in line]
        self.assertEqual("valid_nll" in result, bool(validated))
        if validated:
            self.assertEqual(result.get("validation_step", result["step"]), validated[-1])

    def test_kill_five_times(self):
        self.train("unbroken", *long_run())
        seed = int(os.environ.get("ATTNLAB_TEST_SEED", random.randrange(10**6)))
        print(f"kills at random: ATTNLAB_TEST_SEED={seed}", flush=True)
        draw = random.Random(seed)
        for step in sorted(draw.sample(range(10, STEPS - 60, 15), 5)):
            self.assertEqual(self.break_off(step + draw.randrange(10), signal.SIGKILL, "--resume"), -signal.SIGKILL)
        done = self.train("run", *long_run("--resume"))
        self.assertIn("took over the lock", done.err)
        self.assert_same_bits("run", "unbroken")
        steps = [line.split(",")[0] for line in (self.folder / "run/metrics.csv").read_text().splitlines()[1:]]
        self.assertEqual(sorted(set(map(int, steps))), list(range(1, STEPS + 1)), "each step is logged")

    def test_kill_while_a_checkpoint_is_written(self):
        often = ("--set", "train.checkpoint_every=1", "--set", "train.max_steps=60")
        self.train("unbroken", *often)
        checkpoints = self.folder / "run/checkpoints"
        caught = 0

        def half_written():
            try:
                return any(not name.startswith("step-") and name not in ("best", "last") for name in os.listdir(checkpoints))
            except FileNotFoundError:
                return False

        for _ in range(3):
            process = self.start("run", "tiny.yaml", "--out", "run", "--resume", *often)
            self.wait_until(half_written, process, "a checkpoint being written")
            process.kill()
            process.wait(60)
            caught += half_written()
        self.train("run", "--resume", *often)
        self.assert_same_bits("run", "unbroken")
        self.assertFalse(half_written(), "left-overs are cleared away")
        print(f"{caught} of 3 kills left half a checkpoint", flush=True)

    def test_time_limit(self):
        constant = ("--set", "train.schedule=constant", "--set", "train.checkpoint_every=1000")
        done = self.train("run", *constant, "--set", "train.max_steps=100000000", "--max-time", "1s")
        self.assertEqual(self.json("run", "result.json")["status"], "out_of_time")
        self.assertIn("paused at step", done.out)
        self.assertIn("the expected score is judged when the run is done", done.out)
        self.assertNotIn("reached", done.out)
        steps = self.json("run", "result.json")["step"]
        self.assertEqual(self.json("run", "checkpoints", "last", "state.json")["training"]["step"], steps)
        more = (*constant, "--set", f"train.max_steps={steps + 20}")
        self.train("run", *more, "--resume")
        self.train("unbroken", *more)
        self.assert_same_bits("run", "unbroken")

    def test_a_signal_while_the_tests_are_decoded(self):
        steps = ("--set", "train.max_steps=20", "--set", "data.task.test=30000")
        slow = (*steps, "--set", "decode.batch_sentences=1", "--set", "decode.beam=8")
        process = self.start("run", "tiny.yaml", "--out", "run", *slow)
        self.wait_until(lambda: (self.folder / "run/checkpoints/step-20").exists(), process, "the last checkpoint")
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), 128 + signal.SIGTERM)
        self.assertEqual(self.json("run", "result.json")["status"], "interrupted")
        self.train("run", *steps, "--resume")
        self.train("unbroken", *steps)
        self.assert_same_bits("run", "unbroken")
        self.assertEqual(self.json("run", "result.json")["status"], "done")

    def test_a_damaged_last_checkpoint(self):
        often = ("--set", "train.max_steps=40", "--set", "train.checkpoint_every=10", "--set", "train.keep_last=3")
        self.train("unbroken", *often)
        self.train("run", *often)
        (self.folder / "run/result.json").unlink()  # as if broken off at the end
        model = self.folder / "run/checkpoints/step-40/model.safetensors"
        model.write_bytes(model.read_bytes()[:-7])
        done = self.train("run", *often, "--resume")
        self.assertIn("step-40/model.safetensors is damaged", done.err)
        self.assertIn("going on from", done.err)
        self.assert_same_bits("run", "unbroken")
        self.assertTrue((self.folder / "run/checkpoints/damaged-step-40").is_dir(), "nothing is lost")

    def test_resume_without_a_checkpoint_and_of_a_finished_run(self):
        self.train("run", "--resume")
        before = self.weights("run")
        done = self.train("run", "--resume")
        self.assertIn("finished", done.err)
        self.assertEqual(self.weights("run"), before)
        self.write("empty/config.yaml", "")
        self.train("empty", "--resume")
        self.assertEqual(self.weights("empty"), before)

    def resume_anew(self, *arguments):
        """Goes on with a run as if it had been broken off at its end."""
        (self.folder / "run/result.json").unlink()
        return self.train("run", "--resume", *arguments), self.json("run", "environment.json")

    def test_another_configuration_makes_a_mixed_run(self):
        self.train("run")
        done, papers = self.resume_anew("--set", "train.log_every=3", "--set", "name=other", "--set", "decode.beam=2",
                                        "--set", "data.root=elsewhere", "--set", "expect.score=1")
        self.assertNotIn("begun", done.err)
        self.assertNotIn("mixed", papers)
        longer = ("--set", "train.max_steps=23")
        done, papers = self.resume_anew(*longer)
        self.assertIn("run was begun with another configuration: train.max_steps: 20 -> 23", done.err)
        self.assertEqual((papers["mixed"], papers["mixed_by"]), (True, "configuration"))
        self.assertEqual(self.json("run", "result.json")["step"], 23)
        done, papers = self.resume_anew(*longer)
        self.assertNotIn("begun", done.err)
        self.assertIs(papers["mixed"], True, "it stays what it is")

    def test_other_code_makes_a_mixed_run(self):
        self.train("run")
        environment = self.folder / "run/environment.json"
        code = self.json("run", "environment.json")["code"]
        environment.write_text(environment.read_text().replace(code, "0" * 64))
        done, papers = self.resume_anew()
        self.assertIn("run was begun by other code", done.err)
        self.assertEqual((papers["mixed"], papers["mixed_by"]), (True, "code"))
        self.assertEqual(papers["code"], "0" * 64 + " and " + code)
        done, papers = self.resume_anew()
        self.assertNotIn("begun", done.err)
        self.assertEqual((papers["mixed"], papers["code"]), (True, "0" * 64 + " and " + code))
        _, papers = self.resume_anew("--set", "train.max_steps=21")
        self.assertEqual(papers["mixed_by"], "configuration")

    def test_weights_put_there_to_be_scored_make_no_mixed_run(self):
        """As a study does it where another arm has them."""
        self.train("other")
        (self.folder / "run").mkdir()
        (self.folder / "run/checkpoints").symlink_to("../other/checkpoints")
        done = self.train("run", "--resume", "--set", "decode.beam=2")
        self.assertNotIn("begun", done.err)
        self.assertNotIn("mixed", self.json("run", "environment.json"))

    def test_a_finished_run_is_not_taken_for_another(self):
        self.train("run")
        before = tree(self.folder / "run")
        refused = self.train("run", "--resume", "--set", "train.max_steps=23", "--set", "model.width=32", code=2)
        for words in ("finished", "train.max_steps: 20 -> 23", "model.width: 16 -> 32"):
            self.assertIn(words, refused.err)
        self.assertIn("finished", self.train("run", "--resume", "--set", "decode.beam=2").err)
        self.assertEqual(tree(self.folder / "run"), before)

    def test_in_the_middle_of_an_epoch_with_accumulation(self):
        more = ("--set", "train.accumulate=4", "--set", "train.schedule=constant")
        self.train("run", *more, "--set", "train.max_steps=11")
        (self.folder / "run/result.json").unlink()  # as if broken off there
        self.train("run", *more, "--set", "train.max_steps=24", "--resume")
        self.train("unbroken", *more, "--set", "train.max_steps=24")
        self.assert_same_bits("run", "unbroken")

    def test_a_live_run_is_left_alone(self):
        process = self.start("run", "tiny.yaml", "--out", "run", "--set", "train.max_steps=100000000", "--set", "train.log_every=1")
        self.wait_until(lambda: self.step_logged("run") >= 3, process, "step 3")
        self.assertIn("at work", self.train("run", "--resume", code=1).err)
        self.assertIn("at work", self.train("run", "--overwrite", code=1).err)
        self.assertIsNone(process.poll())
        process.terminate()
        self.assertEqual(process.wait(60), 143)


if __name__ == "__main__":
    main()
