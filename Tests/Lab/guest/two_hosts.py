"""Two meterd of one cloud, each with an adapter of its own, and the cloud: all in this guest."""

from control_client import Management
from harness import Failure, Metercloud, wait
from host import LaboratoryFault
from program import GuestMeterd

# The shortest that there is.
TIME_TO_LIVE, LOCK_DELAY = 30, 15
ZONE = "home"
CONFIGURATION = """host-name = "{name}"
[cloud]
lease-ttl = "{ttl}s"
[bluetooth]
adapters = ["{adapter}"]
[web]
serve = false
"""


class TwoHosts:
    """attic has the first adapter, cellar the second. `meter` is the one that all below is about, `radio` its name on the air."""

    def __init__(self, bench):
        self._bench = bench
        self.radio = self.meter = None
        self.addresses = {"attic": bench.adapter_address, "cellar": self._second_address(bench)}
        binaries = bench.arguments["bin"]
        self.cloud = Metercloud(binaries, "/tmp/metercloud", bench.results)
        self.attic, self.cellar = (
            GuestMeterd(bench.results, binaries, f"meterd-{name}", configuration=CONFIGURATION.format(
                name=name, ttl=TIME_TO_LIVE, adapter=address)) for name, address in self.addresses.items())

    @staticmethod
    def _second_address(bench):
        """Of the second adapter, which is plugged for good."""
        if not bench.second_adapter.plugged:
            bench.second_adapter.plug()
        management = Management()
        index = bench.second_adapter.index
        wait("the kernel lists the second adapter", lambda: index in management.indexes(), 20, error=LaboratoryFault)
        if status := management.power(index):
            raise LaboratoryFault(f"the second adapter is not switched on: status {status:#04x}")
        address = management.address(index)
        management.close()
        return address

    def turn_to(self, radio):
        """All below is about this meter."""
        self.radio, self.meter = radio, self._bench.meters[radio]["address"]

    def start(self):
        """The cloud, both hosts, and both in it."""
        self.cloud.start(90)
        for host in (self.attic, self.cellar):
            host.start()
            host.must("cloud", "join", self.cloud.url, "--token-file", self.cloud.token_file, "--pin", self.cloud.pin)

    def stop(self):
        """All three, as a service manager would."""
        said = [f"{host.stop():.1f} s" for host in (self.attic, self.cellar) if host.runs]
        self.cloud.stop(30)
        return said

    def other(self, host):
        """The one that is not this one."""
        return self.cellar if host is self.attic else self.attic

    def name(self, host):
        """As the others call it."""
        return "attic" if host is self.attic else "cellar"

    def lease(self, host):
        """The meter's lease as a host sees it. Never None."""
        leases = host.get("/v1/leases")["leases"]
        return next((lease for lease in leases if lease["meter"] == self.meter), {"state": "none", "holder": None})

    def holder(self, host):
        """The name of who has the meter, as a host sees it."""
        return self.lease(host).get("holder")

    def out_of_reach(self, of_cellar):
        """Whether cellar's adapter cannot hear the meter, wherever it stands."""
        self._bench.host.ask("adapter", index=1, deaf_to=[self.radio] if of_cellar else [])

    def links(self):
        """How many hosts the meter has a link to."""
        return self._bench.host.ask("links", meter=self.radio)["links"]

    def history(self):
        """The meter's links so far: seconds, "up" or "down", and the name of whose it was."""
        names = {address: name for name, address in self.addresses.items()}
        return [(at, what, names.get(address, address))
                for at, what, address in self._bench.host.ask("history", meter=self.radio)["history"]]

    def written(self, octets):
        """How often a host wrote this to the meter over LE."""
        return self._bench.host.ask("written", meter=self.radio)["written"].get(octets.hex(), 0)

    def given_to(self, host):
        """Has one host read the meter, and the other not want it; the seconds until there was data."""
        other = self.other(host)
        if (status := other.meter(self.meter)) and status["wanted"]:
            other.disconnect(self.meter)
        wait(f"{self.name(other)} has let go", lambda: self.holder(host) in (None, self.name(host)), 60)
        said = host.must("connect", self.meter, "--timeout", "60s")
        wait(f"{self.name(other)} sees who has it", lambda: self.holder(other) == self.name(host), 30)
        return said.seconds

    def reads(self, host, seconds=60):
        """Waits until a host has data of the meter, and it alone has the link."""
        wait(lambda: f"{self.name(host)} reads the meter; it says {host.meter(self.meter)}",
             lambda: host.state(self.meter) == "data-available", seconds)
        if self.links() != 1 or self.history()[-1][1:] != ("up", self.name(host)):
            raise Failure(f"{self.name(host)} has data, and the meter's links were {self.history()[-4:]}")


def two_hosts(bench, radio="fnb58", in_reach=True):
    """Both and their cloud, made by the first check that wants them; what is said of a meter is about this one. Out of reach:
    cellar's adapter does not hear it until the check is over."""
    hosts = bench.two_hosts
    if is_new := hosts is None:
        bench.make_room()
        hosts = bench.two_hosts = TwoHosts(bench)
    hosts.turn_to(radio)
    if not in_reach:
        hosts.out_of_reach(True)
        bench.after(hosts.out_of_reach, False)
    if is_new:
        hosts.start()
    return hosts


def expect(said, status, *words):
    """A run that was to end with this status, and to say these words."""
    if said.status != status or any(word not in said.err for word in words):
        raise Failure(f"not exit {status} with {' and '.join(map(repr, words))}: {said}")
    return f"exit {said.status} after {said.seconds:.1f} s: {said.err.strip().splitlines()[0]}"
