"""A cloud of three etcd members, three copies of metercloud and many hosts, as processes on this machine."""

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Support"))
from harness import Failure, Program, free_ports, run, wait  # noqa: E402
from proxy import Net, raft_sender  # noqa: E402

MEMBERS, COPIES = 3, 3
# By process: its zone, its first host and how many it has.
HOSTS = [("home", 1, 5), ("home", 6, 5), ("lab", 11, 5), ("lab", 16, 5), ("mixed", 21, 3)]
# By zone: its policy. That of "mixed" changes while its hosts run.
ZONES = {"home": "keep", "lab": "strict", "mixed": "keep"}
WILD_USERS = 9
# CommandFlood.zones, with a policy each.
FLOODED = {"calm": "keep", "loud": "keep"}
# How long the same meters are used, in seconds. A planted bug may take longer to show.
GENERATION, GENERATION_PLANTED = 60, 600
# WitnessZones.leaseLimit.
LEASE_LIMIT = 24
# How long a command of an administrator may take while nothing is wrong, in seconds.
COMMAND_SECONDS = 180
# How long the hosts may take to read on after a store went back, from its beginning. Ten do so at once, which took half a minute on
# a machine with too much to do (a call took up to eight seconds): whoever takes this long does not get on at all.
READ_ON_SECONDS = 400
ETCD_ENVIRONMENT = os.environ | {"ETCDCTL_API": "3"}


def now():
    """In nanoseconds, on the clock of every journal."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Clock:
    """The calendar of one process (calendar.c)."""

    def __init__(self, path, library, seconds):
        self.path = path
        with open(path, "wb") as file:
            file.write(struct.pack("=q", seconds))
        self.environment = {"LD_PRELOAD": library, "CHAOS_CALENDAR": path}

    def set(self, seconds):
        with open(self.path, "r+b", buffering=0) as file:
            file.write(struct.pack("=q", seconds))


class Cluster:
    def __init__(self, bin_path, seed, planted=None):
        self.bin, self.seed, self.planted = bin_path, seed, planted
        self.random = random.Random(f"{seed} cluster")
        self.folder = tempfile.mkdtemp(prefix="chaos-")
        self.net = Net(seed)
        self.calendars = f"{self.folder}/calendar.so"
        source = f"{os.path.dirname(os.path.abspath(__file__))}/calendar.c"
        # It comes with Swift.
        clang = shutil.which("clang") or f"{os.path.dirname(os.path.realpath(shutil.which('swift')))}/clang"
        run([clang, "-shared", "-fPIC", "-O1", "-o", self.calendars, source], COMMAND_SECONDS)
        self.origin = now()
        self.clocks = {}
        self.members, self.copies, self.hosts = [], [], []
        self.wild = None
        ports = free_ports(3 * MEMBERS + COPIES)
        self.client_ports, ports = ports[:MEMBERS], ports[MEMBERS:]
        self.peer_ports, ports = ports[:MEMBERS], ports[MEMBERS:]
        self.peer_proxies, ports = ports[:MEMBERS], ports[MEMBERS:]
        self.copy_ports = ports
        self.member_ids = {}
        self.disks = []
        # How long others waited in a flood of commands, and what is wrong.
        self.flooded = ("", [])

    # What there is

    def start(self, is_flooded):
        self._start_members()
        self._prepare_cloud()
        for index in range(COPIES):
            self._make_copy(index)
            self.copies[index].start()
            self.await_copy(index)
        # Before there are hosts, which leave no processor time.
        if is_flooded:
            self.flooded = self._flood()
        origin = [f"origin={self.origin}", f"generation={GENERATION_PLANTED if self.planted else GENERATION}",
                  f"enrolment={self.folder}/enrolment", self.limited]
        for index, (zone, first, count) in enumerate(HOSTS):
            self.hosts.append(self._host_process(f"p{index}", zone, origin + [
                f"first={first}", f"count={count}", "wild=0"]))
        self.wild = self._host_process("wild", "home", origin + ["first=0", "count=0", f"wild={WILD_USERS}"])
        for process in [*self.hosts, self.wild]:
            process.start()
        for process in [*self.hosts, self.wild]:
            self.await_word(process, "running")

    def _start_members(self):
        cluster = ",".join(f"m{i}=http://127.0.0.1:{port}" for i, port in enumerate(self.peer_proxies))
        for index in range(MEMBERS):
            self.net.proxy(
                "?", f"m{index}", self.peer_ports[index], listen=self.peer_proxies[index],
                names=raft_sender(self.member_ids))
            self.members.append(Program(f"m{index}", [
                "etcd", "--name", f"m{index}", "--data-dir", self.data(index),
                "--listen-client-urls", self.client_url(index), "--advertise-client-urls", self.client_url(index),
                "--listen-peer-urls", f"http://127.0.0.1:{self.peer_ports[index]}",
                "--initial-advertise-peer-urls", f"http://127.0.0.1:{self.peer_proxies[index]}",
                "--initial-cluster", cluster, "--initial-cluster-token", f"chaos-{os.getpid()}",
                "--quota-backend-bytes", str(48 << 20), "--log-level", "error", "--logger", "zap"], self.folder))
        self.initial_cluster = cluster
        for index, member in enumerate(self.members):
            self._make_disk(index)
            member.start()
        self.await_leader()
        self._learn_member_ids()

    def _make_disk(self, index):
        """A small disk of its own for a member, where that is permitted, so that it can be filled."""
        path = f"{self.folder}/disk{index}"
        os.makedirs(path)
        if os.geteuid() == 0 and subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=1500m", "chaos", path], check=False,
                capture_output=True).returncode == 0:
            self.disks.append(index)

    def _learn_member_ids(self):
        """A member has a name in the list once it has told it to the others."""
        def named():
            leader = self.leader()
            try:
                members = [] if leader is None else self.gateway(leader, "/v3/cluster/member/list", {})["members"]
            except OSError:
                return False
            return members if len(members) == MEMBERS and all("name" in member for member in members) else False

        members = wait("every member of etcd has a name", named)
        self.member_ids.clear()
        for member in members:
            self.member_ids[format(int(member["ID"]), "x")] = member["name"]

    def data(self, index):
        return f"{self.folder}/disk{index}/data"

    @property
    def limited(self):
        """Whether its zones have a limit of leases that hosts reach, as the program Chaos is told."""
        return f"limited={'yes' if self.planted else 'no'}"

    def client_url(self, index):
        return f"http://127.0.0.1:{self.client_ports[index]}"

    def clock(self, name, seconds):
        self.clocks[name] = Clock(f"{self.folder}/{name}.calendar", self.calendars, seconds)
        return self.clocks[name].environment

    def _make_copy(self, index):
        name = f"c{index}"
        urls = [f"http://127.0.0.1:{self.net.proxy(name, f'm{member}', port)}"
                for member, port in enumerate(self.client_ports)]
        urls = urls[index:] + urls[:index]
        # Ahead by minutes at most, as what a restore compares its calendar with is theirs; behind by years.
        environment = self.clock(name, self.random.choice([0, 45, 300, -90, -86_400 * 400]))
        if self.planted in PLANTED_COPIES:
            arguments = [f"{self.bin}/Chaos", "copy", f"fault={self.planted}", f"etcd={','.join(urls)}",
                         f"port={self.copy_ports[index]}"]
        else:
            arguments = self.metercloud("serve", index, urls) + [
                "--listen", f"127.0.0.1:{self.copy_ports[index]}", "--no-tls", "--rate", "100000", "--log-level",
                "notice"]
        self.copies.append(Program(name, arguments, self.folder, environment, takes_orders=True))

    def metercloud(self, command, index, urls):
        arguments = [f"{self.bin}/metercloud", *command.split(), "--data", f"{self.folder}/cloud{index}"]
        if command in ("serve", "restore"):
            arguments += ["--engine", "etcd"] + [word for url in urls for word in ("--etcd", url)]
        return arguments

    def await_copy(self, index):
        def answers():
            self.copies[index].expect_running()
            try:
                with urllib.request.urlopen(
                        f"http://127.0.0.1:{self.copy_ports[index]}/v1/health", timeout=5) as response:
                    return response.status == 200
            except OSError:
                return False

        wait(f"c{index} answers", answers)

    def _prepare_cloud(self):
        """Makes the zones, through a copy that nothing is done to."""
        urls = [self.client_url(index) for index in range(MEMBERS)]
        first = Program("first", self.metercloud("serve", 0, urls) + [
            "--listen", f"127.0.0.1:{self.copy_ports[0]}", "--no-tls"], self.folder)
        first.start()
        self.copies = [first]
        self.await_copy(0)
        self._make_zones()
        first.kill()
        self.copies = []

    def _make_zones(self):
        for zone, policy in (ZONES | FLOODED).items():
            terms = ["--policy", policy, "--ttl", "30s", "--lock-delay", "4s"]
            # As many as that in a real run would leave no room for the meters of later generations.
            limit = ["--max-leases", str(LEASE_LIMIT)] if self.planted and zone in ZONES else []
            # The first copy made that of home at its start.
            run(self.metercloud(f"zone create {zone}", 0, []) + terms, COMMAND_SECONDS, check=zone != "home")
            run(self.metercloud(f"zone set {zone}", 0, []) + terms + limit, COMMAND_SECONDS)
            for kind, options in (("", []), (".read-only", ["--read-only"])):
                run(self.metercloud("token create", 0, []) + [
                    "--zone", zone, "--enrolment", "--output", f"{self.folder}/enrolment.{zone}{kind}", *options], COMMAND_SECONDS)

    def _host_process(self, name, zone, arguments):
        urls = ",".join(f"http://127.0.0.1:{self.net.proxy(name, f'c{index}', port)}"
                        for index, port in enumerate(self.copy_ports))
        environment = self.clock(name, self.random.choice([0, 20, -3600, -86_400 * 3000, 86_400 * 30]))
        process = Program(name, [
            f"{self.bin}/Chaos", "hosts", f"folder={self.folder}", f"journal={self.folder}/{name}.journal",
            f"urls={urls}", f"seed={self.seed}", f"fault={self.planted or '-'}", *arguments, f"zone={zone}"],
            self.folder, environment, takes_orders=True)
        process.zone = zone
        return process

    @staticmethod
    def move(process, zone):
        """Its hosts are in that zone from its next start on."""
        kept = [word for word in process.arguments if not word.startswith(("zone=", "visit="))]
        process.arguments = kept + [f"zone={zone}", f"visit={'no' if zone == process.zone else 'yes'}"]

    def set_policy(self, zone, policy, index=0):
        """Through the copy with that number. What came of it is in a journal, for the judge."""
        began = now()
        if self.planted in PLANTED_COPIES:
            self.copies[index].order(f"{zone} {policy}")
            self.await_word(self.copies[index], f"{zone}-is-{policy}")
            is_answered = True
        else:
            is_answered = self._is_done(self.metercloud(f"zone set {zone}", index, []) + ["--policy", policy])
        with open(f"{self.folder}/cluster.journal", "a", encoding="ascii") as journal:
            journal.write(f"policy {began} {now() if is_answered else '-'} {zone} {policy}\n")
        return is_answered

    @staticmethod
    def _is_done(arguments):
        try:
            return run(arguments, 60, check=False).status == 0
        except Failure:
            return False

    def _flood(self):
        """Lets hosts flood the first copy with commands."""
        done = run([
            f"{self.bin}/Chaos", "flood", f"url=http://127.0.0.1:{self.copy_ports[0]}", f"enrolment={self.folder}/enrolment",
            f"etcd={','.join(self.client_url(index) for index in range(MEMBERS))}"], COMMAND_SECONDS, check=False)
        if done.status not in (0, 2):
            raise Failure(f"the flood ended with {done.status}: {done.out[-400:]}")
        figures, *complaints = done.out.splitlines()
        return figures, [complaint.removeprefix("complaint ") for complaint in complaints]

    def observe(self):
        """Writes down what the cloud has in the end, as a new host sees it."""
        urls = ",".join(f"http://127.0.0.1:{port}" for port in self.copy_ports)
        run([f"{self.bin}/Chaos", "observer", f"journal={self.folder}/observer.journal", f"urls={urls}",
             f"enrolment={self.folder}/enrolment"], COMMAND_SECONDS)

    @staticmethod
    def await_word(process, word, seconds=180):
        process.wait_for(rf"(?<!\S){word}(?!\S)", seconds)

    # etcd

    def gateway(self, index, path, body, timeout=10):
        request = urllib.request.Request(
            self.client_url(index) + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=timeout) as response:
            return json.load(response)

    def etcdctl(self, index, *arguments, timeout=60, check=True):
        return run(
            ["etcdctl", "--endpoints", self.client_url(index), *arguments], timeout, check,
            environment=ETCD_ENVIRONMENT).out

    def leader(self):
        """The number of the member that leads; None: nobody says so."""
        for index in range(MEMBERS):
            try:
                status = self.gateway(index, "/v3/maintenance/status", {}, timeout=2)
            except OSError:
                continue
            if status.get("leader", "0") != "0" and status["leader"] == status["header"]["member_id"]:
                return index
        return None

    def await_leader(self):
        wait("etcd has a leader", self.leader, until=lambda index: index is not None)

    # The end

    def go_back(self, is_told):
        """Puts etcd back to a snapshot under everybody: as Docs/Scale.md says, or without a word to the cloud, as nobody
        should. Returns when, for the judge."""
        snapshot = f"{self.folder}/snapshot-{now()}"
        self.etcdctl(self.leader(), "snapshot", "save", snapshot)
        # What happens now will not have been.
        self._await_later(now())
        for program in [*self.copies, *self.members]:
            program.kill()
        gone_back = now()
        for index in range(MEMBERS):
            shutil.rmtree(self.data(index))
            run([
                "etcdctl", "snapshot", "restore", snapshot, "--name", f"m{index}", "--data-dir", self.data(index),
                "--initial-cluster", self.initial_cluster, "--initial-cluster-token", f"restored-{gone_back}",
                "--initial-advertise-peer-urls", f"http://127.0.0.1:{self.peer_proxies[index]}"],
                COMMAND_SECONDS, environment=ETCD_ENVIRONMENT)
        for member in self.members:
            member.start()
        self.await_leader()
        self._learn_member_ids()
        if is_told:
            environment = self.clock("restore", 600)
            run(self.metercloud("restore", 0, [self.client_url(index) for index in range(MEMBERS)]), COMMAND_SECONDS,
                environment=os.environ | environment)
        for index, copy in enumerate(self.copies):
            copy.start()
            self.await_copy(index)
        return gone_back

    def _await_later(self, taken):
        """Until somebody in every zone has read beyond what there was then: whoever has not is told nothing, and rightly, when
        the store goes back to it."""
        def is_beyond(lines, zone):
            # The first may have come through once before, and its answer not.
            pushes = {}
            for begun, ended, host in (
                    (int(line[1]), int(line[2]), line[4]) for line in lines if line[0] == "pushed" and line[3] == zone):
                if begun >= taken:
                    pushes.setdefault(host, []).append(ended)
            seconds = [sorted(ends)[1] for ends in pushes.values() if len(ends) > 1]
            return bool(seconds) and any(
                line[0] == "fetched" and line[3] == zone and int(line[1]) >= min(seconds) for line in lines)

        deadline = time.monotonic() + READ_ON_SECONDS
        while late := [zone for zone in ZONES if not is_beyond(self._told("pushed ", "fetched "), zone)]:
            if time.monotonic() > deadline:
                raise Failure(f"in {READ_ON_SECONDS} s nobody in {' and '.join(late)} has read what came after the snapshot")
            time.sleep(0.5)

    def await_notice(self, seconds):
        """Until hosts of every zone were told that the store went back, or no longer than that: the judge says so then."""
        deadline = time.monotonic() + seconds
        while {line[2] for line in self._told("timeline ")} != set(ZONES) and time.monotonic() < deadline:
            time.sleep(0.5)

    def _told(self, *words):
        """The lines of all journals that begin so, in words."""
        found = []
        for path in self.journals:
            with open(path, encoding="utf-8", errors="replace") as journal:
                # One that has no end yet is being written.
                found += [line.split() for line in journal if line.startswith(words) and line.endswith("\n")]
        return found

    def drain(self):
        for process in self.hosts:
            process.order("drain")
        for process in self.hosts:
            self.await_word(process, "drained", 300)
        for process in self.hosts:
            process.order("finish")
        for process in self.hosts:
            self.await_word(process, "finished", 300)
        self.observe()

    @property
    def journals(self):
        return [f"{self.folder}/{name}" for name in sorted(os.listdir(self.folder)) if name.endswith(".journal")]

    def stop(self):
        for program in [*self.hosts, *([self.wild] if self.wild else []), *self.copies, *self.members]:
            program.signal(signal.SIGCONT)
            program.kill()
        for index in range(MEMBERS):
            if index in self.disks:
                subprocess.run(["umount", "-l", f"{self.folder}/disk{index}"], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


# Those that are in a copy of the cloud (FaultyEngine); and the same copy without any, in which none may be found.
PLANTED_COPIES = (
    "nothing", "forgetsDecisions", "decidesByOldState", "expiresEarly", "renewsForOthers", "goesByTheCalendar", "forgetsRecords",
    "decidesAnew", "ignoresPolicy", "forgetsTimeline", "keepsCommandsByCopy", "forgetsCommandsOfOthers", "ignoresLeaseLimit",
    "refusesKnownLeases", "replacesAnyToken", "sharesOnePool", "walksOverCommands")
# Of these, those that a flood of commands shows.
PLANTED_FLOODS = ("sharesOnePool", "walksOverCommands")
# Those that are in the hosts (MeterDriver).
PLANTED_HOSTS = ("usesOn",)
# Those that a quick run leaves out, as they take long to show, or as each run of `make lease-histories` finds them too.
PLANTED_SLOW = (
    "decidesAnew", "forgetsTimeline", "ignoresLeaseLimit", "refusesKnownLeases", "replacesAnyToken", *PLANTED_FLOODS, *PLANTED_HOSTS)
