"""The module that the README shows is the one that `attnlab new attention` writes."""

import pathlib
import subprocess
import tempfile
import unittest

from support import PROGRAM, SOURCE


class ReadmeModule(unittest.TestCase):
    def test_same_text(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, "new", "attention", "my_attention", "--out", folder], check=True, capture_output=True)
            written = pathlib.Path(folder, "my_attention.cpp").read_text()
        self.assertIn("```cpp\n" + written + "```", (SOURCE / "README.md").read_text())
        self.assertLessEqual(written.count("\n"), 80)


if __name__ == "__main__":
    unittest.main()
