"""Two hosts, one meter that is silent for everybody else while it is connected, and a cloud that says whose it is."""

import time

from checks import check
from harness import Failure, wait
from program import HELD, REFUSED, TIMED_OUT
from two_hosts import LOCK_DELAY, TIME_TO_LIVE, expect, two_hosts

# How long a meter that was taken over is looked for, seconds.
SEARCH = 30
# By how much what is shown of a lease may lag behind, seconds.
SLACK = 3
LINKED = ("connected", "ready", "communicating", "data-available")


@check("hosts")
def two_hosts_hear_one_meter(bench):
    """Each over its own adapter, and over no other."""
    hosts = two_hosts(bench)
    for host in (hosts.attic, hosts.cellar):
        name = hosts.name(host)
        entry = wait(f"{name} hears the meter", lambda host=host: host.sighting(hosts.meter), 60)
        if entry["adapter"] != hosts.addresses[name]:
            raise Failure(f"{name} hears it with {entry['adapter']}")
        used = [adapter["address"] for adapter in host.get("/v1/status")["adapters"]
                if adapter["state"] in ("searching", "idle")]
        if used != [hosts.addresses[name]]:
            raise Failure(f"{name} uses {used}")
    return ", ".join(f"{name} {address}" for name, address in hosts.addresses.items())


@check("hosts")
def a_meter_that_is_elsewhere_is_not_heard(bench):
    """Its holder is named all the same, in status, scan and connect, which ends with the status for that."""
    hosts = two_hosts(bench)
    hosts.given_to(hosts.attic)
    began = time.monotonic()
    wait("cellar hears it no more", lambda: not hosts.cellar.sighting(hosts.meter), 120)
    deaf = time.monotonic() - began
    if "attic" not in (status := hosts.cellar.must("status")).out:
        raise Failure(f"nobody is named: {status}")
    said = expect(hosts.cellar.ctl("connect", hosts.meter), HELD, "attic has")
    hosts.reads(hosts.attic)
    return f"{said} (not listed as heard {deaf:.0f} s after attic had data)"


@check("hosts")
def a_meter_that_is_not_heard_is_taken_over(bench):
    """The holder lets go, then the meter is heard, and then there is data."""
    hosts = two_hosts(bench)
    hosts.given_to(hosts.attic)
    taken = hosts.cellar.must("connect", hosts.meter, "--takeover", "--timeout", "60s")
    hosts.reads(hosts.cellar)
    wait("attic says who has it", lambda: hosts.holder(hosts.attic) == "cellar", 30)
    if (state := hosts.attic.state(hosts.meter)) in LINKED:
        raise Failure(f"attic is still {state}")
    gap = silence(hosts)
    return f"data after {taken.seconds:.1f} s, of which the meter was free for {gap:.1f} s"


def silence(hosts):
    """Seconds between the last link's end and the present one. A Failure where two were there at once."""
    (ended, what, _), (began, also, _) = hosts.history()[-2:]
    if (what, also) != ("down", "up"):
        raise Failure(f"the links were {hosts.history()[-4:]}")
    return began - ended


@check("hosts")
def a_host_in_line_gets_the_meter(bench):
    """Who waits is shown to the holder, and is next when it lets go."""
    hosts = two_hosts(bench)
    hosts.given_to(hosts.cellar)
    waiting = hosts.attic.begin("connect", hosts.meter, "--queue=120s", "--timeout", "60s")
    bench.after(waiting.kill)
    wait("cellar sees who waits", lambda: "attic" in hosts.lease(hosts.cellar).get("waiting", ()), 60)
    hosts.cellar.disconnect(hosts.meter)
    began = time.monotonic()
    expect(waiting.end(90), 0)
    took = time.monotonic() - began
    hosts.reads(hosts.attic)
    return f"data {took:.1f} s after cellar let go"


@check("hosts")
def a_meter_that_has_just_gone_out_of_reach(bench):
    """Taken over while it still counts as heard: the attempt fails, and the holder goes on."""
    hosts = two_hosts(bench)
    hosts.given_to(hosts.attic)
    if not hosts.cellar.sighting(hosts.meter):
        raise Failure("cellar was to have heard it a moment ago")
    hosts.out_of_reach(True)
    bench.after(hosts.out_of_reach, False)
    said = hosts.cellar.ctl("connect", hosts.meter, "--takeover", "--timeout", "60s", seconds=120)
    began = time.monotonic()
    hosts.reads(hosts.attic)
    if hosts.cellar.meter(hosts.meter)["wanted"]:
        raise Failure(f"cellar still wants it after {said}")
    return f"{expect(said, HELD, 'attic has')}; attic has data again {time.monotonic() - began:.1f} s later"


@check("hosts")
def a_meter_out_of_reach_is_given_back(bench):
    """Taken over, looked for in vain, given back with a clear word: its holder goes on; the next time takes --yes."""
    hosts = two_hosts(bench)
    hosts.given_to(hosts.attic)
    hosts.out_of_reach(True)
    bench.after(hosts.out_of_reach, False)
    wait("cellar hears it no more", lambda: not hosts.cellar.sighting(hosts.meter), 120)
    running = hosts.cellar.begin("connect", hosts.meter, "--takeover", "--timeout", "60s")
    bench.after(running.kill)
    wait("attic lets go", lambda: hosts.attic.state(hosts.meter) not in LINKED, 60)
    shown = wait("cellar looks for it", lambda: hosts.cellar.meter(hosts.meter).get("searching_ms"), 30)
    vain = expect(running.end(120), TIMED_OUT, f"not heard here within {SEARCH} s", "given back", "--yes")
    began = time.monotonic()
    hosts.reads(hosts.attic)
    resumed = time.monotonic() - began
    refused = expect(hosts.cellar.ctl("connect", hosts.meter, "--takeover"), REFUSED, "--yes", "attic")
    hosts.reads(hosts.attic)
    hosts.out_of_reach(False)
    sure = hosts.cellar.must("connect", hosts.meter, "--takeover", "--yes", "--timeout", "60s")
    hosts.reads(hosts.cellar)
    return (f"{vain} (looked for for another {shown / 1000:.0f} s at first); attic has data again {resumed:.1f} s"
            f" later; {refused}; in reach again and with --yes: data after {sure.seconds:.1f} s")


@check("hosts")
def a_holder_that_is_killed_loses_the_meter(bench):
    """When its lease and the lock-delay are over, and not before; then to whoever waits."""
    hosts = two_hosts(bench)
    hosts.given_to(hosts.cellar)
    hosts.cellar.kill()
    killed = time.monotonic()
    bench.after(lambda: hosts.cellar.runs or hosts.cellar.start())
    wait("attic hears the meter again", lambda: hosts.attic.sighting(hosts.meter), 30)
    heard = time.monotonic() - killed
    refused = expect(hosts.attic.ctl("connect", hosts.meter), HELD, "cellar has")
    # Seen after the kill: nothing renews it any more. What is shown may be older than it is by the answer's way here.
    least = time.monotonic() - killed + hosts.lease(hosts.attic)["remaining_ms"] / 1000 + LOCK_DELAY - SLACK
    got = hosts.attic.must("connect", hosts.meter, f"--queue={TIME_TO_LIVE + LOCK_DELAY + 60}s", "--timeout", "60s",
                           seconds=240)
    took = time.monotonic() - killed
    up = hosts.history()[-1]
    if took < least or up[1:] != ("up", "attic"):
        raise Failure(f"attic had data {took:.1f} s after the kill, and was to wait for {least:.1f} s;"
                      f" {hosts.history()[-3:]}")
    hosts.reads(hosts.attic)
    hosts.cellar.start()
    wait("cellar sees who has it", lambda: hosts.holder(hosts.cellar) == "attic", 60)
    return (f"heard after {heard:.1f} s; {refused}; data {took:.1f} s after the kill, {least:.1f} s at the least"
            f" (in line for {got.seconds:.1f} s); the killed host is back and says who has it")


@check("hosts")
def a_strict_zone_waits_for_the_holder(bench):
    """The taker gets the lease after the holder's confirmed stop: no moment in which both may talk to the meter."""
    hosts = two_hosts(bench)
    hosts.given_to(hosts.attic)
    hosts.cloud.administer("zone", "set", "home", "--policy", "strict")
    bench.after(hosts.cloud.administer, "zone", "set", "home", "--policy", "keep")
    wait("attic holds it under strict", lambda: hosts.lease(hosts.attic).get("policy") == "strict", TIME_TO_LIVE + 30)
    before = len(hosts.history())
    running = hosts.cellar.begin("connect", hosts.meter, "--takeover", "--timeout", "60s")
    bench.after(running.kill)
    looks, both = 0, []

    def granted():
        nonlocal looks
        looks += 1
        # First who may, then who does: what is seen in this order was true at one moment.
        holder, state = hosts.lease(hosts.cellar), hosts.attic.state(hosts.meter)
        if holder.get("holder") == "cellar" and holder.get("state") == "held" and state in LINKED:
            both.append(state)
        return hosts.cellar.state(hosts.meter) == "data-available"
    wait("cellar has data", granted, 120)
    said = running.end(60)
    expect(said, 0)
    hosts.reads(hosts.cellar)
    links = [(what, name) for _, what, name in hosts.history()[before:]]
    if both or links[:2] != [("down", "attic"), ("up", "cellar")]:
        raise Failure(f"attic was {both} when cellar had the lease; the links were {links}")
    return f"data after {said.seconds:.1f} s, of which the meter was free for {silence(hosts):.1f} s; {looks} looks"


@check("hosts")
def both_hosts_end(bench):
    """SIGTERM ends them within seconds, and what they had is free."""
    hosts = two_hosts(bench)
    hosts.given_to(hosts.attic)
    ended = hosts.stop()
    bench.two_hosts = None
    wait("the meter is let go", lambda: hosts.links() == 0, 15)
    return f"after {' and '.join(ended)}"
