"""meterd and meterctl, as a person and a service manager use them."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time

from checks import Failure, wait

# Of nobody, who is in no group.
NOBODY = 65534
REFUSED, HELD, TIMED_OUT, NO_PERMISSION = 1, 4, 5, 6


class _Connection(http.client.HTTPConnection):
    """HTTP over the control socket."""

    def __init__(self, path, seconds):
        super().__init__("meterd", timeout=seconds)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Said:
    """What one meterctl run gave."""

    def __init__(self, arguments, status, out, err, seconds):
        self.command = "meterctl " + " ".join(arguments)
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    def __str__(self):
        words = " / ".join(line for line in (self.out + self.err).splitlines() if line.strip())
        return f"{self.command}: exit {self.status}, {words[:300]}"


class Running:
    """A meterctl run that has not ended yet."""

    def __init__(self, binaries, path, arguments, environment):
        self._arguments = arguments
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            [os.path.join(binaries, "meterctl"), *arguments, "--socket", path], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def end(self, seconds=90):
        """Waits for its end: what it said."""
        try:
            out, err = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as late:
            self.kill()
            raise Failure(f"meterctl {' '.join(self._arguments)} did not end within {seconds} s") from late
        return Said(self._arguments, self._process.returncode, out, err, time.monotonic() - self._began)

    def kill(self):
        """Nobody waits for it any more."""
        self._process.kill()
        self._process.communicate()


class Program:
    """One meterd with a state folder of its own."""

    def __init__(self, results, binaries, name="meterd", user=None, configuration=None, environment=None):
        self.log = os.path.join(results, f"{name}.log")
        self._folder = f"/tmp/{name}"
        self.socket = f"/tmp/{name}/control.sock"
        self._binaries = binaries
        self._user = user
        self._configuration = configuration
        self._more = environment or {}
        self._process = None
        self.descriptors_at_start = None

    # MARK: the daemon

    def start(self):
        """Until it serves."""
        os.makedirs(self._folder, exist_ok=True)
        if self._user is not None:
            os.chown(self._folder, self._user, self._user)
        arguments = [os.path.join(self._binaries, "meterd"), "--state-directory", os.path.join(self._folder, "state"),
                     "--socket", self.socket, "--log-level", "debug"]
        if self._configuration is not None:
            path = os.path.join(self._folder, "meterd.toml")
            with open(path, "w") as file:
                file.write(self._configuration)
            arguments += ["--config", path]
        identity = {} if self._user is None else {"user": self._user, "group": self._user, "extra_groups": []}
        with open(self.log, "ab") as log:
            self._process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             cwd="/", env=self._environment() | self._more, **identity)
        wait("meterd serves", self._serves, 60)
        self.descriptors_at_start = None

    def _serves(self):
        if self._process.poll() is not None:
            raise Failure(f"meterd ended with {self._process.returncode} at its start: {self.last_lines()}")
        try:
            return self.get("/v1/version")
        except OSError:
            return None

    @staticmethod
    def _environment():
        return {"PATH": os.environ["PATH"], "HOME": "/root", "NO_COLOR": "1"}

    @property
    def runs(self):
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    @property
    def identifier(self):
        """Its process."""
        return self._process.pid

    def stop(self, seconds=25):
        """SIGTERM; the seconds that it took. A Failure when it does not end, or not with 0."""
        if self._process is None:
            return 0
        process, self._process = self._process, None
        if process.poll() is not None:
            raise Failure(f"meterd had ended with {process.returncode}: {self.last_lines()}")
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired as late:
            process.kill()
            process.wait()
            raise Failure(f"meterd did not end within {seconds} s of SIGTERM") from late
        if status != 0:
            raise Failure(f"meterd ended with {status}: {self.last_lines()}")
        return time.monotonic() - began

    def kill(self):
        """SIGKILL: it has no last word."""
        process, self._process = self._process, None
        process.kill()
        process.wait()

    def descriptors(self):
        """What its open descriptors lead to."""
        folder = f"/proc/{self.identifier}/fd"
        found = []
        for number in os.listdir(folder):
            try:
                found.append(os.readlink(os.path.join(folder, number)))
            except FileNotFoundError:
                pass
        return sorted(re.sub(r"\[\d+\]", "", path) for path in found)

    def processor_seconds(self):
        """CPU used so far."""
        with open(f"/proc/{self.identifier}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def last_lines(self, count=3):
        """The end of its log."""
        with open(self.log, errors="replace") as file:
            return " / ".join(line.strip() for line in file.readlines()[-count:])

    def mark(self):
        """Where its log ends now, for `logged`."""
        return os.path.getsize(self.log)

    def logged(self, since=0):
        """Its log from a mark on."""
        with open(self.log, errors="replace") as file:
            file.seek(since)
            return file.read()

    # MARK: what it says

    def get(self, path):
        """An answer of the control socket."""
        return self.call("GET", path)

    def stream(self, path):
        """The connection, and an answer whose lines come one by one."""
        connection = _Connection(self.socket, 120)
        connection.request("GET", path)
        return connection, connection.getresponse()

    def call(self, method, path, body=None, seconds=20):
        """As `get`, for every kind of request."""
        connection = _Connection(self.socket, seconds)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            answer = connection.getresponse()
            said = json.loads(answer.read() or b"null")
        finally:
            connection.close()
        if answer.status >= 400:
            raise Failure(f"{method} {path}: {answer.status} {said}")
        return said

    def connect(self, identifier, over=None, seconds=40):
        """What `meterctl connect` asks, without the time that starting it takes here."""
        body = {"wait_ms": seconds * 1000} | ({"over": over} if over else {})
        return self.call("POST", f"/v1/meters/{identifier}/connect", body, seconds + 20)

    def want(self, identifier, over=None):
        """What `meterctl connect --detach` asks."""
        return self.call("POST", f"/v1/meters/{identifier}/connect", {"over": over} if over else {})

    def disconnect(self, identifier):
        """What `meterctl disconnect` asks."""
        return self.call("POST", f"/v1/meters/{identifier}/disconnect")

    def meter(self, identifier):
        """A meter's status, None where there is none."""
        return next((meter for meter in self.get("/v1/status")["meters"] if meter["id"] == identifier), None)

    def state(self, identifier):
        """Its state."""
        meter = self.meter(identifier)
        return meter and meter["state"]

    def adapter(self, address):
        """An adapter's status."""
        return next((adapter for adapter in self.get("/v1/status")["adapters"] if adapter["address"] == address), None)

    def sighting(self, identifier):
        """An entry of the scan."""
        return next((entry for entry in self.get("/v1/scan") if entry["id"] == identifier), None)

    def ctl(self, *arguments, seconds=90):
        """A meterctl run, ended or not."""
        return self.begin(*arguments).end(seconds)

    def begin(self, *arguments):
        """A meterctl run that goes on."""
        return Running(self._binaries, self.socket, arguments, self._environment())

    def must(self, *arguments, **named):
        """A meterctl run that ends with 0."""
        said = self.ctl(*arguments, **named)
        if said.status != 0:
            raise Failure(str(said))
        return said


class States:
    """The states that a meter goes through, as its status shows them."""

    def __init__(self, program, identifier):
        self._program = program
        self._identifier = identifier
        self.seen = []

    def look(self):
        """The state now, kept when it is another one."""
        state = self._program.state(self._identifier)
        if not self.seen or self.seen[-1] != state:
            self.seen.append(state)
        return state

    def until(self, *states, seconds=40):
        """Waits for one of these."""
        return wait(lambda: f"{self._identifier} {' or '.join(states)}; it was {', '.join(map(str, self.seen))}"
                            f" and says {(self._program.meter(self._identifier) or {}).get('error')}",
                    lambda: self.look() in states and self.seen[-1], seconds)
