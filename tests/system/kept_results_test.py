"""The tables in experiments/ are those that the program makes of the results beside them."""

import re

from support import SOURCE, SystemTest, main


class KeptResults(SystemTest):
    def test_tables_are_written_by_the_tool(self):
        files = sorted(file for file in SOURCE.glob("experiments/*/results/*.json") if not file.name.endswith(".expectations.json"))
        self.assertGreater(len(files), 10)
        for file in files:
            with self.subTest(file=file.name):
                readme = (file.parents[1] / "README.md").read_text()
                marks = rf"<!-- results {file.stem} -->\n(.*?)<!-- end of results {file.stem} -->"
                self.assertEqual(re.findall(marks, readme, re.S), [self.attnlab("results", file, "--markdown").out])

    def test_the_board_is_written_by_the_tool(self):
        readme = (SOURCE / "experiments/README.md").read_text()
        board = self.attnlab("board", "--markdown", "--experiments", SOURCE / "experiments").out
        self.assertEqual(re.findall(r"<!-- results board -->\n(.*?)<!-- end of results board -->", readme, re.S), [board])

    def test_every_table_has_its_results(self):
        for readme in SOURCE.glob("experiments/*/README.md"):
            for name in re.findall(r"<!-- results (\S+) -->", readme.read_text()):
                self.assertTrue((readme.parent / "results" / f"{name}.json").exists(), f"{readme}: {name}")


if __name__ == "__main__":
    main()
