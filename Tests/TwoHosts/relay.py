"""Cases in which a host watches a meter that another one has."""

import os
import signal
import time

from cluster import METER, SOON, Cluster, Failure, joined, seen, wait
from harness import changes, readings

SHORT = '[cloud]\nlease-ttl = "30s"\n'
WATCHERS = ("attic", "bench", "cellar")


def sees(host, holder):
    """Waits until a host shows a reading of the meter that this holder measured."""
    wait(f"{host.name} sees what {holder} measures", lambda: host.json("status", METER).get("measured_by") == holder, SOON)


def watched_from_afar(cluster: Cluster):
    """A meter is seen on a host that does not have it, and stays so while it goes from one host to another and back."""
    a, b, c = joined(cluster, names=WATCHERS)
    a.must("connect", METER)
    sees(c, "attic")
    stranger = cluster.host("loft")
    stranger.join()
    sees(stranger, "attic")
    refused = stranger.ctl("disconnect", METER)
    if refused.status != 4 or "attic has" not in refused.err:
        raise Failure(f"disconnect of a meter elsewhere: {refused}")
    watching = c.begin("watch", METER, "--json")
    at_home = b.begin("watch", METER, "--json")
    for holder, other in ((b, a), (a, b)):
        # Who watches looks once a second where the meter is.
        time.sleep(4)
        other.must("disconnect", METER)
        holder.must("connect", METER, "--timeout", f"{SOON}s")
        sees(c, holder.name)
    time.sleep(4)
    watched, own = readings(watching.interrupt().out), readings(at_home.interrupt().out)
    path = [line["measured_by"] for line in watched]
    if (order := changes(path)) != ["attic", "bench", "attic"]:
        raise Failure(f"the third host saw readings of {order}")
    if (order := changes([line.get("measured_by") for line in own])) != ["attic", None, "attic"]:
        raise Failure(f"the second host saw readings of {order}")
    # It had none of the port's bytes itself, and saw the meter's own numbers.
    if not all(4 < line["voltage_V"] < 6 for line in watched):
        raise Failure("a reading is not the meter's")
    return f"{len(watched)} readings seen from afar"


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
    order = changes([line["measured_by"] for line in readings(watching.interrupt().out)])
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
    said = readings(watching.interrupt().out)
    if not any(line["time"] > started for line in said):
        raise Failure(f"none of {len(said)} readings came after the cloud was back at {started}: {said[-1:]}")
    return None


def commanded_from_afar(cluster: Cluster):
    """A meter is commanded and recorded from a host that does not have it; after a change of holder by the new one."""
    a, b, c = joined(cluster, names=WATCHERS)
    a.must("connect", METER)
    sees(c, "attic")
    c.must("command", METER, "screen-timeout", "1")
    wait("the meter was told at its holder", lambda: "command executed" in a.log and "command sent" in a.log)
    refused = c.ctl("command", METER, "screen-timeout", "99")
    if refused.status == 0 or "attic, which has" not in refused.err:
        raise Failure(f"a number that the meter does not take: {refused}")
    begun = c.json("record", "start", METER, "--name", "from afar")
    if begun["host"] != "attic" or begun["mine"] or begun["name"] != "from afar":
        raise Failure(f"the recording is {begun}")
    # Its page asks for these of a meter that it has never met.
    for question in (("record", "list", METER), ("get", METER), ("history", METER), ("stretch", METER)):
        c.must(*question)
    twice = c.ctl("record", "start", METER)
    if twice.status == 0 or "recorded already" not in twice.err:
        raise Failure(f"recorded twice: {twice}")
    time.sleep(3)
    ended = c.json("record", "stop", METER)
    if ended["id"] != begun["id"] or ended["state"] != "ended" or ended["readings"] == 0:
        raise Failure(f"the recording ended as {ended}")
    mine = [one for one in a.json("record", "list")["recordings"] if one["id"] == begun["id"]]
    if not mine or not mine[0]["mine"]:
        raise Failure("the holder does not have it")
    a.must("disconnect", METER)
    b.must("connect", METER, "--timeout", f"{SOON}s")
    sees(c, "bench")
    c.must("command", METER, "screen-timeout", "2")
    wait("the new holder does it", lambda: "command executed" in b.log)
    return None


def told_in_its_log(cluster: Cluster):
    """The log of a meter, asked for at a host that does not have it: who had it, under which token, and who commanded it."""
    a, b, c = joined(cluster, names=WATCHERS)
    a.must("connect", METER)
    sees(b, "attic")
    token = b.lease(METER)["token"]
    b.must("command", METER, "screen-timeout", "1")
    a.must("set", METER, "notes=in the log")
    seen(b, "notes", "in the log")
    held = logged(b, "held", "attic")
    if held["token"] != token or held["until"] is not None or held["mine"]:
        raise Failure(f"attic has it under {token}, and the log says {held}")
    command = logged(b, "command", "attic", by="bench")
    if (command["what"], command["by"], command["detail"]) != ("screen-timeout 1", "bench", "sent"):
        raise Failure(f"bench commanded it, and the log says {command}")
    logged(b, "state", "attic", what="data-available")
    if logged(b, "setting", None, what="notes")["by"] != "attic":
        raise Failure("attic set it, and the log does not say so")
    a.must("disconnect", METER)
    b.must("connect", METER, "--timeout", f"{SOON}s")
    ended = logged(c, "held", "attic")
    now = logged(c, "held", "bench")
    if ended["detail"] != "given back" or ended["until"] is None or now["token"] <= ended["token"]:
        raise Failure(f"it changed hands: {ended}, {now}")
    shown = c.must("log", METER, "--since", "1h").out
    if f"held over {now['what']}, token {now['token']}" not in shown or "screen-timeout 1: sent" not in shown:
        raise Failure(f"the table does not have it:\n{shown}")
    # What is in the log outlives the programs; a host that says nothing is named.
    a.stop()
    a.start()
    if logged(c, "command", "attic", what="screen-timeout 1")["by"] != "bench":
        raise Failure("it is forgotten after a restart")
    a.signal(signal.SIGSTOP)
    said = c.ctl("log", METER)
    a.signal(signal.SIGCONT)
    if said.status != 0 or "no answer from attic" not in said.err or "held over" not in said.out:
        raise Failure(f"a host that says nothing: {said}")
    return f"{len(c.json('log', METER)['log'])} lines"


def logged(host, kind, at, **fields):
    """The last line of a meter's log of this kind, of what happened at a host; waits for it."""
    def line():
        lines = [line for line in host.json("log", METER)["log"] if (line["kind"], line["host"]) == (kind, at)]
        lines = [line for line in lines if all(line[key] == value for key, value in fields.items())]
        return lines[-1] if lines else None
    return wait(f"{host.name} is told {kind} {fields} at {at}", line, SOON)


def kept_to_itself(cluster: Cluster):
    """A host that shares nothing and takes no commands: others see that it has the meter, and that it says no more."""
    a, _ = joined(cluster, "[relay]\nshare = false\ncommands = false\n")
    a.must("connect", METER)
    # It has never met the meter: the others had a reading of their own when they did.
    b = cluster.host("loft")
    b.join()
    wait("it is seen that nothing is shared", lambda: b.json("status", METER).get("unshared"), SOON)
    status = b.json("status", METER)
    if status.get("reading") or "measured_by" in status:
        raise Failure(f"something of it is shown: {status}")
    watched = b.ctl("watch", METER)
    if watched.status == 0 or "does not share" not in watched.err:
        raise Failure(f"it can be watched: {watched}")
    refused = b.ctl("command", METER, "screen-timeout", "1")
    if refused.status == 0 or "takes no commands" not in refused.err:
        raise Failure(f"it can be commanded: {refused}")
    log = b.json("log", METER)
    if log["unshared"] != ["attic", "bench"] or any(line["host"] for line in log["log"]):
        raise Failure(f"its log is told: {log}")
    return None


def only_looking(cluster: Cluster):
    """A host with a read-only token sees everything and changes nothing: it is told so at once, and its sync is healthy."""
    a, b = joined(cluster)
    token = f"{cluster.folder}/look.token"
    made = cluster.cloud.administer("token", "create", "--enrolment", "--read-only", "--output", token)
    if os.path.getsize(token) == 0:
        raise Failure(f"no token: {made}")
    full, cluster.token_file = cluster.token_file, token
    c = cluster.host("gamma")
    c.join()
    cluster.token_file = full
    # A meter that no other host has is its own affair.
    c.must("connect", cluster.meter(), "--model", "um25c", "--id", METER, "--timeout", f"{SOON}s")
    lease = c.json("status", METER)["lease"]
    if lease["state"] != "unleased" or not lease["read_only"] or a.lease(METER).get("holder"):
        raise Failure(f"it uses a free meter as {lease}, and others see {a.lease(METER)}")
    c.must("disconnect", METER)
    a.must("connect", METER)
    sees(c, "attic")
    watching = c.begin("watch", METER, "--json")
    wait("it knows that it may only look", lambda: c.json("cloud", "status").get("role") == "readOnly", SOON)
    before = (holder(a), a.setting(METER, "name"), len(a.json("record", "list")["recordings"]))
    for words in (("connect", METER, "--takeover", "--yes"), ("connect", METER, f"--queue={SOON}s", "--yes"),
                  ("command", METER, "screen-timeout", "1"), ("record", "start", METER)):
        began = time.monotonic()
        refused = c.ctl(*words)
        if refused.status != 6 or "may only look" not in refused.err or "attic" not in refused.err:
            raise Failure(f"{words}: {refused}")
        if "metercloud token create" not in refused.err:
            raise Failure(f"{words}: what to do is not said: {refused.err}")
        if time.monotonic() - began > 3:
            raise Failure(f"{words}: refused after {time.monotonic() - began:.1f} s")
    if (refused := c.ctl("cloud", "retire", "bench", "--yes")).status != 6 or "may only look" not in refused.err:
        raise Failure(f"it retires a host: {refused}")
    if "may only look" not in c.must("set", METER, "name=of gamma").err:
        raise Failure("set does not say that it stays there")
    b.must("set", METER, "notes=of bench")
    seen(c, "notes", "of bench")
    c.must("sync", "now")
    sync = c.json("sync", "status")
    if sync["role"] != "readOnly" or sync["pending"] == 0 or sync["error"] or sync["halt"] or sync["parked"]:
        raise Failure(f"its sync: {sync}")
    if "this host may only look" not in c.must("sync", "status").out:
        raise Failure("sync status does not say why its changes wait")
    if "only look" not in c.must("cloud", "status").out:
        raise Failure("cloud status does not say that it may only look")
    if not any(row["state"] == "held" and row["holder"] == "attic" for row in c.json("who")["leases"]):
        raise Failure("it does not see who has the meter")
    watched = readings(watching.interrupt().out)
    if not watched or changes([line["measured_by"] for line in watched]) != ["attic"]:
        raise Failure(f"it watched {len(watched)} readings")
    if (after := (holder(a), a.setting(METER, "name"), len(a.json("record", "list")["recordings"]))) != before:
        raise Failure(f"something changed: {before}, then {after}")

    # With another token its changes go their way.
    c.must("cloud", "leave")
    c.join()
    seen(a, "name", "of gamma")
    return f"{len(watched)} readings watched"


def holder(host):
    return host.lease(METER).get("holder")


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


CASES = [
    watched_from_afar, paused_holder_paints_nothing, cloud_restarted_while_watched, commanded_from_afar, told_in_its_log,
    kept_to_itself, only_looking, nobody_watches,
]
