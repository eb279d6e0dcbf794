"""What is done to a cluster, by chance that a seed decides. Two lanes work beside each other: one on etcd, one on the
copies, the hosts and what lies between."""

import collections
import os
import random
import signal
import subprocess
import threading
import time

from cluster import COPIES, ETCD_ENVIRONMENT, MEMBERS, ZONES, now
from harness import Failure, wait

# Longer than a lease and its lock-delay.
LONG = 38
# Seventy-three years, from 2026.
TO_2099 = 73 * 365 * 86_400


class Lane(threading.Thread):
    """One fault after the other until the time is up, and then everything is whole again."""

    def __init__(self, cluster, name, until, say):
        super().__init__(daemon=True)
        self.cluster, self.lane, self.until, self.say = cluster, name, until, say
        self.random = random.Random(f"{cluster.seed} {name}")
        self.counts = collections.Counter()
        self.problem = None
        self.stopped = threading.Event()
        self.kinds = [(kind[len(name) + 1:], getattr(self, kind)) for kind in dir(self) if kind.startswith(name + "_")]

    def run(self):
        try:
            deck = []
            while now() < self.until and not self.stopped.is_set():
                if not deck:
                    # Each kind once before any comes again.
                    deck = [*self.kinds]
                    self.random.shuffle(deck)
                name, fault = deck.pop()
                began = time.monotonic()
                done = fault()
                if done is not False:
                    self.counts[name.replace("_", " ")] += 1
                    self.say(f"{name.replace('_', ' ')}{f' {done}' if done else ''}, "
                             f"{time.monotonic() - began:.0f} s")
                if self.lane == "etcd":
                    self.raise_fallen()
                self.pause(1, 4)
        # Whatever it is, the run is to say so.
        except Exception as problem:  # pylint: disable=broad-except
            self.problem = problem

    def pause(self, least, most):
        """As long as chance says, and no longer than there is time."""
        seconds = min(self.random.uniform(least, most), max(0.0, (self.until - now()) / 1e9))
        self.stopped.wait(seconds)

    def flows(self, ones, others, is_one_way):
        pairs = [(one, other) for one in ones for other in others if one != other]
        if is_one_way:
            return pairs if self.random.random() < 0.5 else [(other, one) for one, other in pairs]
        return pairs + [(other, one) for one, other in pairs]

    def disturb(self, ones, others, is_one_way=False, seconds=(3, 14), **values):
        """Changes how it goes between them for a while."""
        pairs = self.flows(ones, others, is_one_way)
        net = self.cluster.net
        net.change(pairs, **values)
        self.pause(*seconds)
        net.change(pairs, **{
            name: -value if name == "held" else {"delay": 0.0, "bandwidth": None, "loss": 0.0}[name]
            for name, value in values.items()})

    def member(self):
        return self.random.randrange(MEMBERS)

    @property
    def all_members(self):
        return [f"m{index}" for index in range(MEMBERS)]

    # etcd

    def revive(self, index):
        member = self.cluster.members[index]
        member.start()
        self.cluster.await_leader()

    def raise_fallen(self):
        """Starts members again that ended by themselves, as systemd does. 3.4 may while it is defragmented (etcd's issues
        14256 and 18810)."""
        fallen = [member for member in self.cluster.members if not member.runs]
        for member in fallen:
            member.kill()
            member.start()
            self.counts["member ended by itself"] += 1
            self.say(f"member ended by itself: {member.name}")
        if fallen:
            self.cluster.await_leader()

    def etcd_member_killed(self):
        index = self.member()
        self.cluster.members[index].kill()
        self.pause(0.5, 8)
        self.revive(index)

    def etcd_member_paused(self):
        member = self.cluster.members[self.member()]
        member.signal(signal.SIGSTOP)
        self.pause(2, 12)
        member.signal(signal.SIGCONT)

    def etcd_leader_killed(self):
        index = self.cluster.leader()
        if index is None:
            return False
        self.cluster.members[index].kill()
        self.pause(0.5, 5)
        self.revive(index)
        return None

    def etcd_leader_moved(self):
        index = self.cluster.leader()
        if index is None:
            return False
        other = self.random.choice([one for one in range(MEMBERS) if one != index])
        identity = next((key for key, name in self.cluster.member_ids.items() if name == f"m{other}"), None)
        # It may have lost the lead meanwhile.
        self.cluster.etcdctl(index, "move-leader", identity, check=False)
        return None

    def etcd_member_partitioned(self):
        one = f"m{self.member()}"
        self.disturb([one], self.all_members, held=1)

    def etcd_member_partitioned_one_way(self):
        one = f"m{self.member()}"
        self.disturb([one], self.all_members, is_one_way=True, held=1)

    def etcd_peers_slow(self):
        self.disturb([f"m{self.member()}"], self.all_members, delay=self.random.uniform(0.02, 0.15))

    def etcd_peers_lossy(self):
        self.disturb([f"m{self.member()}"], self.all_members, loss=0.02)

    def etcd_compacted_and_defragmented(self):
        index = self.member()
        try:
            status = self.cluster.gateway(index, "/v3/maintenance/status", {}, timeout=5)
        except OSError:
            return False
        self.cluster.etcdctl(index, "compact", status["header"]["revision"], check=False)
        for member in range(MEMBERS):
            self.cluster.etcdctl(member, "defrag", check=False)
        return None

    def etcd_quota_reached(self):
        """Real bytes under another prefix, until etcd raises its alarm; then all that Docs/Scale.md says to do."""
        leader = self.cluster.leader()
        if leader is None:
            return False
        for number in range(80):
            done = subprocess.run(
                ["etcdctl", "--endpoints", self.cluster.client_url(leader), "put", f"junk/{number}"],
                input=b"x" * 1_000_000, capture_output=True, check=False, timeout=60,
                env=ETCD_ENVIRONMENT)
            if b"space exceeded" in done.stderr:
                break
        alarmed = "NOSPACE" in self.cluster.etcdctl(leader, "alarm", "list", check=False)
        self.pause(1, 4)
        self.mend_quota()
        return None if alarmed else False

    def mend_quota(self):
        def mended():
            self.raise_fallen()
            try:
                return mend()
            except OSError:
                return False

        def mend():
            leader = self.cluster.leader()
            if leader is None:
                return False
            status = self.cluster.gateway(leader, "/v3/maintenance/status", {}, timeout=5)
            ctl = self.cluster.etcdctl
            # A deletion is a write, which the alarm forbids: first room, then the alarm, then the junk, then room again.
            ctl(leader, "compact", status["header"]["revision"], check=False)
            for member in range(MEMBERS):
                ctl(member, "defrag", check=False)
            ctl(leader, "alarm", "disarm", check=False)
            ctl(leader, "del", "--prefix", "junk/", check=False)
            status = self.cluster.gateway(leader, "/v3/maintenance/status", {}, timeout=5)
            ctl(leader, "compact", status["header"]["revision"], check=False)
            for member in range(MEMBERS):
                ctl(member, "defrag", check=False)
            ctl(leader, "alarm", "disarm", check=False)
            return "NOSPACE" not in ctl(leader, "alarm", "list", check=False)

        wait("etcd takes writes again", mended)

    def etcd_disk_full(self):
        """One member's disk, to the last byte. etcd ends by itself once it has to write more than it has room for."""
        if not self.cluster.disks:
            return False
        index = self.random.choice(self.cluster.disks)
        filler = f"{os.path.dirname(self.cluster.data(index))}/filler"
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 20))
            except OSError:
                pass
        self.pause(4, 10)
        ended = not self.cluster.members[index].runs
        os.unlink(filler)
        if ended:
            self.cluster.members[index].kill()
            self.revive(index)
        return "and the member ended" if ended else "and the member had room"

    # Copies, hosts, and what lies between

    def edge_copy_killed(self):
        index = self.random.randrange(COPIES)
        copy = self.cluster.copies[index]
        copy.kill()
        self.pause(0.2, 6)
        copy.start()
        self.cluster.await_copy(index)

    def edge_copy_paused(self):
        self.hold(self.random.choice(self.cluster.copies), 2, 12)

    def edge_copy_paused_beyond_a_lease(self):
        return self.hold_long(self.random.choice(self.cluster.copies))

    def edge_hosts_killed(self):
        process = self.random.choice(self.cluster.hosts)
        process.kill()
        self.pause(0.2, 8)
        process.start()

    def edge_hosts_started_in_2099(self):
        """A start with a wrong calendar, as a bad answer gives it, set right while they run or with the next start."""
        process = self.random.choice(self.cluster.hosts)
        clock = self.cluster.clocks[process.name]
        process.kill()
        clock.set(TO_2099)
        process.start()
        self.pause(5, 15)
        ends_with_a_start = self.random.random() < 0.5
        if ends_with_a_start:
            process.kill()
        clock.set(0)
        if ends_with_a_start:
            process.start()

    def edge_hosts_moved_to_another_zone(self):
        """They join it for a while, with all that they have, and then their own again."""
        process = self.random.choice(self.cluster.hosts)
        for zone in (self.random.choice([zone for zone in ZONES if zone != process.zone]), process.zone):
            process.kill()
            self.cluster.move(process, zone)
            process.start()
            self.pause(8, 20)

    def edge_policy_changed(self):
        """A zone becomes strict while its hosts run, and after a while it is as it was. An administrator whose command
        got no answer gives it again."""
        for policy in ("strict", ZONES["mixed"]):
            while not self.cluster.set_policy("mixed", policy, self.random.randrange(COPIES)):
                self.pause(1, 2)
                if self.stopped.is_set() or now() > self.until:
                    return False
            self.pause(8, 20)
        return None

    def edge_hosts_killed_for_good_long(self):
        """So long that others get what they had."""
        process = self.random.choice(self.cluster.hosts)
        if (self.until - now()) / 1e9 < LONG + 5:
            return False
        process.kill()
        self.pause(LONG, LONG + 5)
        process.start()
        return None

    def edge_hosts_paused(self):
        self.hold(self.random.choice(self.cluster.hosts), 2, 12)

    def edge_hosts_paused_beyond_a_lease(self):
        return self.hold_long(self.random.choice(self.cluster.hosts))

    def hold(self, program, least, most):
        program.signal(signal.SIGSTOP)
        self.pause(least, most)
        program.signal(signal.SIGCONT)

    def hold_long(self, program):
        if (self.until - now()) / 1e9 < LONG + 5:
            return False
        self.hold(program, LONG, LONG + 4)
        return None

    @property
    def copies(self):
        return [f"c{index}" for index in range(COPIES)]

    @property
    def host_processes(self):
        return [process.name for process in [*self.cluster.hosts, self.cluster.wild]]

    def edge_copy_cut_from_etcd(self):
        self.disturb([self.random.choice(self.copies)], self.all_members, held=1)

    def edge_copy_cut_from_etcd_one_way(self):
        self.disturb([self.random.choice(self.copies)], self.all_members, is_one_way=True, held=1)

    def edge_hosts_cut_from_a_copy(self):
        self.disturb([self.random.choice(self.host_processes)], [self.random.choice(self.copies)], held=1)

    def edge_hosts_cut_off(self):
        self.disturb([self.random.choice(self.host_processes)], self.copies, held=1)

    def edge_hosts_cut_off_one_way(self):
        self.disturb([self.random.choice(self.host_processes)], self.copies, is_one_way=True, held=1)

    def edge_hosts_cut_off_beyond_a_lease(self):
        if (self.until - now()) / 1e9 < LONG + 5:
            return False
        self.disturb([self.random.choice(self.host_processes)], self.copies, seconds=(LONG, LONG + 4), held=1)
        return None

    def edge_links_slow(self):
        self.disturb(self.host_processes, [self.random.choice(self.copies)], delay=self.random.uniform(0.05, 0.5))

    def edge_links_narrow(self):
        self.disturb(self.host_processes, [self.random.choice(self.copies)], bandwidth=20_000)

    def edge_links_lossy(self):
        self.disturb(self.host_processes, self.copies, loss=0.05)

    def edge_copy_links_lossy(self):
        self.disturb([self.random.choice(self.copies)], self.all_members, loss=0.05)

    def edge_clock_stepped(self):
        """The calendar of a copy or of hosts; copies' go ahead by minutes at most."""
        name = self.random.choice([name for name in self.cluster.clocks if name != "restore"])
        steps = [0, 45, 300, -7200, -86_400 * 800] if name.startswith("c") else [
            0, 3600, -3600, 86_400 * 300, -86_400 * 3000]
        self.cluster.clocks[name].set(self.random.choice(steps))
        self.pause(1, 2)
        return None


def finish(lanes):
    """Waits for their ends."""
    for lane in lanes:
        lane.join(200)
        if lane.is_alive():
            raise Failure(f"the faults of {lane.lane} did not end")
        if lane.problem:
            raise lane.problem
