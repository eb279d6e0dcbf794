"""Every meter over each of its links: heard, connected, read, let go."""

import glob
import grp
import os
import subprocess

import gadget
from bus_monitor import ReportsOut
from checks import check
from harness import Failure, wait
from program import States

RADIO = {"um25c": "UM25C", "tc66c-a": "TC66C", "tc66c-b": "TC66C", "fnb58": "FNB58", "atorch": "Atorch"}


def read_and_let_go(bench, identifier, over):
    """connect → data-available → disconnect. What was read."""
    program = bench.program
    states = States(program, identifier)
    program.connect(identifier, over)
    if (state := states.look()) != "data-available":
        raise Failure(f"connected, but {state}")
    status = program.meter(identifier)
    if status["transport"] != over:
        raise Failure(f"connected over {status['transport']} instead of {over}")
    count = status["counters"]["readings"]
    wait("two more readings", lambda: program.meter(identifier)["counters"]["readings"] >= count + 2, 20)
    status = program.meter(identifier)
    program.disconnect(identifier)
    states.until("not-connected", "offline", seconds=15)
    # One that sends a part at a time may have sent no voltage last.
    reading = ", ".join(f"{status['reading'][key]} {key[-1]}" for key in ("voltage_V", "current_A")
                        if status["reading"].get(key) is not None)
    return (f"{reading} over {over}, {status['counters']['timeouts']} time-outs, {status['counters']['skipped_bytes']} octets passed over")


def over_radio(bench, meter, over="ble"):
    """As above, and the meter's radio is free afterwards."""
    address = bench.meters[meter]["address"]
    bench.heard(address, over)
    said = read_and_let_go(bench, address, over)
    wait("the meter has no link any more", lambda: bench.host.ask("links", meter=meter)["links"] == 0, 15)
    return said


@check("radio")
def scan_shows_every_meter(bench):
    """With model, link, strength and adapter, in the table and in JSON."""
    for meter in RADIO:
        bench.heard(bench.meters[meter]["address"])
    table = bench.program.must("scan", "--for", "1s")
    print(table.out, flush=True)
    wrong = []
    for meter, model in RADIO.items():
        entry = bench.program.sighting(bench.meters[meter]["address"])
        if model.lower() not in str(entry["model"]).lower():
            wrong.append(f"{meter} is said to be {entry['model']}")
        if entry["rssi"] is None:
            wrong.append(f"{meter} has no strength")
        if entry["adapter"] != bench.adapter_address:
            wrong.append(f"{meter} is heard by {entry['adapter']}")
        if entry["transport"] not in ("ble", "spp"):
            wrong.append(f"{meter} is reached over {entry['transport']}")
        if bench.meters[meter]["address"] not in table.out:
            wrong.append(f"{meter} is not in the table")
    if wrong:
        raise Failure("; ".join(wrong))
    return f"{len(RADIO)} meters, {table.seconds:.1f} s for meterctl"


@check("radio")
def um25c_over_ble(bench):
    return over_radio(bench, "um25c")


@check("radio")
def um25c_over_rfcomm(bench):
    return over_radio(bench, "um25c", "spp")


@check("radio")
def tc66c_with_radio_a(bench):
    return over_radio(bench, "tc66c-a")


@check("radio")
def tc66c_with_radio_b(bench):
    return over_radio(bench, "tc66c-b")


@check("radio")
def fnb58_over_ble(bench):
    return over_radio(bench, "fnb58")


@check("radio")
def atorch_pushes(bench):
    return over_radio(bench, "atorch")


@check("radio")
def all_at_once(bench):
    """Five links over one adapter, and all of them have data together."""
    addresses = [bench.meters[meter]["address"] for meter in RADIO]
    for address in addresses:
        bench.heard(address)
        bench.program.want(address)
        bench.after(bench.program.disconnect, address)
    wait("all have data", lambda: all(bench.program.state(address) == "data-available" for address in addresses), 60)
    before = bench.program.processor_seconds()
    print(bench.program.must("status").out, flush=True)
    return f"meterd used {before:.1f} s of the guest's processor so far"


@check("usb")
def tc66c_at_its_plug(bench):
    return at_its_plug(bench, bench.tc66c, "28e9", "serial")


@check("usb")
def km003c_at_its_plug(bench):
    return at_its_plug(bench, bench.km003c, "5fc9", "serial")


@check("usb")
def fnb58_at_its_plug(bench):
    """And it is never rushed, however busy this machine is: reports less than 25 ms apart can hang a real one (Docs/Protocols/FNIRSI.md)."""
    reports = ReportsOut()
    bench.after(reports.close)
    try:
        said = at_its_plug(bench, bench.fnb58_plug, "2e3c", "hid")
    except Exception as failure:
        raise Failure(f"{failure}; the plug's reports: {dict(bench.fnb58_plug.reports)}") from failure
    shortest, count = reports.shortest()
    if count < 5 or shortest < 25:
        raise Failure(f"{count} pauses between reports to it, the shortest of {shortest:.1f} ms")
    return f"{said}; {count} pauses between its reports, {shortest:.1f} ms and more"


def report_plug(bench, make):
    """A meter of reports: a gadget's folder can be made once."""
    if make not in bench.report_plugs:
        bench.report_plugs[make] = make(bench.host)
    return bench.report_plugs[make]


@check("usb")
def witrn_k2_at_its_plug(bench):
    """And nothing was written to it, which a real one would take for the beginning of a firmware update."""
    plug = report_plug(bench, gadget.witrn_k2)
    said = at_its_plug(bench, plug, "0716", "hid")
    if plug.reports["from the host"]:
        raise Failure(f"{plug.reports['from the host']} reports were written to it")
    return f"{said}; {plug.reports['to the host']} reports came, none went"


@check("usb")
def acd15p_at_its_plug(bench):
    """The ids of an example of ST's: its text tells."""
    return at_its_plug(bench, report_plug(bench, gadget.acd15p), "0483", "hid")


@check("usb")
def udev_rules_tell_and_grant(bench):
    """With the project's rules, udev names the model, and node by node the right group may use it."""
    said = []
    wanted = ((bench.km003c, "5fc9", "km003c", None, 0o660), (bench.fnb58_plug, "2e3c", "fnb58", "plugdev", 0o660),
              (bench.km003c, "5fc9", "km003c", "plugdev", 0o664))
    for plug, vendor, model, group, mode in wanted:
        plug.plug()
        bench.after(plug.pull)
        node = wait("the meter is seen", lambda: plugged_meter(bench.program, vendor), 30)["port"]
        if mode == 0o664:
            node = own_node(vendor)
        told = subprocess.run(["udevadm", "info", "--query=property", f"--name={node}"], capture_output=True, text=True)
        properties = dict(line.split("=", 1) for line in told.stdout.splitlines() if "=" in line)
        status = os.stat(node)
        owner = grp.getgrgid(status.st_gid).gr_name
        if properties.get("METER_MODEL") != model:
            raise Failure(f"{node} is told to be {properties.get('METER_MODEL')}")
        if "uaccess" not in properties.get("TAGS", "") or status.st_mode & 0o777 != mode or (group and owner != group):
            raise Failure(f"{node}: mode {status.st_mode:o}, group {owner}, tags {properties.get('TAGS')}")
        said.append(f"{node} {model} {owner}")
        plug.pull()
    return ", ".join(said)


def own_node(vendor):
    """The node of a plugged device itself, over which its maker's interface is used."""
    def read(folder, name):
        with open(os.path.join(folder, name)) as file:
            return file.read().strip()
    folder = next(folder for folder in map(os.path.dirname, glob.glob("/sys/bus/usb/devices/*/idVendor"))
                  if read(folder, "idVendor") == vendor)
    return f"/dev/bus/usb/{int(read(folder, 'busnum')):03}/{int(read(folder, 'devnum')):03}"


def plugged_meter(program, vendor):
    """The scan's entry of a meter whose id carries this vendor."""
    return next((entry for entry in program.get("/v1/scan") if entry["id"].lower().startswith(f"usb:{vendor}:")), None)


def at_its_plug(bench, plug, vendor, over):
    """Hot-plug, connect, read, let go; then pulled while it is read, and plugged again."""
    program = bench.program
    plug.plug()
    bench.after(plug.pull)
    identifier = wait("the meter is seen", lambda: plugged_meter(program, vendor), 30)["id"]
    said = read_and_let_go(bench, identifier, over)
    program.connect(identifier)
    bench.after(program.disconnect, identifier)
    states = States(program, identifier)
    states.until("data-available")
    plug.pull()
    states.until("offline", seconds=15)
    plug.plug()
    states.until("data-available")
    return f"{identifier}: {said}; pulled: {' → '.join(states.seen)}"
