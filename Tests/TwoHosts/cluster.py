"""Real programs on this machine: a metercloud, meterds, a simulated meter, and proxies that can be cut."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time


# A busy machine of two cores takes its time; how quick it is when quiet, make bench says.
SOON = 120
METER = "02:00:00:00:25:0C"


class Failure(Exception):
    """What was expected and did not happen."""


class Ended(Exception):
    """A program ended by itself: nothing is left to wait for."""


class LocalConnection(http.client.HTTPConnection):
    """HTTP over the socket of a meterd."""

    def __init__(self, path):
        super().__init__("meterd", timeout=SOON)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def wait(what, condition, seconds):
    """Waits until condition() is something true, and returns it with the time it took."""
    began = time.monotonic()
    last = None
    while time.monotonic() - began < seconds:
        try:
            last = condition()
        except Failure as failure:
            last = None
            error = failure
        else:
            error = None
        if last:
            return last, time.monotonic() - began
        # Each look is a program or two; a busy machine is to get on with what is waited for.
        time.sleep(0.02)
    raise Failure(f"{what}: not within {seconds} s" + (f" ({error})" if error else ""))


class Proxy:
    """A TCP proxy before the cloud. Cut: connections end, and new ones are taken and get no answer."""

    def __init__(self, cluster):
        # Asked for the cloud's port at each connection: it has another after each start.
        self.cluster = cluster
        self.is_cut = False
        self.pairs = set()
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        with self.lock:
            self.is_cut = True
            pairs, self.pairs = self.pairs, set()
        for pair in pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def heal(self):
        self.is_cut = False

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.is_cut:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self.cluster.port), timeout=5)
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            with self.lock:
                self.pairs.add((near, far))
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    @staticmethod
    def _pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def ending_with_us(arguments):
    """The same command, killed by the kernel when this program ends, however it does."""
    return ["setpriv", "--pdeathsig", "KILL", *arguments]


class Program:
    """A program that runs, its output in a file."""

    def __init__(self, name, arguments, folder, environment=None):
        self.name, self.arguments, self.folder = name, arguments, folder
        self.environment = {**os.environ, **(environment or {})}
        self.log_path = f"{folder}/{name}.log"
        self.process = None

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                ending_with_us(self.arguments), stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment)

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, seconds=90):
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure(f"{self.name} did not stop within {seconds} s of SIGTERM")

    @property
    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()


class Versions:
    """Whose programs play which part ("cloud", "a", "b"): those under test, or those of another version."""

    PARTS = ("cloud", "a", "b")

    def __init__(self, tested, other=None, others=()):
        self.tested, self.other, self.others = tested, other, others

    def of(self, part):
        return self.other if part in self.others else self.tested


class Host(Program):
    """A meterd with a store and a socket of its own."""

    def __init__(self, name, cluster, configuration="", named=None):
        self.bin = cluster.versions.of("b" if cluster.hosts else "a")
        self.home = f"{cluster.folder}/{name}"
        os.makedirs(self.home, mode=0o700)
        self.socket = f"{self.home}/control.sock"
        self.cluster = cluster
        self.proxy = cluster.proxy()
        with open(f"{self.home}/meterd.toml", "w", encoding="utf-8") as file:
            file.write(f'host-name = "{named or name}"\n{configuration}')
        super().__init__(
            name,
            [f"{self.bin}/meterd", "--config", f"{self.home}/meterd.toml", "--state-directory", self.home,
             "--socket", self.socket],
            cluster.folder)

    def start(self):
        super().start()
        wait(f"{self.name} answers", self._answers, SOON)

    def _answers(self):
        if self.process.poll() is not None:
            raise Ended(f"{self.name} ended: {self.log[-500:]}")
        return self.ctl("status", check=False).returncode == 0

    def ctl(self, *arguments, check=True, timeout=300):
        """Runs meterctl against this host."""
        result = subprocess.run(
            [f"{self.bin}/meterctl", *arguments, "--socket", self.socket],
            capture_output=True, text=True, timeout=timeout, check=False)
        if check and result.returncode != 0:
            raise Failure(f"{self.name}: meterctl {' '.join(arguments)}: {result.returncode}: {result.stderr.strip()}")
        return result

    def update(self):
        """Goes on with the programs under test."""
        self.stop()
        self.bin = self.cluster.versions.tested
        self.arguments[0] = f"{self.bin}/meterd"
        self.start()

    def json(self, *arguments):
        return json.loads(self.ctl(*arguments, "--json").stdout)

    def join(self, *others, is_last=False):
        """Joins the cloud. Others are the addresses of its other copies, asked before the first where that is last."""
        addresses = [f"https://127.0.0.1:{self.proxy.port}", *others]
        if is_last:
            addresses.reverse()
        self.ctl("cloud", "join", *addresses, "--token-file", self.cluster.token_file, "--pin", self.cluster.pin)

    def setting(self, meter, key):
        """The value of a setting, None where the meter or the setting is not there."""
        result = self.ctl("get", meter, key, check=False)
        return result.stdout.strip() if result.returncode == 0 else None

    def lease(self, meter):
        """As this host sees it; of a meter that nobody ever had, only that it is free."""
        for entry in self.json("who")["leases"]:
            if entry["meter"] == meter:
                return entry
        return {"state": "free"}

    def state(self, meter):
        return self.json("status", meter)["state"]

    def patch(self, meter, settings):
        """Changes settings as meterctl does, without a program for each."""
        connection = LocalConnection(self.socket)
        try:
            connection.request("PATCH", f"/v1/meters/{meter}/settings", json.dumps({"settings": settings}))
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        if response.status != 200:
            raise Failure(f"{self.name}: PATCH of {settings}: {response.status}: {text}")


class Cluster:
    def __init__(self, versions):
        self.versions = versions
        self.bin = versions.of("cloud")
        self.temporary = tempfile.TemporaryDirectory(prefix="two-hosts-")
        self.folder = self.temporary.name
        self.hosts, self.others = [], []
        self.port = 0
        self.cloud = Program(
            "metercloud",
            [f"{self.bin}/metercloud", "serve", "--data", f"{self.folder}/cloud", "--listen", "127.0.0.1:0"],
            self.folder)

    def start_cloud(self):
        said_before = len(self.cloud.log) if self.cloud.process else 0
        self.cloud.start()
        line, _ = wait("metercloud prints how to join", lambda: self._join_line(said_before), SOON)
        self.port, self.token_file, self.pin = int(line.group(1)), line.group(2), line.group(3)

    def update_cloud(self):
        """Goes on with the metercloud under test."""
        self.cloud.stop()
        self.bin = self.versions.tested
        self.cloud.arguments[0] = f"{self.bin}/metercloud"
        self.start_cloud()

    def copy(self, options):
        """Another copy of the cloud, with the key of the first. Returns it and its address."""
        folder = f"{self.folder}/cloud-2"
        os.makedirs(folder, mode=0o700)
        shutil.copy(f"{self.folder}/cloud/key.pem", folder)
        copy = Program(
            "metercloud-2",
            [f"{self.bin}/metercloud", "serve", "--data", folder, "--listen", "127.0.0.1:0", *options], self.folder)
        copy.start()
        self.others.insert(0, copy)
        found, _ = wait("the other copy is ready", lambda: re.search(
            r"(https://127\.0\.0\.1:\d+).*--pin (sha256:[0-9a-f]{64})", copy.log), SOON)
        if found.group(2) != self.pin:
            raise Failure("the other copy has another pin")
        return copy, found.group(1)

    def administer(self, *arguments, status=0):
        """Runs metercloud on the cloud's folder. Returns what it said."""
        result = subprocess.run(
            [f"{self.bin}/metercloud", *arguments, "--data", f"{self.folder}/cloud"],
            capture_output=True, text=True, timeout=SOON, check=False)
        if result.returncode != status:
            raise Failure(f"metercloud {' '.join(arguments)}: {result.returncode}: {result.stderr.strip()}")
        return result.stdout + result.stderr

    def _join_line(self, said_before):
        if self.cloud.process.poll() is not None:
            raise Ended(f"metercloud ended: {self.cloud.log[-500:]}")
        return re.search(
            r"https://127\.0\.0\.1:(\d+) --token-file (\S+) --pin (sha256:[0-9a-f]{64})", self.cloud.log[said_before:])

    def proxy(self):
        return Proxy(self)

    def host(self, name, configuration="", named=None):
        host = Host(name, self, configuration, named)
        self.hosts.append(host)
        host.start()
        return host

    def meter(self, model="um25c"):
        """A simulated meter. Returns the path of its port."""
        meter = Program(f"meter-{len(self.others) + 1}", [f"{self.bin}/meterctl", "simulate", model, "--pty"], self.folder)
        meter.start()
        self.others.append(meter)
        found, _ = wait("the simulated meter says its port", lambda: re.search(r"/dev/pts/\d+", meter.log), SOON)
        return found.group(0)

    def etcd(self):
        """An etcd of one member. Returns its address."""
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
            client, peer = (f"http://127.0.0.1:{end.getsockname()[1]}" for end in (one, two))
        etcd = Program(
            "etcd",
            ["etcd", "--name", "m", "--data-dir", f"{self.folder}/etcd", "--listen-client-urls", client,
             "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
             "--initial-cluster", f"m={peer}", "--log-level", "error", "--logger", "zap"],
            self.folder)
        etcd.start()
        self.others.append(etcd)
        return client

    def stop(self):
        failures = []
        for program in [*self.hosts, self.cloud, *self.others]:
            try:
                program.stop()
            except Failure as failure:
                failures.append(str(failure))
        if failures:
            raise Failure("; ".join(failures))

    def logs(self, lines=15):
        for program in [*self.hosts, self.cloud, *self.others]:
            print(f"--- {program.name}")
            print("\n".join(program.log.splitlines()[-lines:]))


def joined(cluster, configuration="", names=("attic", "bench"), ports_apart=False):
    """Hosts of one cloud that know the meter and have not connected it: all with the same port to it, or each with one
    of its own."""
    cluster.start_cloud()
    shared = None if ports_apart else cluster.meter()
    hosts = [cluster.host(name, configuration) for name in names]
    for host in hosts:
        host.join()
    for host in hosts:
        host.ctl("connect", shared or cluster.meter(), "--model", "um25c", "--id", METER, "--detach")
        host.ctl("disconnect", METER)
    return hosts


def seen(host, key, value):
    wait(f"{host.name} sees {key}={value}", lambda: host.setting(METER, key) == value, SOON)


def told(host):
    wait(f"{host.name} has told everything", lambda: host.json("sync", "status")["pending"] == 0, SOON)
