"""Defaults are what tests/golden/defaults.json says: runs and claims are told apart by what differs from them."""

import json
import sys

from support import PROGRAM, SOURCE, SystemTest, main

sys.path.append(str(SOURCE / "tests/golden"))
import defaults  # noqa: E402


class Defaults(SystemTest):
    def test_they_are_as_they_were(self):
        known, now = json.loads(defaults.FILE.read_text()), defaults.defaults(PROGRAM)
        self.assertEqual(known["versions"], defaults.versions(), "run tests/golden/defaults.py")
        for part, file in defaults.PARTS.items():
            with self.subTest(part=part):
                self.assertGreater(len(now[part]), 10)
                self.assertEqual(defaults.changed(known["defaults"][part], now[part]), [],
                                 f"all {part} are others then: count kDefaults of {file} up, and run tests/golden/defaults.py")
                self.assertEqual(known["defaults"][part].keys(), now[part].keys(),
                                 "keys have come or gone: run tests/golden/defaults.py")


if __name__ == "__main__":
    main()
