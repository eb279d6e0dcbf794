"""What goes wrong on the air, at the adapter and on this host."""

from bench import SEARCHING
from checks import check, provided
from harness import Failure, wait
from program import TIMED_OUT, States

METER = "um25c"


def connected(bench, meter=METER, over="ble"):
    """A meter that has data, until the check is over."""
    address = bench.meters[meter]["address"]
    bench.heard(address, over)
    bench.program.connect(address, over)
    program = bench.program
    bench.after(lambda: program.runs and program.disconnect(address))
    states = States(program, address)
    states.until("data-available")
    return states


def bystander(bench):
    """Another meter with data, whose readings must go on."""
    connected(bench, "tc66c-b")
    address = bench.meters["tc66c-b"]["address"]
    count = bench.program.meter(address)["counters"]["readings"]

    def goes_on():
        wait("the other meter goes on", lambda: bench.program.meter(address)["counters"]["readings"] > count, 20)
        if lost := bench.program.meter(address)["counters"]["disconnects"]:
            raise Failure(f"the other meter lost {lost} links")
    return goes_on


@check("faults")
def a_meter_that_is_not_there(bench):
    """connect ends with the status for a time-out, and says what is wrong."""
    address = bench.meters["fnb58"]["address"]
    bench.heard(address)
    bench.set("fnb58", on=False, until_tidy={"on": True})
    bench.after(bench.program.disconnect, address)
    said = bench.program.ctl("connect", address, "--timeout", "15s")
    if said.status != TIMED_OUT:
        raise Failure(f"not exit {TIMED_OUT}: {said}")
    return str(said)


@check("faults")
def a_meter_vanishes_while_it_is_read(bench):
    """offline, and data again when it is back; another meter goes on."""
    goes_on = bystander(bench)
    states = connected(bench)
    bench.host.ask("vanish", meter=METER)
    bench.after(bench.set, METER, on=True)
    states.until("offline", "not-connected", seconds=20)
    bench.set(METER, on=True)
    states.until("data-available", seconds=60)
    goes_on()
    return " → ".join(states.seen)


@check("faults")
def a_serial_port_vanishes_while_it_is_read(bench):
    """The same over RFCOMM."""
    states = connected(bench, over="spp")
    bench.host.ask("vanish", meter=METER)
    bench.after(bench.set, METER, on=True)
    states.until("offline", "not-connected", seconds=20)
    bench.set(METER, on=True)
    states.until("data-available", seconds=90)
    return " → ".join(states.seen)


@check("faults")
def a_meter_falls_silent_and_vanishes(bench):
    """Its link stays and says nothing: communicating; then it is gone; then it is back."""
    states = connected(bench)
    bench.set(METER, hangs=True, until_tidy={"hangs": False, "on": True})
    states.until("communicating", seconds=30)
    bench.host.ask("vanish", meter=METER)
    states.until("offline", "not-connected", "connecting", seconds=20)
    bench.set(METER, hangs=False, on=True)
    states.until("data-available", seconds=60)
    return " → ".join(states.seen)


@check("faults")
def a_meter_hangs_during_discovery(bench):
    """It takes the link, answers nothing, and vanishes; with an answer there is data."""
    address = bench.meters[METER]["address"]
    bench.heard(address)
    bench.set(METER, hangs=True, until_tidy={"hangs": False, "on": True})
    bench.program.want(address, "ble")
    bench.after(bench.program.disconnect, address)
    states = States(bench.program, address)
    provided("a link to the meter", lambda: bench.host.ask("links", meter=METER)["links"], 20)
    states.look()
    bench.host.ask("vanish", meter=METER)
    states.until("offline", "not-connected", seconds=30)
    bench.set(METER, hangs=False, on=True)
    states.until("data-available", seconds=60)
    return " → ".join(states.seen)


@check("faults")
def a_meter_that_refuses(bench):
    """It ends every link at once: back-off, a clear error, and data when it changes its mind."""
    address = bench.meters["tc66c-a"]["address"]
    bench.heard(address)
    bench.set("tc66c-a", refuses=True, until_tidy={"refuses": False})
    bench.program.want(address)
    bench.after(bench.program.disconnect, address)
    states = States(bench.program, address)
    error = wait("an error is shown", lambda: (states.look(), bench.program.meter(address)["error"])[1], 40)
    bench.set("tc66c-a", refuses=False)
    states.until("data-available", seconds=60)
    return f"{error}: {' → '.join(states.seen)}"


@check("faults")
def two_meters_of_one_name(bench):
    """Both are seen, and each is connected by its own address."""
    bench.set("um25c-twin", on=True, until_tidy={"on": False})
    addresses = [bench.meters[name]["address"] for name in ("um25c", "um25c-twin")]
    for address in addresses:
        bench.heard(address)
        bench.after(bench.program.disconnect, address)
        bench.program.connect(address, "ble")
    linked = [bench.host.ask("links", meter=name)["links"] for name in ("um25c", "um25c-twin")]
    if linked != [1, 1]:
        raise Failure(f"links: {linked}")
    wait("both have data", lambda: all(bench.program.state(address) == "data-available" for address in addresses), 30)
    return " and ".join(addresses)


# What no meter says: cut short, of no known kind, about handles that are not there, longer than agreed, and told for
# a value that nobody subscribed to.
HOSTILE_PACKETS = {
    "a notification without a handle": "1b", "half a handle": "1b05", "nothing but an indication": "1d",
    "another value's notification": "1bffff0964", "an unknown kind": "3f00112233",
    "an error about nothing": "01", "an answer that nobody asked for": "0b" + "00" * 20,
    "an MTU of 0": "030000", "a request for our handles": "0801000000",
    "a longer one than agreed": "1bfeff" + "a5" * 500,
}


@check("faults")
def a_meter_that_says_nonsense(bench):
    """Its reader goes on or connects anew, and another meter's does not notice."""
    goes_on = bystander(bench)
    states = connected(bench)
    program, address = bench.program, bench.meters[METER]["address"]
    for packet in HOSTILE_PACKETS.values():
        bench.host.ask("raw", meter=METER, hex=packet)
        states.look()
    states.until("data-available", seconds=60)
    count = program.meter(address)["counters"]["readings"]
    wait("its readings go on", lambda: program.meter(address)["counters"]["readings"] > count + 2, 60)
    goes_on()
    return f"{len(HOSTILE_PACKETS)} packets: {' → '.join(states.seen)}"


@check("adapter")
def the_adapter_is_pulled_while_connected(bench):
    """Shown as gone, the meter as offline; both come back by themselves."""
    states = connected(bench)
    bench.adapter.pull()
    bench.after(bench.adapter_is_there)
    wait("the adapter is shown as gone",
         lambda: (bench.program.adapter(bench.adapter_address) or {"state": "gone"})["state"] == "gone", 15)
    states.until("offline", "not-connected", seconds=15)
    error = bench.program.meter(bench.meters[METER]["address"])["error"]
    bench.adapter_is_there()
    bench.adapter_searches()
    states.until("data-available", seconds=60)
    return f"{' → '.join(states.seen)}; meanwhile: {error}"


@check("adapter")
def a_second_adapter(bench):
    """Comes, is shown beside the first, and goes."""
    bench.second_adapter.plug()
    bench.after(lambda: bench.second_adapter.plugged and bench.second_adapter.pull())
    found = wait("two adapters search", lambda: [adapter["address"] for adapter in
                 bench.program.get("/v1/status")["adapters"] if adapter["state"] in SEARCHING], 40)
    wait("two adapters search", lambda: sum(adapter["state"] in SEARCHING for adapter in
         bench.program.get("/v1/status")["adapters"]) == 2, 40)
    bench.second_adapter.pull()
    wait("one adapter is left", lambda: sum(adapter["state"] in SEARCHING for adapter in
         bench.program.get("/v1/status")["adapters"]) == 1, 20)
    return f"beside {', '.join(found)}"


@check("adapter")
def rfkill_blocks_the_adapter(bench):
    """Shown as blocked; it searches again when it may."""
    def block(value):
        for switch in bench.radio_switches():
            with open(f"{switch}/soft", "w") as file:
                file.write(value)
    bench.after(block, "0")
    block("1")
    adapter = wait("the adapter is shown as blocked", lambda: (found := bench.program.adapter(bench.adapter_address))
                   and found["state"] == "blocked" and found, 30)
    block("0")
    bench.adapter_searches()
    return adapter["error"]


@check("adapter")
def a_deaf_adapter_is_looked_after(bench):
    """It says that it searches and hears nothing: shown as recovering after a minute, and well once it hears again."""
    program = bench.program
    bench.heard(bench.meters[METER]["address"])
    bench.host.ask("adapter", index=0, deaf=True)
    bench.after(bench.host.ask, "adapter", index=0, deaf=False)
    before, mark = program.adapter(bench.adapter_address)["recoveries"], program.mark()
    # Somebody looks: what counts is the time in which it listens.
    found = wait("the adapter is looked after", lambda: program.get("/v1/scan") is not None and
                 (adapter := program.adapter(bench.adapter_address)) and adapter["state"] == "recovering" and adapter, 100)
    if found["recoveries"] <= before or "discovery is restarted" not in program.logged(mark):
        raise Failure(f"neither counted nor logged: {found}")
    bench.host.ask("adapter", index=0, deaf=False)
    bench.adapter_searches()
    return f"{found['state']}: {found['error']}"


@check("adapter")
def an_adapter_whose_firmware_hangs(bench):
    """It answers no command: shown as recovering, never as well; plugged anew, it searches."""
    program = bench.program
    bench.heard(bench.meters[METER]["address"])
    bench.host.ask("adapter", index=0, hung=True)
    bench.after(bench.host.ask, "adapter", index=0, hung=False)
    found = wait("the adapter is looked after", lambda: (adapter := program.adapter(bench.adapter_address))
                 and adapter["state"] in ("recovering", "failed") and adapter, 120)
    bench.adapter.pull()
    bench.adapter_is_there()
    bench.adapter_searches(90)
    return f"{found['state']}: {found['error']}"
