"""The same weights whatever the number of threads, and however a step is cut."""

from support import SystemTest, environment, main, read_weights


class SameBits(SystemTest):
    def test_any_number_of_threads(self):
        runs = []
        for threads in (1, 2, 3, 7):
            self.train(f"threads-{threads}", "--set", "train.max_steps=12", "--set", "model.width=48",
                       "--set", "train.batch_tokens=600", env=environment(OMP_NUM_THREADS=str(threads)))
            self.assertEqual(self.json(f"threads-{threads}", "environment.json")["threads"], threads)
            runs.append(f"threads-{threads}")
        for run in runs[1:]:
            self.assert_same_bits(runs[0], run)

    def test_accumulation_is_the_same_step(self):
        # SGD in f64: AdamW would turn the last bits of vanishing gradients into whole steps.
        more = ("--set", "precision=f64", "--set", "train.optimizer=sgd", "--set", "train.max_steps=6")
        for count in (1, 4):
            self.train(f"cut-{count}", *more, "--set", f"train.accumulate={count}")
        one, four = (read_weights(self.folder / f"cut-{count}/checkpoints/last/model.safetensors") for count in (1, 4))
        for name, values in one.items():
            for a, b in zip(values, four[name]):
                self.assertAlmostEqual(a, b, delta=1e-9, msg=name)


if __name__ == "__main__":
    main()
