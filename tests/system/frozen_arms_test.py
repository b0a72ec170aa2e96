"""Every arm of the studies of frozen bodies that need no data finds its weights: one step of each, from a small body."""

from support import SOURCE, SystemTest, main

STUDIES = ("xor", "bit_memory", "list_ops", "transplant", "few_parameters", "ladder", "map", "minilm_xor", "minilm_bit_memory",
           "minilm_list_ops", "smollm2_xor", "smollm2_bit_memory", "smollm2_list_ops")
SMALL = ("data.task.train=64", "data.task.valid=16", "data.task.test=16", "train.max_steps=1", "train.validate_every=1",
         "study.only=[]", "model.layers=4", "study.prepare.body.model.layers=4", "study.prepare.body.train.max_steps=1", "study.prepare.body.data.task.train=200")


class FrozenArms(SystemTest):
    def test_every_arm_starts(self):
        for study in STUDIES:
            with self.subTest(study=study):
                done = self.attnlab("run", SOURCE / f"configs/frozen/{study}.yaml", "--quick", "--jobs", "2",
                                    *(word for assignment in SMALL for word in ("--set", assignment)))
                self.assertNotIn("warning", done.err)
                prefix = "" if study.startswith(("minilm", "smollm2")) else "frozen_"
                arms = self.json("runs", f"{prefix}{study}-quick", "study/results.json")["arms"]
                self.assertGreater(len(arms), 3)
                for arm in arms:
                    self.assertEqual([(run["status"], run["values"]["step"]) for run in arm["runs"]], [("done", 1)], arm["name"])


if __name__ == "__main__":
    main()
