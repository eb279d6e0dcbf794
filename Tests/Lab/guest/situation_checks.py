"""What a person reads where something is wrong, kept whole in people.txt: Docs/Troubleshooting.md names these outputs.

No part of the usual run, which judges the same situations one by one.
"""

from checks import check
from fault_checks import connected
from harness import wait
from host_checks import bluetoothd_that_scans
from meter_checks import plugged_meter
from pairing_checks import PINMeter, beside, without_an_agent
from people_checks import keep
from usb_device import USBDevice, serial_interfaces

METER = "um25c"


@check("situations", usual=False)
def a_pin_that_the_meter_refuses(bench):
    """connect and status name the PIN and what to do."""
    meter = PINMeter(bench, pin="4711")
    meter.heard()
    bench.after(bench.program.disconnect, meter.address)
    keep(bench, "the meter has another PIN than 1234", ("connect", meter.address, "--over", "spp", "--timeout", "20s"), "status")


@check("situations", usual=False)
def a_bluetoothd_that_nobody_is_an_agent_of(bench):
    """Where meterd cannot be its agent, doctor says that PINs are refused."""
    program = without_an_agent(bench)
    beside(bench, None)
    wait("doctor says it", lambda: "refuses PINs" in program.ctl("doctor").out, 30)
    keep(bench, "bluetoothd has no agent, and meterd cannot reach its bus", "doctor", program=program)


@check("situations", usual=False)
def another_scanner(bench):
    """doctor names it."""
    beside(bench, "NoInputNoOutput")
    bluetoothd_that_scans(bench, "scan on")
    wait("doctor says it", lambda: "another program searches" in bench.program.ctl("doctor").out, 60)
    keep(bench, "another program searches", "doctor")


@check("situations", usual=False)
def a_link_that_somebody_else_has(bench):
    """connect names bluetoothd, and what to type."""
    address = bench.meters[METER]["address"]
    daemon = beside(bench, "NoInputNoOutput")
    bluetoothd_that_scans(bench, "scan le")
    daemon.tell(f"info {address}", "UUID: ", again=True)
    bench.heard(address)
    daemon.tell("scan off", "Discovery stopped")
    daemon.tell(f"connect {address}", "Connection successful")
    bench.after(bench.program.disconnect, address)
    keep(bench, "bluetoothd holds the link to the meter",
         ("connect", address, "--over", "ble", "--timeout", "12s"), "status")


@check("situations", usual=False)
def a_meter_that_nobody_hears(bench):
    """Switched off, or connected to a phone: it does not advertise."""
    address = bench.meters["fnb58"]["address"]
    bench.heard(address)
    bench.set("fnb58", on=False, until_tidy={"on": True})
    bench.after(bench.program.disconnect, address)
    keep(bench, "the meter is off, or connected to somebody else, and does not advertise",
         ("connect", address, "--timeout", "15s"), "status")


@check("situations", usual=False)
def a_link_that_is_lost(bench):
    """status says why it is offline."""
    connected(bench)
    bench.host.ask("vanish", meter=METER)
    bench.after(bench.set, METER, on=True)
    wait("offline", lambda: bench.program.state(bench.meters[METER]["address"]) in ("offline", "not-connected"), 30)
    keep(bench, "a meter that had data is gone", "status")


@check("situations", usual=False)
def a_meter_of_no_known_text(bench):
    """A vendor's id that meters have, with a text that none is known to have: doctor and scan --all ask for a report."""
    assert bench.program.runs
    device = USBDevice(0x2E3C, 0x7777, ("FNIRSI", "FNB-99", "0001"), serial_interfaces(0, 3, 1), 2, lambda *_: None)
    device.talks = (1,)
    device.plug()
    bench.after(device.pull)
    wait("doctor says it", lambda: "not recognised" in bench.program.ctl("doctor").out, 30)
    keep(bench, "a device whose vendor is known and whose text is not", "doctor", ("scan", "--all", "--for", "1s"))


@check("situations", usual=False)
def an_adapter_that_hung(bench):
    """Looked after, and named by status, doctor and the kernel's log."""
    bench.heard(bench.meters[METER]["address"])
    bench.host.ask("adapter", index=0, hung=True)

    def well():
        bench.host.ask("adapter", index=0, hung=False)
        bench.adapter.pull()
        bench.adapter_is_there()
    bench.after(well)
    wait("the adapter is looked after", lambda: (adapter := bench.program.adapter(bench.adapter_address))
         and adapter["state"] in ("recovering", "failed"), 120)
    keep(bench, "the adapter's firmware hung", "status", "doctor")


@check("situations", usual=False)
def no_adapter(bench):
    """Pulled."""
    bench.adapter_is_there()
    assert bench.program.runs
    bench.adapter.pull()
    bench.after(bench.adapter_is_there)
    wait("the adapter is gone", lambda: not bench.program.adapter(bench.adapter_address) or
         bench.program.adapter(bench.adapter_address)["state"] == "gone", 20)
    keep(bench, "the adapter is pulled", "doctor", ("scan", "--for", "1s"))


@check("situations", usual=False)
def a_bundle(bench):
    """What it says that it holds."""
    plug = bench.km003c
    plug.plug()
    bench.after(plug.pull)
    connected(bench)
    wait("the meter is seen", lambda: plugged_meter(bench.program, "5fc9"), 30)
    keep(bench, "a bundle for a maintainer", ("doctor", "--bundle", "/tmp/report.json"))
