"""The programs of this project, as a person and a service manager use them."""

import argparse
import http.client
import json
import os
import socket
import ssl
import urllib.request

from .programs import Program, Running, run
from .waiting import SOON, Failure, wait

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BIN = os.path.join(ROOT, ".build", "debug")
# The UM25C of the demo.
METER = "02:00:00:00:25:0C"


def command_line(documentation):
    """A parser of a test's arguments, with --bin and the whole documentation as its help."""
    parser = argparse.ArgumentParser(
        description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=BIN, type=os.path.abspath, help="where the programs are")
    return parser


class LocalConnection(http.client.HTTPConnection):
    """HTTP over the socket of a meterd."""

    def __init__(self, path, seconds=SOON):
        super().__init__("meterd", timeout=seconds)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Meterd(Program):
    """A meterd with a store and a socket of its own, in a folder.

    - configuration: the text of its file, which is written at each start.
    - logs: where its log is, in the folder unless told.
    - command_seconds: how long a meterctl may take.
    """

    def __init__(self, binaries, folder, name="meterd", options=(), configuration=None, logs=None, command_seconds=300,
                 **more):
        self.bin, self.folder = binaries, folder
        self.socket = f"{folder}/control.sock"
        self.configuration = configuration
        self.command_seconds = command_seconds
        self._options = options
        super().__init__(name, [], logs or folder, **more)

    def start(self, seconds=SOON):
        """Until it serves."""
        if self.configuration is not None:
            with open(f"{self.folder}/meterd.toml", "w", encoding="utf-8") as file:
                file.write(self.configuration)
        self.arguments = self.command()
        super().start()
        wait(f"{self.name} serves", self.serves, seconds, retry=(OSError, http.client.HTTPException))

    def command(self):
        """What starts it."""
        configured = [] if self.configuration is None else ["--config", f"{self.folder}/meterd.toml"]
        return [f"{self.bin}/meterd", *self._options, *configured, "--state-directory", f"{self.folder}/state",
                "--socket", self.socket]

    def serves(self):
        """Its version. Ended where it does not run any more."""
        self.expect_running()
        return self.get("/v1/version")

    # meterctl

    def begin(self, *arguments, socket=None):
        """A meterctl run that goes on; at another socket of this meterd where it is given."""
        return Running([f"{self.bin}/meterctl", *arguments, "--socket", socket or self.socket], environment=self.base)

    def ctl(self, *arguments, seconds=None, **where):
        """A meterctl run, however it ends."""
        return self.begin(*arguments, **where).end(seconds or self.command_seconds)

    def must(self, *arguments, **named):
        """A meterctl run that ends with 0."""
        said = self.ctl(*arguments, **named)
        if said.status != 0:
            raise Failure(f"{self.name}: {said}")
        return said

    def json(self, *arguments):
        """What a meterctl run says, as JSON."""
        return json.loads(self.must(*arguments, "--json").out)

    # Its API

    def ask(self, method, path, body=None, headers=None, port=None, seconds=30):
        """Status and text, of the control socket or of its page at a port."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds) if port else LocalConnection(
            self.socket, seconds)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def call(self, method, path, body=None, seconds=20):
        """An answer of the control socket, as JSON. A Failure where it is an error."""
        status, text = self.ask(method, path, body, seconds=seconds)
        said = json.loads(text or "null")
        if status >= 400:
            raise Failure(f"{method} {path}: {status} {said}")
        return said

    def get(self, path):
        """As `call`, of what is only read."""
        return self.call("GET", path)

    def stream(self, path, seconds=SOON):
        """The connection, and an answer whose lines come one by one."""
        connection = LocalConnection(self.socket, seconds)
        connection.request("GET", path)
        return connection, connection.getresponse()


class Demo(Meterd):
    """meterd --demo: two hosts, four simulated meters, and the cloud that they share, with a page on a free port."""

    def __init__(self, binaries, folder, **more):
        super().__init__(
            binaries, folder, options=("--demo",), environment={"METERD_WEB_LISTEN": "127.0.0.1:0"}, **more)

    @property
    def attic(self):
        """The socket of its other host."""
        return f"{self.folder}/control-attic.sock"

    def with_data(self):
        """The ids of the meters that have data."""
        return {meter["id"] for meter in self.get("/v1/status")["meters"] if meter["state"] == "data-available"}

    def page_port(self):
        """Where its page is, 0 before it is there."""
        return int(self.get("/v1/web")["listen"].rpartition(":")[2])


class Metercloud(Program):
    """A metercloud with its data in a folder, on a free port of loopback."""

    def __init__(self, binaries, data, logs, name="metercloud", options=(), **more):
        self.bin, self.data = binaries, data
        self.options_to_serve = list(options)
        # Known once it runs.
        self.url = self.port = self.token_file = self.pin = None
        super().__init__(name, [], logs, **more)

    def start(self, seconds=SOON):
        """Until it says how to join it."""
        self.arguments = [
            f"{self.bin}/metercloud", "serve", "--data", self.data, "--listen", "127.0.0.1:0", *self.options_to_serve]
        super().start()
        found = self.wait_for(
            r"(https://127\.0\.0\.1:(\d+)) --token-file (\S+) --pin (sha256:[0-9a-f]{64})", seconds)
        self.url, self.port, self.token_file, self.pin = found[1], int(found[2]), found[3], found[4]

    def metrics(self, seconds=SOON):
        """The text of its page of metrics."""
        anybody = ssl._create_unverified_context()  # pylint: disable=protected-access - its certificate is its own
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=seconds, context=anybody) as answer:
            return answer.read().decode()

    def administer(self, *arguments, status=0, seconds=SOON):
        """Runs metercloud on its folder. Returns what it said."""
        said = run([f"{self.bin}/metercloud", *arguments, "--data", self.data], seconds, check=False,
                   environment=self.base)
        if said.status != status:
            raise Failure(str(said))
        return said.out + said.err
