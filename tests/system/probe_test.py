"""attnlab probe, as a user meets it: files that NumPy reads, text of one's own, what it refuses."""

import hashlib
import json
import subprocess
import sys

from support import SystemTest, main

NUMPY_READS = """
import json, sys
import numpy
arrays = numpy.load(sys.argv[1])
print(json.dumps({name: [list(arrays[name].shape), str(arrays[name].dtype), arrays[name].tolist()] for name in arrays}))
"""


def python_with_numpy():
    """An interpreter that can import numpy, or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
                return python
        except OSError:
            pass
    return None


class ProbeTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.train("run")

    def digest(self):
        return {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((self.folder / "run").rglob("*"))
            if path.is_file()
        }

    def probe(self, *arguments, **more):
        return self.attnlab("probe", "run", *arguments, **more)

    def test_files_of_every_probe_and_a_run_left_as_it_was(self):
        before = self.digest()
        names = [entry["name"] for entry in json.loads(self.attnlab("list", "probe", "--json").out)]
        self.assertIn("residual_norm", names)
        some = [name for name in names if name not in ("head_pruning", "path_decomposition")]
        done = self.probe(*some, "--out", "found", "--sentences", "5")
        self.assertEqual(self.digest(), before)
        rows = len(self.json("found", "attention_maps.json")["tables"]["tokens"]["rows"])
        self.assertIn(f"\n… {rows - 20} rows more\n", done.out)
        self.assertNotIn("rows more", self.probe("attention_maps", "--sentences", "5").out)
        for name in some:
            self.assertIn(name, done.out)
            found = self.json("found", name + ".json")
            self.assertEqual(found["about"]["probe"], name)
            self.assertEqual(found["about"]["sentences"], 5)
            self.assertTrue(found["numbers"])
            for table in found["tables"].values():
                for row in table["rows"]:
                    self.assertEqual(len(row), len(table["columns"]))

    def test_numpy_reads_the_arrays(self):
        python = python_with_numpy()
        if python is None:
            self.skipTest("SKIPPED: no Python with numpy here; tools/setup.sh installs one")
        self.write("text", "3 1 2\n1 3\n")
        self.probe("attention_maps", "--text", "text", "--out", "found")
        done = subprocess.run(
            [python, "-c", NUMPY_READS, str(self.folder / "found/attention_maps.npz")], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        arrays = json.loads(done.stdout)
        shape, kind, values = arrays["encoder.0.0"]
        self.assertEqual((shape, kind), ([2, 4, 4], "float32"))
        for head in values:
            for row in head:
                self.assertAlmostEqual(sum(row), 1, places=5)
        causal = arrays["decoder.0.1"][2]
        self.assertEqual(causal[0][0][1:], [0] * (len(causal[0]) - 1))
        tokens = self.json("found", "attention_maps.json")["tables"]["tokens"]["rows"]
        source = [token for sentence, side, _, token in tokens if sentence == 0 and side == "source"]
        self.assertEqual(source, ["3", "1", "2", "</s>"])

    def test_what_is_refused(self):
        done = self.probe("residual_nrom", code=2)
        self.assertIn("residual_norm", done.err)
        done = self.probe("residual_norm", "--set", "residual_norm.lo=1", code=2)
        self.assertIn("low", done.err)
        self.probe("residual_norm", "--set", "token_cosine.x=1", code=2)
        self.probe("residual_norm", "--split", "nothing", code=2)
        self.probe("residual_norm", "--precision", "f32", code=2)
        self.write("empty", "1 2\n\n")
        self.assertIn("line 2", self.probe("residual_norm", "--text", "empty", code=3).err)
        self.train("none", "--set", "model.attention=none", "--set", "model.cross_attention=none")
        done = self.attnlab("probe", "none", "attention_maps", code=2)
        self.assertIn("no attention", done.err)

    def test_interventions(self):
        def nll(*more):
            return json.loads(self.attnlab("eval", "run", "--json", *more).out)["splits"]["test"]["nll"]

        whole = nll()
        mean = nll("--ablate", "decoder.layers.0.cross_attention=mean")
        self.assertNotEqual(whole, mean)
        self.assertNotEqual(mean, nll("--ablate", "decoder.layers.0.cross_attention=zero"))
        self.assertNotEqual(whole, nll("--ablate", "*.heads.1=uniform"))
        self.attnlab("eval", "run", "--ablate", "nothing=zero", code=2)
        changed = json.loads(self.probe("token_cosine", "--json", "--ablate", "*.mlp=zero").out)
        self.assertEqual(changed["about"]["ablate"], "*.mlp=zero")
        plain = json.loads(self.probe("token_cosine", "--json").out)
        self.assertNotEqual(changed["numbers"], plain["numbers"])

    def test_the_weights_that_training_began_with(self):
        trained = json.loads(self.probe("residual_norm", "--json").out)
        initial = json.loads(self.probe("residual_norm", "--json", "--initial").out)
        self.assertNotEqual(trained["about"]["weights_crc32"], initial["about"]["weights_crc32"])
        self.assertEqual(initial["about"]["weights"], "initial weights")

    def test_the_weights_that_a_run_took_over_from_another(self):
        start = "run/checkpoints/last"
        self.train("later", "--set", f"model.from={start}")
        taken = json.loads(self.attnlab("probe", start, "residual_norm", "--json").out)
        initial = json.loads(self.attnlab("probe", "later", "residual_norm", "--json", "--initial").out)
        self.assertEqual(initial["about"]["weights_crc32"], taken["about"]["weights_crc32"])
        self.assertEqual(initial["numbers"], taken["numbers"])
        self.assertIn(start, initial["about"]["weights"])


if __name__ == "__main__":
    main()
