#!/usr/bin/env python3
"""Tests of Scripts/screen, on pieces of recorded output: what it hides would be seen by nobody."""

import json
import os
import pty
import signal
import subprocess
import tempfile
import time
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Scripts")
SCREEN, SLOWEST = os.path.join(SCRIPTS, "screen"), os.path.join(SCRIPTS, "slowest")

BUILD = """\
=== swift build --build-tests
warning: 'swift-distributed-tracing': found 1 file(s) which are unhandled; explicitly declare them as resources
    /work/.build/checkouts/swift-distributed-tracing/Sources/Tracing/CMakeLists.txt
[0/1] Planning build
Building for debugging...
[2/66] Compiling CBuildInfo CBuildInfo.c
"""
COMPILE_ERROR = """\
error: emit-module command failed with exit code 1 (use -v to see invocation)
[6/16] Emitting module SomeTests
/work/Tests/SomeTests/CatalogueTests.swift:86:13: error: initialization of immutable value 'unused' was never used
 85 |     @Test func numbers_areEqual() throws {
 86 |         let unused = 3
    |             `- error: initialization of immutable value 'unused' was never used
[7/16] Compiling SomeTests CatalogueTests.swift
/work/Tests/SomeTests/CatalogueTests.swift:86:13: error: initialization of immutable value 'unused' was never used
 85 |     @Test func numbers_areEqual() throws {
 86 |         let unused = 3
    |             `- error: initialization of immutable value 'unused' was never used
=== ended: 1
"""
WARNING = """\
/work/Sources/CLinux/shim.c:12:5: warning: unused variable 'size' [-Wunused-variable]
   12 |     int size;
"""
BUILT = """\
[25/25] Linking MeterGatewayPackageTests.xctest
Build complete! (17.42s)
=== swift test --skip-build
[0/1] Planning build
Test Suite 'All tests' started at 2026-11-28 23:00:34.457
\t Executed 0 tests, with 0 failures (0 unexpected) in 0.0 (0.0) seconds
◇ Test run started.
↳ Testing Library Version: 6.3.1 (937120cbc281cf2)
◇ Suite CatalogueTests started.
➜ Test hotPlug() skipped: "needs umockdev: make test"
➜ Test rowsOfOthers() skipped: "there is no folder: mkdir folder"
◇ Test case passing 1 argument text → "
error is a word
" to argument_isEven(_:) started.
"""
FAILED_TESTS = """\
✘ Test numbers_areEqual() recorded an issue at CatalogueTests.swift:86:9: Expectation failed: ([2, 6]) == [2, 7]
± inserted [6], removed [7]
✔ Test label_isEscaped() passed after 0.019 seconds.
✘ Test numbers_areEqual() recorded an issue at CatalogueTests.swift:85:6: Caught error: Boom(text: "no room")
✘ Test argument_isEven(_:) recorded an issue with 1 argument number → 1 at OtherTests.swift:92:74: Expectation failed
↳ of 1
◇ Test case passing 1 argument number → 2 to argument_isEven(_:) started.
✘ Test numbers_areEqual() failed after 0.020 seconds with 2 issues.
✘ Test argument_isEven(_:) with 4 test cases failed after 0.019 seconds with 1 issue.
✘ Suite CatalogueTests failed after 0.022 seconds with 3 issues.
✘ Test run with 22 tests in 5 suites failed after 0.023 seconds with 3 issues.
=== ended: 1
"""
CRASH = """\
log line of a test
Swift/ContiguousArrayBuffer.swift:692: Fatal error: Index out of range

*** Signal 4: Backtracing from 0x7f80b0d6df7f... done ***

*** Program crashed: Illegal instruction at 0x00007f80b0d6df7f ***

Thread 0 "MeterGatewayPac":

  0      0x00007f80af45a301 sigsuspend + 65 in libc.so.6

Thread 2 "oot.default-qos" crashed:

  2 [ra]   0x00007f80b1a39f65 specialized Array.subscript.getter + 84 in libswiftSwiftOnoneSupport.so
  3 [ra]   0x0000557171aefddd Some.inner(_:) + 188 in Some.xctest at /work/Tests/SomeTests/CatalogueTests.swift:96:72
  4 [ra]   0x0000557171af8bb7 Some.crash() + 278 in Some.xctest at /work/Tests/SomeTests/CatalogueTests.swift:95:54
  5 [ra]   0x0000557171aef757 static Some.$s16P() + 118 in Some.xctest at /tmp/swift-generated-sources/@__s.swift:1:2
 26 [async] [system] 0x00007f80b19de310 completeTaskWithClosure(swift::AsyncContext*) in libswift_Concurrency.so

Registers:

rax 0x0000000000000000  0
error: Process '/work/Some.xctest --testing-library swift-testing' exited with unexpected signal code 4
=== ended: 1
"""
PASSED = """\
✔ Test label_isEscaped() passed after 0.019 seconds.
✔ Suite CatalogueTests passed after 0.022 seconds.
✔ Test run with 4465 tests in 552 suites passed after 293.504 seconds.
slowest:    5.50 s  cases(_:)
"""
OTHER_STAGES = """\
=== umockdev-wrapper Some.xctest
✔ Test hotPlug() passed after 0.019 seconds.
✔ Test run with 1 test in 1 suite passed after 0.020 seconds.
=== Tests/Lab/run
skipped: the laboratory needs QEMU: make lab
=== ended: 0
"""
GREEN = BUILD + BUILT + PASSED + OTHER_STAGES
METERD = """\
=== meterd
2026-11-28T22:42:48.558Z info  meters restored known=0 wanted=0
2026-11-28T22:42:48.600Z warning the radio does not answer adapter=hci0
=== live printf 'ID  MODEL\\nm1  UM25C\\n'
meterd is running; its web page: http://127.0.0.1:8642/
2026-11-28T22:42:57.336Z info  meter state changed meter.id=m1 from=ready to=communicating
2026-11-28T22:42:57.400Z error the store is full
=== ended: 0
"""
TABLE = "ID  MODEL\nm1  UM25C\n"


class ScreenTests(unittest.TestCase):
    def setUp(self):
        self.maxDiff = None
        folder = tempfile.TemporaryDirectory(prefix="screen-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.log = os.path.join(self.folder, "log")
        for suite, file, test in [("SomeTests", "CatalogueTests", "numbers_areEqual"), ("SomeTests", "OtherTests", "x"),
                                  ("AnyTests", "OtherTests", "argument_isEven"), ("AnyTests", "MoreTests", "numbers_areEqual")]:
            os.makedirs(os.path.join(self.folder, "Tests", suite), exist_ok=True)
            self.write(os.path.join("Tests", suite, f"{file}.swift"), f"@Test func {test}() {{}}\n")

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def logged(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def screen(self, text, **environment):
        done = subprocess.run([SCREEN, self.log], input=text, capture_output=True, text=True, cwd=self.folder, check=True,
                              env={**os.environ, "V": "", **environment})
        self.assertEqual(done.stderr, "")
        return done.stdout

    def judge(self, text, *options):
        if text is not None:
            self.write("log", text)
        done = subprocess.run([SCREEN, "--judge", *options, "log"], capture_output=True, text=True, cwd=self.folder, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()

    def test_green_run_is_stages_and_closing_lines(self):
        self.assertEqual(self.screen(GREEN), """\
=== swift build --build-tests
Build complete! (17.42s)
=== swift test --skip-build
✔ Test run with 4465 tests in 552 suites passed after 293.504 seconds.
=== umockdev-wrapper Some.xctest
✔ Test run with 1 test in 1 suite passed after 0.020 seconds.
=== Tests/Lab/run
skipped: there is no folder: mkdir folder (rowsOfOthers())
skipped: the laboratory needs QEMU: make lab
slowest:    5.50 s  cases(_:)
""")
        self.assertEqual(self.logged(), GREEN)

    def test_slowest_tests_are_those_that_ran_long_and_not_those_that_waited(self):
        events = [{"kind": "function", "id": "A.B/plain()/B.swift:1:2", "isParameterized": False}]
        for kind, name, moment in [
                ("testStarted", "plain()", 1), ("testStarted", "cases(_:)", 1), ("testCaseStarted", "cases(_:)", 1),
                ("testCaseEnded", "cases(_:)", 6), ("testEnded", "plain()", 8), ("testCaseStarted", "cases(_:)", 8),
                ("testCaseEnded", "cases(_:)", 8.5), ("testEnded", "cases(_:)", 9)]:
            events.append({"kind": kind, "testID": f"A.B/{name}/B.swift:1:2", "instant": {"absolute": moment}, "_testCase": {}})
        self.write("events", "".join(json.dumps({"payload": event}) + "\n" for event in events) + '{"payl')
        done = subprocess.run([SLOWEST, "events", "1"], capture_output=True, text=True, cwd=self.folder, check=True)
        self.assertEqual(done.stdout, "slowest:    5.50 s  cases(_:)\nslowest:    2.00 s  plain()\n")

    def test_each_diagnostic_is_shown_whole_and_once(self):
        self.assertEqual(self.screen(BUILD + WARNING + COMPILE_ERROR), f"""\
=== swift build --build-tests
{WARNING}error: emit-module command failed with exit code 1 (use -v to see invocation)
/work/Tests/SomeTests/CatalogueTests.swift:86:13: error: initialization of immutable value 'unused' was never used
 85 |     @Test func numbers_areEqual() throws {{
 86 |         let unused = 3
    |             `- error: initialization of immutable value 'unused' was never used
swift build --build-tests: ended with 1
again: swift build --build-tests
""")

    def test_failed_test_is_shown_with_the_command_that_repeats_it(self):
        self.assertEqual(self.screen(BUILT + FAILED_TESTS), """\
Build complete! (17.42s)
=== swift test --skip-build
✘ Test numbers_areEqual() recorded an issue at CatalogueTests.swift:86:9: Expectation failed: ([2, 6]) == [2, 7]
± inserted [6], removed [7]
again: make quick TARGET=SomeTests ARGS="--filter numbers_areEqual"
✘ Test numbers_areEqual() recorded an issue at CatalogueTests.swift:85:6: Caught error: Boom(text: "no room")
✘ Test argument_isEven(_:) recorded an issue with 1 argument number → 1 at OtherTests.swift:92:74: Expectation failed
↳ of 1
again: make quick TARGET=AnyTests ARGS="--filter argument_isEven"
✘ Test run with 22 tests in 5 suites failed after 0.023 seconds with 3 issues.
swift test --skip-build: ended with 1
skipped: needs umockdev: make test (hotPlug())
skipped: there is no folder: mkdir folder (rowsOfOthers())
""")

    def test_crash_is_shown_with_its_calls_and_its_test(self):
        self.assertEqual(self.screen("=== swift test\n" + CRASH), """\
=== swift test
Swift/ContiguousArrayBuffer.swift:692: Fatal error: Index out of range
*** Program crashed: Illegal instruction at 0x00007f80b0d6df7f ***
Thread 2 "oot.default-qos" crashed:
  3 [ra]   0x0000557171aefddd Some.inner(_:) + 188 in Some.xctest at /work/Tests/SomeTests/CatalogueTests.swift:96:72
  4 [ra]   0x0000557171af8bb7 Some.crash() + 278 in Some.xctest at /work/Tests/SomeTests/CatalogueTests.swift:95:54
again: make quick TARGET=SomeTests ARGS="--filter crash"
error: Process '/work/Some.xctest --testing-library swift-testing' exited with unexpected signal code 4
swift test: ended with 1
""")

    def test_failure_that_it_does_not_know_is_the_end_of_the_stage(self):
        lines = "".join(f"line {number}\n" for number in range(50))
        self.assertEqual(
            self.screen("=== Tests/a b\nfine\n=== Tests/c\n" + lines + "=== ended: 3\n"),
            "=== Tests/a b\nfine\n=== Tests/c\n" + "".join(f"line {number}\n" for number in range(10, 50))
            + "Tests/c: ended with 3\nagain: Tests/c\n")
        self.assertEqual(self.screen("=== Tests/c\nline\n=== ended: 130\n"), "=== Tests/c\nTests/c: ended with 130\n")

    def test_meterd_has_its_table_first_then_a_line_for_each_event(self):
        self.assertEqual(self.screen(METERD), f"""\
=== meterd
2026-11-28T22:42:48.600Z warning the radio does not answer adapter=hci0
{TABLE}meterd is running; its web page: http://127.0.0.1:8642/
2026-11-28T22:42:57.336Z info  meter state changed meter.id=m1 from=ready to=communicating
2026-11-28T22:42:57.400Z error the store is full
""")
        self.assertEqual(self.logged(), METERD + TABLE)

    def test_all_is_shown_where_v_is_set(self):
        self.assertEqual(self.screen(BUILD + WARNING, V="1"), BUILD + WARNING)

    def on_terminal(self, command):
        """What the screen writes to a terminal of 40 columns."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve("/bin/sh", ["sh", "-c", f"{{ {command}; }} | '{SCREEN}' log"], dict(os.environ, TERM="xterm", COLUMNS="40", V=""))
        said = b""
        try:
            while data := os.read(terminal, 65536):
                said += data
        except OSError:
            pass  # The other end is closed.
        os.waitpid(pid, 0)
        os.close(terminal)
        return said.decode().replace("\r\n", "\n")

    def test_terminal_has_one_moving_line(self):
        self.write("text", BUILD)
        self.assertEqual(
            self.on_terminal("cat text"), "=== swift build --build-tests\nswift build --build-tests · [2/66] Comp\r\033[J")

    def test_terminal_has_the_table_below_what_is_shown(self):
        self.write("text", METERD.replace("printf 'ID  MODEL\\nm1  UM25C\\n'", "sh -c 'echo >>n; wc -l <n; echo end'"))
        self.assertRegex(self.on_terminal("cat text; sleep 1.3; echo more"), r"""^=== meterd
2026-11-28T22:42:48.600Z warning the radio does not answer adapter=hci0
meterd is running; its web page: http://127.0.0.1:8642/
2026-11-28T22:42:57.400Z error the store is full
2
end(\r\033\[1A\033\[J\d
end)*\r\033\[1A\033\[Jmore
\d
end
$""")

    def test_status_of_the_command_survives(self):
        for status in (0, 7):
            command = f"(echo === it; exit {status}) 2>&1 | '{SCREEN}' '{self.log}'"
            self.assertEqual(subprocess.run(["bash", "-o", "pipefail", "-c", command], stdout=subprocess.DEVNULL,
                                            check=False).returncode, status)

    def test_signal_does_not_keep_the_last_lines_from_the_log(self):
        screen = subprocess.Popen([SCREEN, self.log], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(screen.kill)
        screen.stdin.write(b"=== a\n")
        screen.stdin.flush()
        self.assertEqual(screen.stdout.readline(), b"=== a\n")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            screen.send_signal(number)
        time.sleep(0.1)
        screen.communicate(b"=== b\n", 20)
        self.assertEqual((screen.returncode, self.logged()), (0, "=== a\n=== b\n"))

    def test_green_log_is_judged_green(self):
        self.assertEqual(self.judge(GREEN, "--tests"), (0, []))
        self.assertEqual(self.judge(BUILD + METERD), (0, []))

    def test_what_is_missing_is_judged_red(self):
        self.assertEqual(self.judge(None), (1, ["log: No such file or directory"]))
        self.assertEqual(self.judge(""), (1, ["log is empty"]))
        self.assertEqual(self.judge(BUILD, "--tests"), (1, ["log: no closing line of the test runner"]))

    def test_what_went_wrong_is_judged_red(self):
        planted = {"warning": WARNING, "test": FAILED_TESTS, "crash": CRASH, "error": COMPILE_ERROR,
                   "stage": "=== Tests/Lab/run\nFAIL ble  it  1.0 s  no\n", "end": "=== ended: 137\n"}
        first = {"warning": WARNING.splitlines()[0], "test": FAILED_TESTS.splitlines()[0],
                 "crash": CRASH.splitlines()[1], "error": COMPILE_ERROR.splitlines()[0],
                 "stage": "FAIL ble  it  1.0 s  no", "end": "Tests/Lab/run: ended with 137"}
        found = {name: self.judge(GREEN.removesuffix("=== ended: 0\n") + text, "--tests") for name, text in planted.items()}
        self.assertEqual({name: (status, lines[0]) for name, (status, lines) in found.items()},
                         {name: (1, line) for name, line in first.items()})

    def test_many_failures_are_judged_in_few_lines(self):
        issues = "".join(f"✘ Test t{number}() recorded an issue at A.swift:1:2: {'x' * 900}\n↳ of it\n" for number in range(40))
        status, lines = self.judge(issues + "✘ Test run with 40 tests in 1 suite failed after 1 seconds with 40 issues.\n")
        self.assertEqual((status, len(lines), max(map(len, lines))), (1, 15, 400))
        self.assertEqual(lines[-2:], ["… and 27 more in log",
                                      "✘ Test run with 40 tests in 1 suite failed after 1 seconds with 40 issues."])


if __name__ == "__main__":
    unittest.main()
