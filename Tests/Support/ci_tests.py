#!/usr/bin/env python3
"""Tests of Scripts/ci-sets: a check that is never due finds nothing."""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader

sys.dont_write_bytecode = True
ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
loader = SourceFileLoader("ci_sets", os.path.join(ROOT, "Scripts", "ci-sets"))
ci_sets = importlib.util.module_from_spec(importlib.util.spec_from_loader("ci_sets", loader))
loader.exec_module(ci_sets)


def due(turn, *paths, owed=(), last=()):
    """What is due where all checks have seen the same paths change."""
    return ci_sets.due(turn, {name: paths for name in ci_sets.CHECKS}, owed, last)


def turn_of(check):
    """A turn that chooses the check."""
    return next(turn for turn, names in enumerate(ci_sets.SETS) if check in names)


class DueTests(unittest.TestCase):
    def test_every_check_has_its_turn(self):
        self.assertEqual({name for names in ci_sets.SETS for name in names} | {"static"}, set(ci_sets.CHECKS))
        turns = range(100, 100 + len(ci_sets.SETS))
        self.assertEqual({name for turn in turns for name in due(turn, "Docs/Tour.md")}, set(ci_sets.CHECKS))

    def test_a_path_makes_its_checks_due(self):
        for path, checks in {
            "Sources/Domain/LeaseCore/LeaseRules.swift": ["lease-histories", "two-hosts", "chaos"],
            "Sources/Domain/SyncCore/SyncMachine.swift": ["lease-histories", "two-hosts", "chaos"],
            "Sources/CloudEtcd/EtcdClient.swift": ["lease-histories", "two-hosts", "chaos"],
            "Sources/Gateway/Relay/RelayUplink.swift": ["lease-histories", "two-hosts", "chaos"],
            "Sources/BluetoothCore/ATTPDU.swift": ["static", "lab"],
            "Sources/BlueZTransport/GATTSerialChannel.swift": ["static", "lab"],
            "Sources/USBTransport/USBDevice.swift": ["static", "lab"],
            "Sources/GatewayServer/Page/app.js": ["web-test", "fuzz-api", "python"],
            "Sources/GatewayAPI/ReadingBody.swift": ["python"],
            "Clients/Python/meter_gateway/host.py": ["python"],
            "Sources/Domain/HomeAutomationCore/BridgeMachine.swift": ["mqtt"],
            "Sources/Notifications/Notifier.swift": ["influx"],
            "Sources/Domain/InfluxCore/SendMachine.swift": ["influx"],
            "Sources/Domain/MetricsCore/Metric.swift": ["prometheus"],
            "Packaging/meterd.toml": ["static", "deb-test", "image-test"],
            "Scripts/build-static": ["static", "deb-test", "image-test"],
            "Docs/Tour.md": [],
        }.items():
            for turn in range(len(ci_sets.SETS)):
                chosen = due(turn, "README.md")
                with self.subTest(path=path, turn=turn):
                    self.assertEqual(set(due(turn, path)), set(chosen) | set(checks))

    def test_what_all_stand_on_makes_the_next_set_due(self):
        for path in ("Package.swift", "Makefile", ".ci/run", "Sources/MeterTestKit/LogBook.swift", "Tests/Support/harness/waiting.py"):
            with self.subTest(path=path):
                self.assertEqual(set(due(0, path)), set(due(0)) | set(due(1)))
        for path in (".ci/turn", ".ci/due", "Sources/Package.swift"):
            with self.subTest(path=path):
                self.assertEqual(due(0, path), due(0))

    def test_the_turns_set_is_first_then_what_is_owed_then_what_waited_longest(self):
        turn = turn_of("mutants")
        self.assertEqual(
            due(turn, "Sources/HomeAutomation/x", "Sources/Domain/MetricsCore/x", owed=["model", "gone"], last=["mqtt", "prometheus"]),
            ["mutants", "model", "mqtt", "prometheus"])

    def test_the_package_is_built_first_where_a_check_needs_it(self):
        for check in ci_sets.NEEDS_STATIC:
            self.assertEqual(due(turn_of("mutants"), owed=[check])[0], "static")

    def test_every_check_can_be_made(self):
        with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as file:
            targets = set(re.findall(r"^([a-z0-9-]+):", file.read(), re.MULTILINE))
        with open(os.path.join(ROOT, ".ci", "run"), encoding="utf-8") as file:
            cases = set(re.findall(r"^        ([a-z0-9-]+)\) ", file.read(), re.MULTILINE))
        self.assertEqual(set(ci_sets.CHECKS) - targets - cases, set())



    def test_github_runs_every_set(self):
        with open(os.path.join(ROOT, ".github", "workflows", "ci.yml"), encoding="utf-8") as file:
            targets = re.findall(r"^ {10}- (.*)$", file.read(), re.MULTILINE)
        self.assertEqual([target.split() for target in targets], ci_sets.SETS)


class HistoryTests(unittest.TestCase):
    """What git says, in a repository of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.git("init", "-q")
        self.commit("Sources/Domain/MetricsCore/Metric.swift", "a")

    def git(self, *arguments):
        """Runs git as nobody in particular."""
        run = ["git", "-C", self.folder, "-c", "user.name=n", "-c", "user.email=e", *arguments]
        return subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self, path, text):
        """Commits a file, and returns the commit."""
        os.makedirs(os.path.dirname(os.path.join(self.folder, path)), exist_ok=True)
        with open(os.path.join(self.folder, path), "w", encoding="utf-8") as file:
            file.write(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", path)
        return self.git("rev-parse", "--short", "HEAD")

    def printed(self, *arguments):
        """What is due, each with the commit that chose it last."""
        run = subprocess.run(
            [os.path.join(ROOT, "Scripts", "ci-sets"), *arguments], capture_output=True, text=True, check=True, cwd=self.folder)
        return {line.split("\t")[0]: line.split("\t")[3] for line in run.stdout.splitlines()}

    def test_without_history_every_touched_area_is_due(self):
        self.commit(".ci/turn", str(turn_of("mutants")))
        self.assertEqual(self.printed(), {"mutants": "never", "prometheus": "never"})

    def test_what_changed_since_a_checks_last_turn_makes_it_due_until_its_next(self):
        prometheus, mutants = turn_of("prometheus"), turn_of("mutants")
        chosen = self.commit(".ci/turn", str(prometheus))
        self.commit(".ci/turn", str(mutants))
        self.assertEqual(list(self.printed()), ["mutants"])
        self.commit("Sources/Domain/MetricsCore/Metric.swift", "b")
        self.commit(".ci/turn", str(mutants + len(ci_sets.SETS)))
        self.assertEqual(self.printed()["prometheus"], chosen)
        self.commit(".ci/turn", str(prometheus + len(ci_sets.SETS)))
        self.commit(".ci/turn", str(mutants + 2 * len(ci_sets.SETS)))
        self.assertEqual(list(self.printed()), ["mutants"])

    def test_what_is_owed_is_due(self):
        self.commit(".ci/turn", str(turn_of("mutants")))
        self.commit(".ci/due", "model\n")
        self.assertEqual(self.printed()["model"], "never")

    def test_everything_is_everything(self):
        self.assertEqual(list(self.printed("--all")), list(ci_sets.CHECKS))


if __name__ == "__main__":
    unittest.main(verbosity=1)
