"""Meters that want a PIN over classic Bluetooth, without and beside bluetoothd and its agents."""

import os
import subprocess
import time

from checks import Skip, check, provided
from control_client import Management
from harness import Failure, wait
from host import LaboratoryFault
from host_checks import BluetoothDaemon
from program import NOBODY, GuestMeterd

# On the air only for checks that want it; it has no name of its own, only an address.
METER = "um25c-twin"
PIN = "1234"


class PINMeter:
    """The meter with its PIN on the air, a meterd beside whatever runs, and how its pairings go."""

    def __init__(self, bench, pin=PIN, program=None):
        self.bench = bench
        self.address = bench.meters[METER]["address"]
        self._given = program
        bench.set(METER, pin=pin, on=True, until_tidy={"pin": "", "on": False})
        bench.after(self.forget)

    @property
    def program(self):
        """The one of all checks, or one of this check's own."""
        return self._given or self.bench.program

    def heard(self):
        """Over classic Bluetooth."""
        wait(f"{self.address} is heard over spp", lambda: "spp" in
             (self.program.sighting(self.address) or {}).get("transports", ()), 60)

    def forget(self):
        """No key is left, here and in the meter."""
        management = Management()
        management.unpair(self.bench.adapter.index, self.address)
        management.close()
        if self.bench.bluetoothd:
            # It ends a link to what was unpaired, and may come to that only when there is the next one (src/device.c,
            # device_set_unpaired).
            time.sleep(1)
        self.bench.host.ask("pairing", meter=METER, forget=True)

    def outcome(self):
        """What the adapter saw: questions for a key and for a PIN, and how they came out."""
        return self.bench.host.ask("pairing", meter=METER)["pairing"]

    def attempt(self):
        """Connects once and says why it came to nothing; None where there were data."""
        program = self.program
        program.want(self.address, "spp")
        try:
            found = wait(lambda: f"data or an error: {program.meter(self.address)}", lambda: (
                status := program.meter(self.address)) and (status["state"] == "data-available" or status["error"]) and
                status, 60)
            return None if found["state"] == "data-available" else found["error"]
        finally:
            program.disconnect(self.address)
            provided("the link to go", lambda: self.bench.host.ask("links", meter=METER)["links"] == 0, 20)

    def again_and_again(self):
        """Pairs anew each time; what is said of it. Every one has to come to data at the first try."""
        self.heard()
        failures, seen = [], {}
        count = self.bench.arguments["repeat"]
        for _ in range(count):
            self.forget()
            error = self.attempt()
            if error:
                failures.append(error)
            for what, number in self.outcome().items():
                seen[what] = seen.get(what, 0) + number
        words = f"{count} pairings: {', '.join(f'{number} {what}' for what, number in sorted(seen.items()))}"
        if failures:
            raise Failure(f"{len(failures)} of {words}; {failures[0]}")
        if seen.get("paired") != count:
            raise Failure(f"not paired anew each time: {words}")
        return words


def beside(bench, agent, debug=True):
    """bluetoothd with this agent, gone after the check."""
    if bench.bluetoothd:
        bench.bluetoothd.stop()
    bench.bluetoothd = BluetoothDaemon(bench.results, agent, debug)

    def stop():
        bench.bluetoothd.stop()
        bench.bluetoothd = None
    bench.after(stop)
    return bench.bluetoothd


def without_an_agent(bench):
    """A meterd that cannot reach bluetoothd's bus, stopped after the check."""
    bench.make_room()
    program = GuestMeterd(bench.results, bench.arguments["bin"], "meterd-no-agent",
                          environment={"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere"})
    program.start()
    bench.after(lambda: program.runs and program.stop())
    return program


def hurry(bench, fast, slow):
    """On a machine with too much to do, one process always has its turn before another: who is first is no accident."""
    for identifier, priority in ((fast, -20), (slow, 19)):
        for thread in os.listdir(f"/proc/{identifier}/task"):
            os.setpriority(os.PRIO_PROCESS, int(thread), priority)
    for _ in range(os.cpu_count()):
        bench.after(subprocess.Popen(["nice", "-n", "19", "busybox", "yes"], stdout=subprocess.DEVNULL).kill)


def bondable(bench):
    """Whether the adapter takes PINs."""
    management = Management()
    try:
        return bool(management.settings(bench.adapter.index) & Management.BONDABLE)
    finally:
        management.close()


@check("pairing")
def a_pin_without_bluetoothd(bench):
    """The kernel asks meterd, which answers."""
    return PINMeter(bench).again_and_again()


@check("pairing")
def a_pin_that_is_wrong(bench):
    """The error says so, and what to do."""
    meter = PINMeter(bench, pin="4711")
    meter.heard()
    error = meter.attempt()
    if not error or "refused the PIN" not in error:
        raise Failure(f"{error}; {meter.outcome()}")
    return error


@check("pairing")
def a_pin_beside_bluetoothd_without_an_agent(bench):
    """meterd is its agent meanwhile, and is none afterwards; pairing stays possible."""
    beside(bench, None)

    def agent_is_ready():
        return bench.program.adapter(bench.adapter_address)["pairing"]["agent"] == "ready"
    # The bus has just come, which a machine has from its start.
    wait("meterd to find the bus", agent_is_ready, 30)
    meter = PINMeter(bench)
    said = meter.again_and_again()
    wait("the agent to leave", agent_is_ready, 10)
    wait("Bondable is on again", lambda: bondable(bench), 10)
    return said


@check("pairing")
def a_pin_beside_a_desktops_agent_that_quits(bench):
    """With it, and after it, when bluetoothd has switched pairing off."""
    daemon = beside(bench, "NoInputNoOutput")
    daemon.tell("default-agent", "Default agent request successful")
    meter = PINMeter(bench)
    with_it = meter.again_and_again()
    mark = daemon.mark()
    daemon.close_control()
    wait("bluetoothd has lost its agent", lambda: "Default agent cleared" in daemon.logged(mark), 10)
    wait("Bondable is on again", lambda: bondable(bench), 10)
    return f"with it {with_it}; without {meter.again_and_again()}"


@check("pairing")
def a_key_that_bluetoothd_stores(bench):
    """bluetoothctl pair, the PIN typed once: every later link uses that key, and nobody is asked again."""
    bench.program.stop()
    daemon = beside(bench, "KeyboardDisplay")
    meter = PINMeter(bench)
    meter.forget()
    daemon.tell("scan bredr", "Discovery started")
    daemon.tell(f"info {meter.address}", "RSSI: ", again=True)
    daemon.tell("scan off", "Discovery stopped")
    daemon.tell(f"pair {meter.address}", "Enter PIN code:")
    daemon.tell(PIN, "Pairing successful")
    daemon.tell(f"disconnect {meter.address}", "Successful disconnected")
    daemon.close_control()
    meter.heard()
    before = meter.outcome()
    count = bench.arguments["repeat"]
    for _ in range(count):
        if error := meter.attempt():
            raise Failure(f"{error}; {meter.outcome()}")
    after = meter.outcome()
    if after.get("pin") != before.get("pin") or after.get("known", 0) < count:
        raise Failure(f"asked again: {before}, then {after}")
    return f"{count} links, the key known {after['known']} times, a PIN asked for {after['pin']} time"


@check("pairing")
def a_refusal_of_bluetoothd_is_named(bench):
    """A meterd that cannot be its agent: bluetoothd refuses at once, and whoever is first wins. The error says so."""
    program = without_an_agent(bench)
    # Without its debugging log it is fast.
    daemon = beside(bench, None, debug=False)
    hurry(bench, daemon.pid, program.pid)
    meter = PINMeter(bench, program=program)
    meter.heard()
    lost, others, count = [], [], bench.arguments["repeat"] + 1
    for _ in range(count):
        meter.forget()
        if error := meter.attempt():
            (lost if "refused before meterd could answer" in error else others).append(error)
    if others:
        raise Failure(f"{len(others)} of {count} failed without the cause: {others[0]}")
    said = program.ctl("doctor").out
    if "Without an agent it refuses PINs" not in said:
        raise Failure(f"doctor does not say it: {said}")
    if not lost:
        raise Skip(f"bluetoothd was first in none of {count}")
    return f"{len(lost)} of {count} lost to bluetoothd: {lost[0]}"


@check("pairing")
def anybody_may_be_an_agent(bench):
    """Debian's policy of the bus lets a user in no group register one: meterd's needs no rule of its own."""
    beside(bench, None)
    said = subprocess.run(
        ["dbus-send", "--system", "--print-reply", "--dest=org.bluez", "/org/bluez", "org.bluez.AgentManager1.RegisterAgent",
         "objpath:/nobody", "string:NoInputNoOutput"], capture_output=True, text=True, check=False,
        user=NOBODY, group=NOBODY, extra_groups=[])
    if said.returncode != 0:
        raise LaboratoryFault(f"refused: {said.stderr.strip()}")
    return "user 65534 registered an agent"
