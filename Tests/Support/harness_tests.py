#!/usr/bin/env python3
"""Tests of the harness itself: a mistake in it would hide the failures of all that is tested with it."""

import os
import signal
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
from harness import Ended, Failure, Program, changes, free_ports, readings, run, seconds_until, stop_all, wait, widest_gap


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


class WaitTests(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        patch = mock.patch("harness.waiting.time", self.clock)
        patch.start()
        self.addCleanup(patch.stop)

    def test_what_is_there_is_returned_at_once(self):
        self.assertEqual(wait("it", lambda: "here", 5), "here")
        self.assertEqual(self.clock.now, 1000)

    def test_what_comes_is_waited_for(self):
        self.assertEqual(wait("it", lambda: self.clock.now >= 1003 and "here", 5), "here")
        self.assertAlmostEqual(seconds_until("it", lambda: self.clock.now >= 1007, 5), 4, delta=0.2)

    def test_what_never_comes_fails_with_what_was_seen_last(self):
        with self.assertRaisesRegex(Failure, "^not within 5 s: a meter; last seen: 'offline'$"):
            wait("a meter", lambda: "offline", 5, until=lambda state: state == "ready")
        self.assertAlmostEqual(self.clock.now, 1005, delta=0.2)

    def test_nothing_and_false_say_no_more_than_the_words(self):
        for nothing in (None, False):
            with self.assertRaisesRegex(Failure, "^not within 5 s: a meter$"):
                wait("a meter", lambda nothing=nothing: nothing, 5)

    def test_zero_is_something_where_the_caller_says_so(self):
        self.assertEqual(wait("a leader", lambda: 0, 5, until=lambda index: index is not None), 0)

    def test_it_looks_once_even_without_time(self):
        self.assertEqual(wait("it", lambda: "here", 0), "here")

    def test_a_failure_of_the_look_is_not_waited_out(self):
        with self.assertRaisesRegex(Failure, "^refused$"):
            wait("it", self.raise_(Failure("refused")), 5)
        self.assertEqual(self.clock.now, 1000)

    def test_a_failure_that_may_pass_is_said_in_the_end(self):
        with self.assertRaisesRegex(Failure, "^not within 5 s: it; last seen: OSError: refused$"):
            wait("it", self.raise_(OSError("refused")), 5, retry=(OSError,))

    def test_the_end_of_a_program_is_never_waited_out(self):
        with self.assertRaisesRegex(Ended, "^it ended$"):
            wait("it", self.raise_(Ended("it ended")), 5, retry=(Failure,))
        self.assertEqual(self.clock.now, 1000)

    def test_words_may_be_found_late_and_the_error_be_another(self):
        with self.assertRaisesRegex(LookupError, "^not within 5 s: seen at 1005"):
            wait(lambda: f"seen at {self.clock.now}", lambda: None, 5, error=LookupError)

    @staticmethod
    def raise_(error):
        def look():
            raise error
        return look


class ProgramTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="harness-")
        self.folder = folder.name
        self.addCleanup(folder.cleanup)

    def program(self, script, **options):
        program = Program("it", ["sh", "-c", script], self.folder, **options)
        self.addCleanup(program.kill)
        program.start()
        return program

    def test_words_of_an_earlier_start_are_not_taken_for_new_ones(self):
        program = self.program('read -r word; echo "said $word"; sleep 100', takes_orders=True)
        program.order("one")
        program.wait_for("said one", 20)
        program.kill()
        program.start()
        self.assertNotIn("said one", program.log)
        self.assertIn("said one", program.logged())
        program.order("two")
        program.wait_for("said two", 20)

    def test_a_program_that_ended_is_not_waited_for(self):
        program = self.program("echo no room >&2; exit 3")
        with self.assertRaisesRegex(Ended, "^it ended with 3: no room$"):
            program.wait_for("ready", 600)

    def test_the_last_words_of_a_program_are_seen(self):
        program = self.program("echo finished")
        self.assertEqual(program.wait_for("finished", 600).group(0), "finished")

    def test_stop_says_how_it_did_not_end_well(self):
        program = self.program("trap 'echo trouble; exit 4' TERM; echo ready; while :; do sleep 0.01; done")
        program.wait_for("ready", 20)
        with self.assertRaisesRegex(Failure, "^it ended with 4: ready / trouble$"):
            program.stop(20, status=0)

    def test_stop_says_that_it_had_ended_by_itself(self):
        for status in (0, 5):
            program = self.program(f"exit {status}")
            program.process.wait(20)
            with self.assertRaisesRegex(Failure, f"^it had ended by itself with {status}: "):
                program.stop(20, status=0)

    def test_one_that_was_killed_has_not_ended_by_itself(self):
        program = self.program("exec sleep 100")
        self.assertEqual(program.kill(), -signal.SIGKILL)
        program.stop(20, status=0)

    def test_what_does_not_end_is_killed_and_fails(self):
        program = self.program("trap '' TERM; echo ready; while :; do sleep 0.01; done")
        program.wait_for("ready", 20)
        with self.assertRaisesRegex(Failure, r"^it did not end within 0.3 s of SIGTERM: (sh|bash|dash) [A-Z] \w+; ready"):
            program.stop(0.3)
        self.assertFalse(program.runs)

    def test_what_is_held_can_be_stopped(self):
        program = self.program("trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done")
        program.wait_for("ready", 20)
        program.signal(signal.SIGSTOP)
        program.stop(20, status=0)

    def test_all_are_stopped_whatever_becomes_of_one(self):
        programs = [self.program("exit 6"), self.program("exec sleep 100"), self.program("exit 7")]
        for program in (programs[0], programs[2]):
            program.process.wait(20)
        with self.assertRaisesRegex(Failure, "with 6: .*; .* ended with -15: .*; .* with 7: "):
            stop_all(programs, 20, status=0)
        self.assertFalse(programs[1].runs)

    def test_it_ends_with_the_program_that_started_it(self):
        # That one ends at once: in some of the rounds before the kernel was asked for the signal.
        script = ("import sys; from harness import Program; program = Program('it', ['sleep', '100'], sys.argv[1]); "
                  "program.start(); print(program.pid, flush=True); import os; os._exit(0)")
        here = os.path.dirname(os.path.abspath(__file__))
        for _ in range(20):
            child = int(run([sys.executable, "-B", "-c", script, self.folder], 60, cwd=here).out)
            wait("it is gone", lambda: is_dead(child), 60)


def is_dead(pid):
    """Nobody may have waited for it."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


class CommandTests(unittest.TestCase):
    def test_a_command_that_fails_fails(self):
        with self.assertRaisesRegex(Failure, "^sh -c echo no >&2; exit 2: exit 2, no$"):
            run(["sh", "-c", "echo no >&2; exit 2"], 20)
        self.assertEqual(run(["sh", "-c", "echo no >&2; exit 2"], 20, check=False).status, 2)

    def test_a_command_that_hangs_fails(self):
        with self.assertRaisesRegex(Failure, "^sleep 100 did not end within 0.2 s$"):
            run(["sleep", "100"], 0.2, check=False)

    def test_free_ports_are_different_ones(self):
        self.assertEqual(len(set(free_ports(20))), 20)


class ReadingTests(unittest.TestCase):
    def test_each_line_is_a_reading(self):
        said = '{"time": "2026-11-25T04:00:00.000Z", "voltage_V": 5.1}\n{"time": "2026-11-25T04:00:01.000Z"}\n'
        self.assertEqual([line.get("voltage_V") for line in readings(said)], [5.1, None])
        with self.assertRaises(ValueError):
            readings(said + "attic has it\n")

    def test_changes_are_what_differs_from_the_one_before(self):
        self.assertEqual(changes(["attic", "attic", None, "attic"]), ["attic", None, "attic"])
        self.assertEqual(changes([]), [])

    def test_the_widest_gap_is_found_over_midnight(self):
        times = ["2026-11-24T23:59:58.500Z", "2026-11-24T23:59:59.000Z", "2026-11-25T00:00:01.250Z", "2026-11-25T00:00:02.000Z"]
        self.assertAlmostEqual(widest_gap(times), 2.25)


if __name__ == "__main__":
    unittest.main()
