"""Real programs on this machine: a metercloud, meterds, a simulated meter, and proxies that can be cut."""

import functools
import os
import shutil
import socket
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Support"))
import harness  # noqa: E402
from harness import METER, SOON, Failure, Metercloud, Meterd, Program, free_ports, print_logs, stop_all  # noqa: E402

# Each look is a program or two, which may be refused; a busy machine is to get on with what is waited for.
wait = functools.partial(harness.wait, retry=(Failure,), every=0.02)
seconds_until = functools.partial(harness.seconds_until, retry=(Failure,), every=0.02)


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
                far = socket.create_connection(("127.0.0.1", self.cluster.cloud.port), timeout=5)
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


class Versions:
    """Whose programs play which part ("cloud", "a", "b"): those under test, or those of another version."""

    PARTS = ("cloud", "a", "b")

    def __init__(self, tested, other=None, others=()):
        self.tested, self.other, self.others = tested, other, others

    def of(self, part):
        return self.other if part in self.others else self.tested


class Host(Meterd):
    """A meterd of a cluster."""

    def __init__(self, name, cluster, configuration="", named=None):
        folder = f"{cluster.folder}/{name}"
        os.makedirs(folder, mode=0o700)
        self.cluster = cluster
        self.proxy = cluster.proxy()
        super().__init__(
            cluster.versions.of("b" if cluster.hosts else "a"), folder, name,
            configuration=f'host-name = "{named or name}"\n{configuration}', logs=cluster.folder)

    def update(self):
        """Goes on with the programs under test."""
        self.stop()
        self.bin = self.cluster.versions.tested
        self.start()

    def join(self, *others, is_last=False):
        """Joins the cloud. Others are the addresses of its other copies, asked before the first where that is last."""
        addresses = [f"https://127.0.0.1:{self.proxy.port}", *others]
        if is_last:
            addresses.reverse()
        self.must("cloud", "join", *addresses, "--token-file", self.cluster.token_file, "--pin", self.cluster.cloud.pin)

    def setting(self, meter, key):
        """The value of a setting, None where the meter or the setting is not there."""
        said = self.ctl("get", meter, key)
        return said.out.strip() if said.status == 0 else None

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
        status, text = self.ask("PATCH", f"/v1/meters/{meter}/settings", {"settings": settings}, seconds=SOON)
        if status != 200:
            raise Failure(f"{self.name}: PATCH of {settings}: {status}: {text}")


class Cluster:
    def __init__(self, versions):
        self.versions = versions
        self.temporary = tempfile.TemporaryDirectory(prefix="two-hosts-")
        self.folder = self.temporary.name
        self.hosts, self.others = [], []
        self.cloud = Metercloud(versions.of("cloud"), f"{self.folder}/cloud", self.folder)
        # What new hosts join with: that of the zone that the cloud has at first, unless a case says otherwise.
        self.token_file = None

    def start_cloud(self):
        self.cloud.start()
        self.token_file = self.cloud.token_file

    def update_cloud(self):
        """Goes on with the metercloud under test."""
        self.cloud.stop()
        self.cloud.bin = self.versions.tested
        self.start_cloud()

    def copy(self, options):
        """Another copy of the cloud, with the key of the first. Returns it."""
        folder = f"{self.folder}/cloud-2"
        os.makedirs(folder, mode=0o700)
        shutil.copy(f"{self.folder}/cloud/key.pem", folder)
        copy = Metercloud(self.cloud.bin, folder, self.folder, "metercloud-2", options)
        self.others.insert(0, copy)
        copy.start()
        if copy.pin != self.cloud.pin:
            raise Failure("the other copy has another pin")
        return copy

    def proxy(self):
        return Proxy(self)

    def host(self, name, configuration="", named=None):
        host = Host(name, self, configuration, named)
        self.hosts.append(host)
        host.start()
        return host

    def meter(self, model="um25c"):
        """A simulated meter. Returns the path of its port."""
        number = len(self.others) + 1
        meter = Program(f"meter-{number}", [f"{self.cloud.bin}/meterctl", "simulate", model, "--pty"], self.folder)
        self.others.append(meter)
        meter.start()
        return meter.wait_for(r"/dev/pts/\d+").group(0)

    def etcd(self):
        """An etcd of one member. Returns its address."""
        client, peer = (f"http://127.0.0.1:{port}" for port in free_ports(2))
        etcd = Program(
            "etcd",
            ["etcd", "--name", "m", "--data-dir", f"{self.folder}/etcd", "--listen-client-urls", client,
             "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
             "--initial-cluster", f"m={peer}", "--log-level", "error", "--logger", "zap"],
            self.folder)
        self.others.append(etcd)
        etcd.start()
        return client

    @property
    def programs(self):
        return [*self.hosts, self.cloud, *self.others]

    def stop(self):
        stop_all(self.programs)

    def logs(self):
        print_logs(self.programs)


def joined(cluster, configuration="", names=("attic", "bench"), ports_apart=False):
    """Hosts of one cloud that know the meter and have not connected it: all with the same port to it, or each with one
    of its own."""
    cluster.start_cloud()
    shared = None if ports_apart else cluster.meter()
    hosts = [cluster.host(name, configuration) for name in names]
    for host in hosts:
        host.join()
    for host in hosts:
        host.must("connect", shared or cluster.meter(), "--model", "um25c", "--id", METER, "--detach")
        host.must("disconnect", METER)
    return hosts


def seen(host, key, value):
    wait(f"{host.name} sees {key}={value}", lambda: host.setting(METER, key), SOON, until=lambda now: now == value)


def told(host):
    wait(f"{host.name} has told everything", lambda: host.json("sync", "status")["pending"] == 0, SOON)
