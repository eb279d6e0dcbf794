#!/usr/bin/env python3
"""Tests of the judge's words about a store that went back, by journals of a few calls: in a run of minutes what would catch it out comes
by chance. Run before each run; wants the program Chaos."""

import os
import sys
import tempfile
import unittest
import uuid

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Support"))
from harness import BIN, run  # noqa: E402

SECOND = 1_000_000_000
# Seconds, on the clock of every journal.
BACK, RESTORED = 1000, 2000
# As a restored store gives them out (Docs/Scale.md): unix seconds times 2^20.
LATE = 1_795_000_000 << 20


class Restores(unittest.TestCase):
    def complaints(self, *grants, back=None):
        """What the judge finds, where a meter is given to somebody else each time: when each called, got its answer, and which token."""
        lines = []
        for number, (called, answered, token) in enumerate(grants):
            ids = " ".join(str(uuid.UUID(int=4 * number + part)) for part in (1, 2, 3))
            lines.append(f"call {number} {called * SECOND} home usb:0484:0001:m acquire {ids} - -\n")
            lines.append(f"end {number} {answered * SECOND} granted {token}\n")
        with tempfile.NamedTemporaryFile("w", suffix=".journal") as journal:
            journal.write("".join(lines))
            journal.flush()
            options = [f"wentback={back * SECOND}"] if back else []
            said = run([os.path.join(BIN, "Chaos"), "judge", "end=no", f"restored={RESTORED * SECOND}", *options, journal.name],
                       check=False)
        self.assertIn(said.status, (0, 2), said)
        found = [line for line in said.out.splitlines() if line.startswith("complaint ")]
        # Nobody in these journals was told that the store went back.
        return [line for line in found if "no host was told" not in line]

    def test_who_asks_right_after_a_restore_gets_nothing(self):
        found = self.complaints((RESTORED + 1, RESTORED + 2, LATE))
        self.assertEqual(len(found), 1)
        self.assertIn("was given away right after a restore", found[0])

    def test_an_answer_that_was_on_its_way_is_of_the_store_before(self):
        self.assertEqual(self.complaints((RESTORED - 3, RESTORED + 2, 7)), [])

    def test_one_of_the_restored_store_is_known_by_its_token(self):
        found = self.complaints((RESTORED - 3, RESTORED + 2, LATE))
        self.assertEqual(len(found), 1)
        self.assertIn("was given away right after a restore", found[0])

    def test_tokens_go_on_from_the_greatest(self):
        late = RESTORED + 10_000
        self.assertEqual(self.complaints((10, 11, 7), (late, late + 1, LATE)), [])
        found = self.complaints((10, 11, LATE + 1), (late, late + 1, LATE))
        self.assertEqual(len(found), 1)
        self.assertIn(f"got the token {LATE} after {LATE + 1}", found[0])

    def test_a_token_twice_is_forgiven_only_to_a_store_that_went_back_without_a_word(self):
        # The second store's answer is on its way when it is restored.
        for answered in (RESTORED - 5, RESTORED + 1):
            self.assertEqual(self.complaints((10, 11, 7), (RESTORED - 6, answered, 7), back=BACK), [])
        late = RESTORED + 10_000
        found = self.complaints((late, late + 1, LATE), (late + 2, late + 3, LATE), back=BACK)
        self.assertTrue(any("twice" in line for line in found), found)


if __name__ == "__main__":
    unittest.main()
