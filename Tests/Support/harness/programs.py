"""Programs that a test starts: those that go on (Program), and commands that end by themselves (run)."""

import collections
import concurrent.futures
import dataclasses
import glob
import os
import random
import re
import signal
import socket
import subprocess
import time

from .waiting import SOON, Ended, Failure, wait

# The kernel kills a child with the thread that started it: this one lives as long as the test does.
_starter = concurrent.futures.ThreadPoolExecutor(max_workers=1)


# Started by setpriv, with the process that is to be its parent. Where that one ended before setpriv had asked for the
# signal, none comes any more, and the parent is another: prctl(2), PR_SET_PDEATHSIG.
_unless_orphaned = '[ "$PPID" = "$0" ] && exec "$@"'


def spawn(arguments, **options):
    """Starts a program which the kernel kills when this one ends, however and whenever it does."""
    arguments = ["setpriv", "--pdeathsig", "KILL", "sh", "-c", _unless_orphaned, str(os.getpid()), *arguments]
    return _starter.submit(subprocess.Popen, arguments, **options).result()


def free_ports(count):
    """Free now, and given to nobody by chance: below what the system chooses from."""
    sockets, ports = [], []
    while len(ports) < count:
        one = socket.socket()
        port = random.SystemRandom().randrange(10240, 32768)
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            one.close()
            continue
        sockets.append(one)
        ports.append(port)
    for one in sockets:
        one.close()
    return ports


@dataclasses.dataclass
class Said:
    """What a command gave that has ended."""

    command: str
    status: int
    out: str
    err: str
    seconds: float

    def __str__(self):
        words = " / ".join(line for line in (self.out + self.err).splitlines() if line.strip())
        return f"{self.command}: exit {self.status}, {words[:400]}"


class Running:
    """A command that has not ended yet."""

    def __init__(self, arguments, environment=None, **options):
        self._command = " ".join([os.path.basename(arguments[0]), *arguments[1:]])
        self._began = time.monotonic()
        self._process = spawn(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            errors="replace", env=environment, **options)

    def end(self, seconds=SOON):
        """Waits for its end: what it said. A Failure where it does not end in time."""
        try:
            out, err = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as late:
            self.kill()
            raise Failure(f"{self._command} did not end within {seconds} s") from late
        return Said(self._command, self._process.returncode, out, err, time.monotonic() - self._began)

    def interrupt(self, seconds=SOON):
        """Ends it as Ctrl-C does: what it said until then."""
        self._process.send_signal(signal.SIGINT)
        return self.end(seconds)

    def kill(self):
        """Nobody waits for it any more."""
        self._process.kill()
        self._process.communicate()


def run(arguments, seconds=SOON, check=True, **options):
    """Runs a command to its end: what it said. A Failure where it ends with another status than 0, unless `check` is off."""
    said = Running(arguments, **options).end(seconds)
    if check and said.status != 0:
        raise Failure(str(said))
    return said


class Program:
    """A program that goes on, what it writes in a file. It may be started again, with the same file.

    - environment: what it has besides `base`, which is this program's own unless given.
    - takes_orders: whether `order` reaches it.
    - options: those of subprocess.Popen.
    """

    def __init__(self, name, arguments, folder, environment=None, base=None, takes_orders=False, **options):
        self.name, self.arguments = name, arguments
        self.base = dict(os.environ) if base is None else base
        self.environment = environment or {}
        self.takes_orders = takes_orders
        self.options = options
        self.log_path = f"{folder}/{name}.log"
        self.process = None
        # Whether it is to run: from its start until it is told to end.
        self.is_wanted = False
        self._log_begins = 0

    def start(self):
        """Does not wait until it is of use."""
        with open(self.log_path, "ab") as log:
            self._log_begins = log.tell()
            self.process = spawn(
                self.arguments, stdin=subprocess.PIPE if self.takes_orders else subprocess.DEVNULL, stdout=log,
                stderr=log, env=self.base | self.environment, **self.options)
        self.is_wanted = True

    @property
    def runs(self):
        """Whether the process is there."""
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self):
        """Its process."""
        return self.process.pid

    def expect_running(self):
        """Ended where it does not run any more."""
        if not self.runs:
            raise Ended(f"{self.name} ended with {self.process.returncode}: {self.last_lines()}")

    def order(self, word):
        """Writes a line to it."""
        self.process.stdin.write(f"{word}\n".encode())
        self.process.stdin.flush()

    def signal(self, number):
        """Nothing where it does not run."""
        if self.runs:
            self.process.send_signal(number)

    def kill(self):
        """SIGKILL: it has no last word. Returns its exit status, None where it never ran."""
        self.is_wanted = False
        if self.process is None:
            return None
        self.process.kill()
        status = self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()
        return status

    def stop(self, seconds=90, status=None):
        """SIGTERM, also to one that is held; nothing where it was told to end before. A Failure where it does not end in
        time, and where a status is wanted also where it ends with another or had ended by itself."""
        if not self.is_wanted:
            return
        self.is_wanted = False
        had_ended = not self.runs
        if not had_ended:
            self._terminate(seconds)
        if status is not None and (had_ended or self.process.returncode != status):
            had = "had ended by itself" if had_ended else "ended"
            raise Failure(f"{self.name} {had} with {self.process.returncode}: {self.last_lines()}")

    def _terminate(self, seconds):
        self.process.terminate()
        # A signal that it gets while it is held is carried out when it goes on.
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired as late:
            threads = self.threads()
            self.kill()
            raise Failure(f"{self.name} did not end within {seconds} s of SIGTERM: {threads}; {self.last_lines()}") from late

    def threads(self):
        """Its threads by name, state and what in the kernel each waits for (proc(5)): one that holds up the others is known by it."""
        said = []
        for task in sorted(glob.glob(f"/proc/{self.pid}/task/*")):
            try:
                words = []
                for name in ("comm", "wchan", "stat"):
                    with open(os.path.join(task, name), encoding="utf-8", errors="replace") as file:
                        words.append(file.read().strip())
            except OSError:
                continue  # it has just ended
            said.append(f"{words[0]} {words[2].rsplit(')', 1)[1].split()[0]} {words[1]}")
        return ", ".join(f"{count} × {one}" if count > 1 else one for one, count in collections.Counter(said).items())

    # What it writes

    @property
    def log(self):
        """Since its latest start."""
        return self.logged(self._log_begins)

    def mark(self):
        """Where its log ends now, for `logged`."""
        return os.path.getsize(self.log_path)

    def logged(self, since=0):
        """Its log from a mark on; nothing where it never ran."""
        if not os.path.exists(self.log_path):
            return ""
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            file.seek(since)
            return file.read()

    def last_lines(self, count=3):
        """The end of its log, in one line; of a program that crashed, why and where."""
        lines = [line.strip() for line in self.logged().splitlines()]
        crash = [line for line in lines if re.search(r"Fatal error:|crashed:| at /\S+\.swift:\d+", line)]
        return " / ".join(crash[:8])[:1500] or " / ".join(lines[-count:])[-500:]

    def wait_for(self, pattern, seconds=SOON):
        """Waits until its log since the start has this, and returns the match. Ended where it cannot come any more."""
        def found():
            # In this order: what it wrote before its end is seen.
            ran = self.runs
            match = re.search(pattern, self.log)
            if not match and not ran:
                self.expect_running()
            return match
        return wait(lambda: f"{self.name} writes {pattern}; the last was: {self.last_lines()}", found, seconds)


def stop_all(programs, seconds=90, status=None):
    """Stops each, whatever becomes of the others; one Failure of all that did not end as they should."""
    failures = []
    for program in programs:
        try:
            program.stop(seconds, status)
        except Failure as failure:
            failures.append(str(failure))
    if failures:
        raise Failure("; ".join(failures))


def print_logs(programs, characters=2000):
    """The end of what each of them wrote."""
    for program in programs:
        print(f"== the end of {program.name}'s log\n{program.logged()[-characters:]}", flush=True)
