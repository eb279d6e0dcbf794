"""A meter of attic's that cellar does not hear, used from cellar: seen, watched, commanded, recorded; and handed over."""

import time

from checks import check
from harness import Failure, Program, changes, readings, wait, widest_gap
from program import HELD, USAGE
from two_hosts import expect, two_hosts

# It takes commands, has LE alone, and is silent for everybody else while it is connected.
METER, ANOTHER = "tc66c-b", "fnb58"
# What a TC66C is told over LE to turn its screen (Docs/Protocols/TC66.md).
ROTATE = b"brotat\r\n"
# Readings that show that they go on, and how old one may be that is shown, in ms.
SOME, FRESH = 4, 5000


class Watch(Program):
    """A `meterctl watch --json` of a host's that goes on; what it writes is with the results."""

    def __init__(self, bench, hosts, host):
        super().__init__(
            f"watch-{hosts.name(host)}", [f"{host.bin}/meterctl", "watch", hosts.meter, "--json", "--socket", host.socket],
            bench.results, base=host.base, cwd="/")
        self.start()
        bench.after(self.kill)

    def readings(self):
        """So far. Its talk is in the same file, and the last line may not be whole yet."""
        whole = self.log.rpartition("\n")[0]
        return readings("\n".join(line for line in whole.splitlines() if line.startswith("{")))

    def holders(self):
        """Who measured them, each once in a row; None is the host itself."""
        return changes([line.get("measured_by") for line in self.readings()])

    def sees_more(self, of, seconds=60):
        """Waits for some more readings that this host measured, or this one itself where it is None."""
        before = len(self.readings())

        def more():
            self.expect_running()
            new = [line.get("measured_by") for line in self.readings()[before:]]
            return len(new) >= SOME and set(new[-SOME:]) == {of}
        wait(lambda: f"{self.name} shows what {of or 'its own host'} measures; so far {len(self.readings())} readings of"
                     f" {self.holders()}; {self.last_lines(1)}", more, seconds)

    def gap(self):
        """The longest time without a reading, in seconds."""
        return widest_gap([line["time"] for line in self.readings()])


def attic_alone(bench):
    """attic reads the meter over LE, and cellar has not heard it since both were started."""
    hosts = two_hosts(bench, METER, in_reach=False)
    if hosts.attic.state(hosts.meter) != "data-available":
        wait("attic hears the meter", lambda: hosts.attic.sighting(hosts.meter), 60)
        hosts.given_to(hosts.attic)
    reads_over_le(hosts, hosts.attic)
    if heard := hosts.cellar.sighting(hosts.meter):
        raise Failure(f"cellar hears the meter: {heard}")
    return hosts


def reads_over_le(hosts, host):
    """Waits until this host alone has the meter's link, and has data over it."""
    hosts.reads(host)
    if (over := host.meter(hosts.meter)["transport"]) != "ble":
        raise Failure(f"{hosts.name(host)} reads the meter over {over}")


@check("relay")
def a_meter_that_is_not_heard_here_is_shown(bench):
    """`status` has a reading of its holder's and the age, in JSON and in the table, beside what this host's own adapter hears."""
    hosts = attic_alone(bench)
    wait("cellar's adapter hears another meter", lambda: hosts.cellar.sighting(bench.meters[ANOTHER]["address"]), 60)
    # A first look may end before a reading has come.
    status = wait("cellar shows what attic measures", lambda: hosts.cellar.json("status", hosts.meter), 60, retry=(Failure,),
                  until=lambda seen: seen.get("measured_by") == "attic")
    if not 0 <= status["age_ms"] < FRESH or not 4 < (status["reading"].get("voltage_V") or 0) < 6:
        raise Failure(f"{status['reading']} is {status['age_ms']} ms old")
    if (holder := status["lease"]["holder"]) != "attic":
        raise Failure(f"{holder} is said to have it")
    table = hosts.cellar.must("status")
    print(table.out, flush=True)
    if not any(hosts.meter in line and "attic" in line for line in table.out.splitlines()):
        raise Failure(f"the table does not have it: {table}")
    refused = expect(hosts.cellar.ctl("connect", hosts.meter), HELD, "attic has")
    reads_over_le(hosts, hosts.attic)
    return f"{status['reading']['voltage_V']} V, {status['age_ms']} ms old; {refused}"


@check("relay")
def a_meter_that_is_not_heard_here_is_watched(bench):
    """`watch --json` has its holder's readings, one after the other, and the meter has the holder's link alone."""
    hosts = attic_alone(bench)
    began = time.monotonic()
    watch = Watch(bench, hosts, hosts.cellar)
    wait("a first reading", lambda: watch.readings() or watch.expect_running(), 60)
    first = time.monotonic() - began
    watch.sees_more("attic")
    watch.sees_more("attic")
    said, who = watch.readings(), watch.holders()
    if who != ["attic"] or any(line["voltage_V"] is not None and not 4 < line["voltage_V"] < 6 for line in said):
        raise Failure(f"readings of {who}: {said}")
    reads_over_le(hosts, hosts.attic)
    return f"{len(said)} readings, the first after {first:.1f} s, at most {watch.gap():.1f} s apart"


@check("relay")
def a_meter_that_is_not_heard_here_is_commanded(bench):
    """Its holder does it, once, and says for whom; what the meter does not take is refused in the holder's name."""
    hosts = attic_alone(bench)
    before, mark = hosts.written(ROTATE), hosts.attic.mark()
    done = hosts.cellar.must("command", hosts.meter, "rotate")
    wait("the meter is told", lambda: hosts.written(ROTATE) > before, 20)
    wait("attic says for whom", lambda: any("command executed" in line and "host=cellar" in line
                                            for line in hosts.attic.logged(mark).splitlines()), 20)
    refused = expect(hosts.cellar.ctl("command", hosts.meter, "brightness", "3"), USAGE, "attic, which has")
    if (times := hosts.written(ROTATE) - before) != 1:
        raise Failure(f"the meter was told {times} times")
    return f"done after {done.seconds:.1f} s; {refused}"


@check("relay")
def a_meter_that_is_not_heard_here_is_recorded(bench):
    """Begun and ended at this host, the recording is the holder's, has readings, and is in the lists of both."""
    hosts = attic_alone(bench)
    begun = hosts.cellar.json("record", "start", hosts.meter, "--name", "from the cellar")
    bench.after(hosts.attic.ctl, "record", "stop", hosts.meter)
    if (begun["host"], begun["mine"], begun["name"]) != ("attic", False, "from the cellar"):
        raise Failure(f"it began as {begun}")
    Watch(bench, hosts, hosts.cellar).sees_more("attic")
    ended = hosts.cellar.json("record", "stop", hosts.meter)
    if (ended["id"], ended["state"]) != (begun["id"], "ended") or not ended["readings"]:
        raise Failure(f"it ended as {ended}")
    for host, is_mine in ((hosts.attic, True), (hosts.cellar, False)):
        wait(f"{hosts.name(host)} lists it", lambda host=host, is_mine=is_mine: any(
            (one["id"], one["host"], one["mine"]) == (begun["id"], "attic", is_mine)
            for one in host.json("record", "list")["recordings"]), 60)
    return f"{ended['readings']} readings"


@check("relay")
def a_holder_that_is_killed_is_watched_again(bench):
    """attic is killed and started: readings come again by themselves, to a watch that began before."""
    hosts = attic_alone(bench)
    watch = Watch(bench, hosts, hosts.cellar)
    watch.sees_more("attic")
    bench.after(lambda: hosts.attic.runs or hosts.attic.start())
    hosts.attic.kill()
    killed = time.monotonic()
    wait("the meter's link is gone", lambda: hosts.links() == 0, 30)
    seen = len(watch.readings())
    hosts.attic.start()
    reads_over_le(hosts, hosts.attic)
    read = time.monotonic() - killed
    wait("cellar sees it again", lambda: len(watch.readings()) > seen, 60)
    again = time.monotonic() - killed
    watch.sees_more("attic")
    if (who := watch.holders()) != ["attic"]:
        raise Failure(f"readings of {who}")
    return f"attic has data {read:.1f} s after the kill, cellar sees it after {again:.1f} s; {watch.gap():.1f} s without a reading"


@check("relay")
def a_watched_meter_is_handed_over(bench):
    """In reach of cellar and let go by attic, cellar connects it over LE; who watches at either host goes on seeing it."""
    hosts = attic_alone(bench)
    watches = [Watch(bench, hosts, host) for host in (hosts.cellar, hosts.attic)]
    for watch, holder in zip(watches, ("attic", None), strict=True):
        watch.sees_more(holder)
    hosts.out_of_reach(False)
    hosts.attic.must("disconnect", hosts.meter)
    wait("cellar hears the meter", lambda: hosts.cellar.sighting(hosts.meter), 60)
    took = hosts.given_to(hosts.cellar)
    bench.after(lambda: hosts.cellar.disconnect(hosts.meter))
    reads_over_le(hosts, hosts.cellar)
    for watch, holder in zip(watches, (None, "cellar"), strict=True):
        watch.sees_more(holder)
    seen = [watch.holders() for watch in watches]
    if seen != [["attic", None], [None, "cellar"]]:
        raise Failure(f"readings of {seen[0]} were seen at cellar, of {seen[1]} at attic")
    return f"cellar has data after {took:.1f} s; {' and '.join(f'{watch.gap():.1f} s' for watch in watches)} without a reading"
