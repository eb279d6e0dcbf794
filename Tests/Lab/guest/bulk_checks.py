"""A KM003C over its maker's own interface: found, read, pulled, and in the ways in which a device fails."""

import fcntl
import glob
import os
import termios
import time

from checks import check, provided
from harness import Failure, wait
from meter_checks import plugged_meter
from program import States


def plugged(bench):
    """Plugs the simulated meter in: its id. The program may not yet know that it was pulled after the check before."""
    wait("the meter is gone", lambda: not plugged_meter(bench.program, "5fc9"), 20)
    bench.km003c.plug()
    bench.after(bench.km003c.pull)
    identifier = wait("the meter is seen", lambda: plugged_meter(bench.program, "5fc9"), 30)["id"]
    # Other checks take its usual link.
    bench.after(bench.program.disconnect, identifier)
    bench.after(bench.program.want, identifier, "any")
    return identifier


def read_over_bulk(bench):
    """Its id and its states, once it has data over bulk."""
    identifier = plugged(bench)
    bench.heard(identifier, "bulk")
    bench.program.connect(identifier, "bulk")
    states = States(bench.program, identifier)
    states.until("data-available")
    return identifier, states


def more_readings(bench, identifier, count):
    """Waits until it has told so many more."""
    before = bench.program.meter(identifier)["counters"]["readings"]
    wait("more readings", lambda: bench.program.meter(identifier)["counters"]["readings"] > before + count, 20)


def exclusive(path):
    """Opens a serial port for this program alone."""
    port = os.open(path, os.O_RDWR | os.O_NOCTTY)
    # Root may open it all the same, which meterd is here: it asks for this mark.
    fcntl.ioctl(port, termios.TIOCEXCL)
    return port


@check("usb")
def km003c_over_bulk(bench):
    """Read, pulled while it is read, and taken over bulk again once it is plugged in: that is what was asked for."""
    identifier, states = read_over_bulk(bench)
    more_readings(bench, identifier, 10)
    bench.km003c.pull()
    states.until("offline", seconds=15)
    bench.km003c.plug()
    # The serial port is there a moment earlier, and may be taken until the other link is.
    wait("it is back over bulk", lambda: states.look() == "data-available"
         and bench.program.meter(identifier)["transport"] == "bulk", 40)
    return f"pulled: {' → '.join(states.seen)}"


@check("usb")
def km003c_whose_port_is_taken_is_read_over_bulk(bench):
    """Another program has the serial port for itself."""
    identifier = plugged(bench)
    port = exclusive(provided("its serial port", lambda: glob.glob("/dev/ttyACM*"), 10)[0])
    bench.after(os.close, port)
    bench.program.connect(identifier, "any")
    status = bench.program.meter(identifier)
    if status["state"] != "data-available" or status["transport"] != "bulk":
        raise Failure(f"{status['state']} over {status['transport']}: {status.get('error')}")
    return f"over {status['transport']}"


@check("usb")
def km003c_that_halts_and_that_hangs(bench):
    """A halt of an endpoint is cleared; one that takes nothing any more ends the link, and it comes back."""
    identifier, states = read_over_bulk(bench)
    connects = bench.program.meter(identifier)["counters"]["connects"]
    bench.km003c.device.halt(1)
    more_readings(bench, identifier, 3)
    if bench.program.meter(identifier)["counters"]["connects"] != connects:
        raise Failure("a halt cost the link")
    bench.km003c.device.hangs = True
    bench.after(setattr, bench.km003c.device, "hangs", False)
    wait("its state says so", lambda: states.look() != "data-available", 30)
    bench.km003c.device.hangs = False
    states.until("data-available", seconds=60)
    return f"cleared; {' → '.join(states.seen)}"


def sampled(bench, identifier, rate, seconds):
    """What comes at this rate, and what is missing, in a second each."""
    bench.program.call("PATCH", f"/v1/meters/{identifier}/settings", {"settings": {"rate": str(rate)}})
    wait(lambda: f"it samples {rate} times a second; it says {bench.program.meter(identifier).get('sampling')}",
         lambda: (bench.program.meter(identifier).get("sampling") or {}).get("rate") == rate, 60)

    def counted():
        counters = bench.program.meter(identifier)["counters"]
        return time.monotonic(), counters["readings"], counters.get("lost_samples") or 0

    began, readings, lost = counted()
    time.sleep(seconds)
    ended, more, missing = counted()
    return (more - readings) / (ended - began), (missing - lost) / (ended - began)


@check("usb")
def km003c_samples_by_its_own_clock_over_bulk(bench):
    """It is proved to, started and emptied over the kernel's own endpoints: nothing is missing at 50 a second, and at 1,000 what
    comes and what is said to be missing are all of it, however slow this guest is."""
    identifier, states = read_over_bulk(bench)
    found = []
    for rate, seconds in ((50, 10), (1000, 10)):
        came, missing = sampled(bench, identifier, rate, seconds)
        found.append(f"{rate}/s: {came:.0f} came, {missing:.0f} were missing")
        if abs(came + missing - rate) > 0.2 * rate or rate == 50 and missing:
            raise Failure("; ".join(found))
    if states.look() != "data-available":
        raise Failure(f"it is {states.seen[-1]} afterwards")
    bench.program.call("PATCH", f"/v1/meters/{identifier}/settings", {"settings": {"rate": None}})
    more_readings(bench, identifier, 3)
    return "; ".join(found)
