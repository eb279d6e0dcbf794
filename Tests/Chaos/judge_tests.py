#!/usr/bin/env python3
"""Tests of the judge's words about a store that went back, about commands and about a zone without room, by journals of a few calls: in a
run of minutes what would catch it out comes by chance. Run before each run; wants the program Chaos."""

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


def judged(case, lines, *options):
    """What the judge finds in a journal."""
    with tempfile.NamedTemporaryFile("w", suffix=".journal") as journal:
        journal.write("".join(f"{line}\n" for line in lines))
        journal.flush()
        said = run([os.path.join(BIN, "Chaos"), "judge", "end=no", *options, journal.name], check=False)
    case.assertIn(said.status, (0, 2), said)
    found = [line for line in said.out.splitlines() if line.startswith("complaint ")]
    # Nobody in these journals was told that the store went back.
    return [line for line in found if "no host was told" not in line]


def acquire(number, called, answered, outcome, meter="m"):
    """The lines of a call by somebody new."""
    ids = " ".join(str(uuid.UUID(int=4 * number + part)) for part in (1, 2, 3))
    return [f"call {number} {called * SECOND} home usb:0484:0001:{meter} acquire {ids} - -", f"end {number} {answered * SECOND} {outcome}"]


class Commands(unittest.TestCase):
    def complaints(self, *events):
        return judged(self, [event.replace("it", str(uuid.UUID(int=1)), 1) for event in events])

    def test_one_that_was_done_once_is_done_or_not_known(self):
        self.assertEqual(self.complaints("heard it done true true", "did it", "heard it timedOut false false"), [])
        self.assertEqual(self.complaints("heard it notDone false false", "heard it timedOut true false"), [])

    def test_two_copies_that_each_let_it_be_done(self):
        self.assertIn("was done 2 times", self.complaints("did it", "did it")[0])

    def test_whoever_asks_after_a_change_of_hands_hears_no_denial(self):
        for said in ("notDone", "refused"):
            found = self.complaints("did it", "heard it done false false", f"heard it {said} true true")
            self.assertIn("heard that it was not", found[0])

    def test_an_outcome_that_nobody_made(self):
        self.assertIn("nobody did", self.complaints("heard it done true false")[0])


class Limits(unittest.TestCase):
    def test_only_a_meter_that_never_had_a_lease_may_be_refused_for_want_of_room(self):
        refused = "refused exhausted ? ?"
        self.assertEqual(judged(self, acquire(1, 10, 11, "granted 1") + acquire(2, 12, 13, refused, meter="other")), [])
        # The refusal may have come first.
        self.assertEqual(judged(self, acquire(1, 10, 13, "granted 1") + acquire(2, 12, 14, refused)), [])
        found = judged(self, acquire(1, 10, 11, "granted 1") + acquire(2, 12, 13, refused))
        self.assertIn("refused for want of room", found[0])

    def test_a_zone_has_no_more_leases_than_its_limit(self):
        for count, limited, found in ((24, "yes", 0), (25, "yes", 1), (25, "no", 0)):
            lines = [line for number in range(count) for line in acquire(number, 10, 11, "granted 1", meter=number)]
            self.assertEqual(len(judged(self, lines, f"limited={limited}")), found)


class Restores(unittest.TestCase):
    def complaints(self, *grants, back=None):
        """What the judge finds, where a meter is given to somebody else each time: when each called, got its answer, and which token."""
        lines = [line for number, (called, answered, token) in enumerate(grants)
                 for line in acquire(number, called, answered, f"granted {token}")]
        options = [f"wentback={back * SECOND}"] if back else []
        return judged(self, lines, f"restored={RESTORED * SECOND}", *options)

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
