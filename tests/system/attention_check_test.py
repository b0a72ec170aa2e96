"""attnlab check attention explains its table; lists say what kinds promise, and how the arrays of a probe are read."""

import json
import re

from support import SOURCE, SystemTest, main


class CheckAttention(SystemTest):
    def test_header_rows_and_one_legend(self):
        out = self.attnlab("check", "attention", "linear", "scaled_dot", "--only", "dropout").out
        tables, legend = out.split("worst: ")
        first, second = re.split("(?m)^attention ", tables)[1:]
        for table, kind, row in ((first, "linear", "not promised +0  it drops no weights"), (second, "scaled_dot", "passed +0  same bits")):
            name, header, found = table.rstrip("\n").split("\n")
            self.assertEqual(name, kind)
            self.assertEqual(header.split(), ["property", "outcome", "worst", "at"])
            self.assertRegex(found, f"^  dropout +{row}$")
            self.assertEqual(header.index("outcome"), found.index(row.split(" +")[0]))
        self.assertEqual(re.findall("(?m)^([a-z ]+): ", legend), ["at", "passed", "failed", "refused cleanly", "not promised"])

    def test_a_rate_for_the_whole_model_is_no_error(self):
        for kind in ("linear", "none", "uniform", "linformer"):
            with self.subTest(kind=kind):
                self.attnlab("run", "tiny.yaml", "--dry-run", "--set", "model.dropout=0.3", "--set", f"model.encoder.attention.kind={kind}")


class Lists(SystemTest):
    def test_promises(self):
        kinds = {entry["name"]: entry["promises"] for entry in json.loads(self.attnlab("list", "attention", "--json").out)}
        for kind, dropout, exact in (("scaled_dot", True, True), ("shared_query_key", True, True), ("window", True, True),
                                     ("uniform", True, False), ("linformer", True, False), ("linear", False, False), ("none", False, False)):
            self.assertEqual((kinds[kind]["dropout"], kinds[kind]["exact"]), (dropout, exact), kind)
        self.assertIn("dependence, dropout, exact; cost T S\n", self.attnlab("list", "attention").out)

    def test_the_reader_of_arrays_is_there(self):
        docs = {entry["name"]: entry["doc"] for entry in json.loads(self.attnlab("list", "probe", "--json").out)}
        script = re.search(r"read_npz\(\) of (\S+\.py)", docs["attention_maps"]).group(1)
        self.assertIn("def read_npz(path):", (SOURCE / script).read_text())


if __name__ == "__main__":
    main()
