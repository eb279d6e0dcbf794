"""Cases in which a host watches a meter that another one has."""

import json
import signal
import time

from cluster import METER, SOON, Cluster, Failure, joined, wait

SHORT = '[cloud]\nlease-ttl = "30s"\n'
WATCHERS = ("attic", "bench", "cellar")


def sees(host, holder):
    """Waits until a host shows a reading of the meter that this holder measured."""
    wait(f"{host.name} sees what {holder} measures", lambda: host.json("status", METER).get("measured_by") == holder, SOON)


def lines(said):
    """The readings of a `watch --json`."""
    return [json.loads(line) for line in said.out.splitlines()]


def watched_from_afar(cluster: Cluster):
    """A meter is seen on a host that does not have it, and stays so while it goes from one host to another and back."""
    a, b, c = joined(cluster, names=WATCHERS)
    a.must("connect", METER)
    sees(c, "attic")
    stranger = cluster.host("loft")
    stranger.join()
    sees(stranger, "attic")
    for done in (("record", "start", METER), ("command", METER, "screen-timeout", "1"), ("disconnect", METER)):
        refused = stranger.ctl(*done)
        if refused.status != 4 or "attic has" not in refused.err:
            raise Failure(f"{done[0]} of a meter elsewhere: {refused}")
    watching = c.begin("watch", METER, "--json")
    at_home = b.begin("watch", METER, "--json")
    for holder, other in ((b, a), (a, b)):
        # Who watches looks once a second where the meter is.
        time.sleep(4)
        other.must("disconnect", METER)
        holder.must("connect", METER, "--timeout", f"{SOON}s")
        sees(c, holder.name)
    time.sleep(4)
    watched, own = lines(watching.interrupt()), lines(at_home.interrupt())
    path = [line["measured_by"] for line in watched]
    if (order := changes(path)) != ["attic", "bench", "attic"]:
        raise Failure(f"the third host saw readings of {order}")
    if (order := changes([line.get("measured_by") for line in own])) != ["attic", None, "attic"]:
        raise Failure(f"the second host saw readings of {order}")
    # It had none of the port's bytes itself, and saw the meter's own numbers.
    if not all(4 < line["voltage_V"] < 6 for line in watched):
        raise Failure("a reading is not the meter's")
    return f"{len(watched)} readings seen from afar"


def changes(values):
    """Each value that differs from the one before it."""
    return [value for place, value in enumerate(values) if place == 0 or values[place - 1] != value]


def paused_holder_paints_nothing(cluster: Cluster):
    """A holder that is paused past its lease and goes on: nobody sees anything of it after its successor's first reading."""
    a, b, c = joined(cluster, SHORT, names=WATCHERS, ports_apart=True)
    a.must("connect", METER)
    sees(c, "attic")
    watching = c.begin("watch", METER, "--json")
    a.signal(signal.SIGSTOP)
    b.must("connect", METER, f"--queue={SOON}s", "--timeout", f"{SOON}s")
    sees(c, "bench")
    a.signal(signal.SIGCONT)
    wait("the former holder learns of it", lambda: a.lease(METER).get("holder") == "bench", SOON)
    time.sleep(5)
    order = changes([line["measured_by"] for line in lines(watching.interrupt())])
    if order not in (["attic", "bench"], ["bench"]):
        raise Failure(f"readings of {order} were shown")
    return None


def cloud_restarted_while_watched(cluster: Cluster):
    """A cloud that is killed and comes back: who watches sees readings again, without doing anything."""
    a, _, c = joined(cluster, names=WATCHERS)
    a.must("connect", METER)
    sees(c, "attic")
    watching = c.begin("watch", METER, "--json")
    time.sleep(2)
    cluster.cloud.kill()
    time.sleep(2)
    cluster.cloud.start()
    started = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
    # No look of ours keeps the interest alive: the one who watches does.
    # A second apart: who asks without a token is answered ten times a second and no more.
    wait("readings are passed on again", lambda: relayed(cluster) > 4, SOON, every=1)
    said = lines(watching.interrupt())
    if not any(line["time"] > started for line in said):
        raise Failure(f"none of {len(said)} readings came after the cloud was back at {started}: {said[-1:]}")
    return None


def nobody_watches(cluster: Cluster):
    """Nothing is sent while nobody watches, and a last look ends by itself."""
    a, b = joined(cluster)
    a.must("connect", METER)
    time.sleep(5)
    before = relayed(cluster)
    sees(b, "attic")
    during = relayed(cluster)
    # A glance is good for half a minute; the holder hears of its end with the cloud's next ping, 15 s later.
    time.sleep(50)
    ended = relayed(cluster)
    time.sleep(10)
    if before != 0 or during == 0 or relayed(cluster) != ended:
        raise Failure(f"batches: {before} before, {during} while somebody watched, {ended} and {relayed(cluster)} after")
    return f"{ended} batches for one look"


def relayed(cluster):
    """Batches that the cloud has answered."""
    text = cluster.cloud.metrics()
    return sum(
        int(float(line.rsplit(" ", 1)[1])) for line in text.splitlines()
        if line.startswith("metercloud_requests_total{") and 'route="relayReadings"' in line)


CASES = [watched_from_afar, paused_holder_paints_nothing, cloud_restarted_while_watched, nobody_watches]
