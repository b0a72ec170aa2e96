"""Defaults are what tests/golden/defaults.json says: runs are told apart by what differs from them."""

import json
import sys

from support import PROGRAM, SOURCE, SystemTest, main

sys.path.append(str(SOURCE / "tests/golden"))
import defaults  # noqa: E402


class Defaults(SystemTest):
    def test_they_are_as_they_were(self):
        known, now = json.loads(defaults.FILE.read_text()), defaults.defaults(PROGRAM)
        self.assertEqual(known["version"], defaults.version(), "run tests/golden/defaults.py")
        self.assertEqual(defaults.changed(known["defaults"], now), [], "all runs are others then: count kDefaults of "
                         "framework/study/identity.cpp up, and run tests/golden/defaults.py")
        self.assertEqual(known["defaults"].keys(), now.keys(), "keys have come or gone: run tests/golden/defaults.py")


if __name__ == "__main__":
    main()
