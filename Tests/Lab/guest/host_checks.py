"""Other programs, other users, and how meterd ends."""

import os
import pty
import subprocess
import time

from checks import check, provided
from fault_checks import connected
from harness import Failure, Program, run, spawn, wait
from host import LaboratoryFault
from meter_checks import over_radio
from program import NOBODY, GuestMeterd, States

METER = "um25c"


class BluetoothDaemon(Program):
    """bluetoothd, the bus it needs, and bluetoothctl, which wants a terminal. `agent` is what bluetoothctl says it can do;
    None: nobody is bluetoothd's agent, as on a machine without a desktop."""

    def __init__(self, results, agent="NoInputNoOutput", debug=True):
        os.makedirs("/run/dbus", exist_ok=True)
        self._bus = Program("dbus", ["dbus-daemon", "--system", "--nofork", "--nopidfile"], results)
        self._bus.start()
        provided("the bus", lambda: os.path.exists("/run/dbus/system_bus_socket"), 20)
        super().__init__("bluetoothd", ["/usr/libexec/bluetooth/bluetoothd", "-n"] + ["-d"] * debug, results)
        self.start()
        self._control = None
        self._said = ""
        if agent is None:
            provided("bluetoothd on the bus", self._is_there, 40)
        else:
            self.open_control(agent)

    @staticmethod
    def _is_there():
        return "boolean true" in run(
            ["dbus-send", "--system", "--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner",
             "string:org.bluez"], check=False).out

    def open_control(self, agent):
        """bluetoothctl, and its agent."""
        self._terminal, other = pty.openpty()
        self._control = spawn(["bluetoothctl", "--agent", agent], stdin=other, stdout=other, stderr=other,
                              start_new_session=True)
        os.close(other)
        os.set_blocking(self._terminal, False)
        self.tell("show", "Powered: yes", again=True)

    def close_control(self):
        """It ends, and its agent with it."""
        if self._control is None:
            return
        self._control.terminate()
        try:
            self._control.wait(10)
        except subprocess.TimeoutExpired:
            self._control.kill()
        self._control = None
        os.close(self._terminal)

    def tell(self, line, answer, seconds=40, again=False, error=LaboratoryFault):
        """Types a line and waits for these words."""
        self._said = ""

        def said():
            if again:
                os.write(self._terminal, line.encode() + b"\n")
                time.sleep(0.5)
            try:
                while data := os.read(self._terminal, 65536):
                    self._said += data.decode(errors="replace")
            except BlockingIOError:
                pass
            return answer in self._said
        if not again:
            os.write(self._terminal, line.encode() + b"\n")
        wait(lambda: f"bluetoothctl says {answer!r} to {line!r}, but {' / '.join(self._said.split(chr(10)))[-300:]!r}",
             said, seconds, error=error)

    def stop(self, seconds=10, status=None):
        """All three."""
        self.close_control()
        for end in (super().stop, self._bus.stop):
            try:
                end(seconds, status)
            except Failure as failure:
                print(f"     {failure}", flush=True)
        for path in ("/run/dbus/system_bus_socket", "/run/dbus/pid"):
            if os.path.exists(path):
                os.unlink(path)


@check("bluetoothd")
def beside_a_bluetoothd_that_does_nothing(bench):
    """As without it."""
    bench.bluetoothd = BluetoothDaemon(bench.results)
    return over_radio(bench, METER)


def bluetoothd_that_scans(bench, command):
    """bluetoothd began to scan before meterd came: the kernel lets only one of them begin."""
    bench.program.stop()
    if not bench.bluetoothd:
        bench.bluetoothd = BluetoothDaemon(bench.results)
    bench.bluetoothd.tell(command, "Discovery started")


@check("bluetoothd")
def beside_a_bluetoothd_that_scans(bench):
    """The kernel calls us busy and hands us what it hears all the same."""
    bluetoothd_that_scans(bench, "scan on")
    bench.after(bench.bluetoothd.tell, "scan off", "Discovery stopped")
    return over_radio(bench, METER)


@check("bluetoothd")
def a_link_that_bluetoothd_holds(bench):
    """connect fails and says who has the meter; once it is let go there is data."""
    address = bench.meters[METER]["address"]
    bluetoothd_that_scans(bench, "scan le")
    bench.bluetoothd.tell(f"info {address}", "UUID: ", again=True)
    bench.heard(address)
    bench.bluetoothd.tell("scan off", "Discovery stopped")
    bench.bluetoothd.tell(f"connect {address}", "Connection successful")
    bench.after(bench.program.disconnect, address)
    said = bench.program.ctl("connect", address, "--over", "ble", "--timeout", "12s")
    status = bench.program.meter(address)
    if said.status == 0:
        raise Failure("connected to a meter that bluetoothd has")
    shown = " ".join(filter(None, (said.err, status["error"])))
    if "bluetoothd" not in shown.lower():
        raise Failure(f"nobody is named: {said}; status: {status['error']}")
    bench.bluetoothd.tell(f"disconnect {address}", "Successful disconnected")
    States(bench.program, address).until("data-available", seconds=60)
    return f"{said}; status: {status['error']}"


@check("bluetoothd")
def bluetoothd_goes(bench):
    """What works without it works again."""
    if bench.bluetoothd:
        bench.bluetoothd.stop()
        bench.bluetoothd = None
    return over_radio(bench, METER)


@check("rights")
def without_rights(bench):
    """As nobody: the adapter is shown as forbidden, and the scan says what is missing."""
    program = GuestMeterd(bench.results, bench.arguments["bin"], "meterd-nobody", user=NOBODY)
    bench.after(lambda: program.runs and program.stop())
    program.start()
    adapter = wait("the adapter is shown as forbidden", lambda: (found := program.adapter(bench.adapter_address))
                   and found["state"] == "forbidden" and found, 30)
    if not adapter["error"]:
        raise Failure("it does not say what is missing")
    said = program.ctl("scan", "--for", "1s")
    print(said, flush=True)
    program.stop()
    return adapter["error"]


@check("end")
def nothing_is_left_open(bench):
    """As many descriptors as before the first link, once all links are gone."""
    program = bench.program
    for meter in program.get("/v1/status")["meters"]:
        if meter["wanted"]:
            program.disconnect(meter["id"])
    before = bench.descriptors_before

    def left():
        now = program.descriptors()
        return [path for path in set(now) if now.count(path) > before.count(path)]
    wait(lambda: f"no more descriptors than at the start: {left()}", lambda: not left(), 20)
    return f"{len(before)} at the start, {len(program.descriptors())} now"


@check("end")
def meterd_resumes_and_ends(bench):
    """SIGTERM ends it within seconds while it reads; the next one resumes, and ends as well."""
    address = bench.meters[METER]["address"]
    program = bench.program
    states = connected(bench, over="ble")
    took = program.stop()
    wait("the meter is let go", lambda: bench.host.ask("links", meter=METER)["links"] == 0, 15)
    program.start()
    states.until("data-available", seconds=60)
    program.disconnect(address)
    return f"ended after {took:.1f} s, and {program.stop():.1f} s; {' → '.join(states.seen)}"
