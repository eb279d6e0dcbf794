"""On a Raspberry Pi's radio, as far as its ways are known (air/pi.py)."""

import time

from checks import check
from harness import Failure, wait

METERS = ("um25c", "tc66c-b", "fnb58")
# Seconds: meterd's supervision time-out is 8, the kernel's 0.42.
SHORT, LONG = 3, 10


def plays_a_pi(bench):
    """The first adapter is one until the check is over: what it says of itself is read when it is plugged."""
    bench.adapter_is_there()
    assert bench.program.runs
    bench.adapter.pull()
    bench.host.ask("adapter", index=0, profile="pi")
    bench.adapter.plug()
    bench.adapter_searches()

    def others_again():
        bench.adapter.pull()
        bench.host.ask("adapter", index=0, profile="")
        bench.adapter.plug()
        bench.adapter_searches()
    bench.after(others_again)


@check("pi")
def a_pi_finds_keeps_and_shares(bench):
    """Meters are found and read though links fail and scans are refused; a burst ends none; the air is left to others."""
    plays_a_pi(bench)
    program, addresses = bench.program, [bench.meters[meter]["address"] for meter in METERS]
    for address in addresses:
        bench.heard(address)
        program.want(address, "ble")
        bench.after(program.disconnect, address)

    def linked():
        return all(program.state(address) == "data-available" for address in addresses)

    def lost():
        return sum(program.meter(address)["counters"]["disconnects"] for address in addresses)
    wait(lambda: f"all have data: {[program.meter(address)['error'] for address in addresses]}", linked, 90)
    radio = bench.host.ask("radio", index=0)
    if any(timeout != 8 for timeout in radio["timeouts"]) or len(radio["timeouts"]) != len(METERS):
        raise Failure(f"supervision time-outs: {radio['timeouts']}")
    if not radio["failed"]:
        raise Failure(f"no link failed, so nothing was tried: {radio}")
    before, since = lost(), time.monotonic()
    bench.host.ask("burst", index=0, seconds=SHORT)
    time.sleep(SHORT + 2)
    wait("data after a short burst", linked, 20)
    if lost() != before or (now := bench.host.ask("radio", index=0))["lost"]:
        raise Failure(f"a burst of {SHORT} s ended links: {lost() - before}, {now}")
    # What the search of a whole minute takes, were it the worst one: one round.
    share = (now["listened"] - radio["listened"]) / (time.monotonic() - since)
    if now["listened"] - radio["listened"] > 6:
        raise Failure(f"{share:.0%} of the air with every meter linked")
    bench.host.ask("burst", index=0, seconds=LONG)
    wait("a long burst ends links", lambda: bench.host.ask("radio", index=0)["lost"] == len(METERS), LONG + 5)
    wait("they are made again", lambda: lost() >= before + len(METERS) and linked(), 60)
    radio = bench.host.ask("radio", index=0)
    return (f"{radio['failed']} links failed, {radio['refused']} scans refused, {radio['lost']} links lost in {LONG} s of"
            f" nothing and none in {SHORT} s; {share:.0%} of the air meanwhile")
