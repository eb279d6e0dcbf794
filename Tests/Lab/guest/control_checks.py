"""The laboratory's own checks, with plain kernel sockets: what fails here is no fault of the program's."""

import glob
import os
import select
import time
import tty

from checks import check, provided
from control_client import ATT, Management, serial_port
from host import LaboratoryFault

# The one-octet question and the length of the answer; the same for all RuiDeng UM meters.
QUESTION, BLOCK = b"\xf0", 130


@check("control")
def an_adapter_appears(bench):
    """The kernel takes the virtual controller and switches it on."""
    index = bench.adapter.plug()
    management = Management()
    provided("the kernel lists the adapter", lambda: index in management.indexes(), 15)
    if status := management.power(index):
        raise LaboratoryFault(f"the adapter is not switched on: status {status:#04x}")
    bench.adapter_address = management.address(index)
    management.close()
    return f"hci{index} {bench.adapter_address}"


@check("control")
def every_meter_is_heard(bench):
    """An LE scan hears all that are on the air, with name and strength."""
    management = Management()
    wanted = {meter["name"] for name, meter in bench.meters.items()}
    found = management.scan(bench.adapter.index, Management.LE, wanted, 9)
    management.close()
    heard = {name for _, name in found.values()}
    if not wanted <= heard:
        raise LaboratoryFault(f"not heard: {', '.join(sorted(wanted - heard))}")
    return ", ".join(f"{name} {strength} dBm" for strength, name in sorted(found.values(), key=lambda found: found[1]))


@check("control")
def a_meter_answers_over_le(bench):
    """The UM25C's attributes are where they should be, and its question is answered."""
    link = ATT(bench.adapter_address, bench.meters["um25c"]["address"])
    try:
        link.request(b"\x02\x05\x02")
        handle = link.characteristics()["FFE1"]
        link.subscribe(handle)
        link.write(handle, QUESTION)
        data = link.notified(BLOCK)
    except (KeyError, OSError) as error:
        raise LaboratoryFault(f"no answer over LE: {error!r}") from error
    finally:
        link.close()
    return f"{len(data)} octets from {data[:2].hex()} on"


@check("control")
def an_inquiry_hears_the_classic_meter(bench):
    """The UM25C is found over classic Bluetooth too."""
    management = Management()
    found = management.scan(bench.adapter.index, Management.CLASSIC, {"UM25C"}, 12)
    management.close()
    if "UM25C" not in {name for _, name in found.values()}:
        raise LaboratoryFault("the inquiry did not hear the UM25C")
    return None


@check("control")
def a_meter_answers_over_rfcomm(bench):
    """And its serial port answers the same question."""
    try:
        port = serial_port(bench.adapter_address, bench.meters["um25c"]["address"], 1)
        port.send(QUESTION)
        data = b""
        while len(data) < BLOCK:
            data += port.recv(1024)
    except OSError as error:
        raise LaboratoryFault(f"no answer over RFCOMM: {error!r}") from error
    port.close()
    return f"{len(data)} octets from {data[:2].hex()} on"


def _node(subsystem, vendor, product):
    """The device node of this kind behind this USB device, once udev is done with it."""
    for place in glob.glob(f"/sys/class/{subsystem}/*"):
        device = os.path.realpath(place)
        while device != "/" and not os.path.exists(os.path.join(device, "idVendor")):
            device = os.path.dirname(device)
        if device == "/":
            continue
        with open(os.path.join(device, "idVendor")) as vendors, open(os.path.join(device, "idProduct")) as products:
            if (vendors.read().strip(), products.read().strip()) == (vendor, product):
                node = os.path.join("/dev", os.path.basename(place))
                return node if os.path.exists(node) else None
    return None


def _ask(node, question, count):
    """Writes a question to a node and reads an answer."""
    descriptor = os.open(node, os.O_RDWR | os.O_NOCTTY)
    try:
        if os.isatty(descriptor):
            tty.setraw(descriptor)
        os.write(descriptor, question)
        data = b""
        while len(data) < count and select.select([descriptor], [], [], 10)[0]:
            data += os.read(descriptor, 256)
    finally:
        os.close(descriptor)
    if len(data) < count:
        raise LaboratoryFault(f"{node} answered {len(data)} octets of {count}")
    return data


@check("control")
def a_tc66c_at_its_plug_answers(bench):
    """A serial port appears, answers, and goes."""
    bench.tc66c.plug()
    bench.after(bench.tc66c.pull)
    node = provided("the TC66C's serial port", lambda: _node("tty", "28e9", "018a"), 20)
    data = _ask(node, b"query", 4)
    bench.tc66c.pull()
    provided("the TC66C's port to go", lambda: not _node("tty", "28e9", "018a"), 20)
    return f"{node} says {data[:4].decode(errors='replace')}"


@check("control")
def a_km003c_at_its_plug_answers(bench):
    """A serial port and a report node appear; the meter accepts a connect request."""
    bench.km003c.plug()
    bench.after(bench.km003c.pull)
    node = provided("the KM003C's serial port", lambda: _node("tty", "5fc9", "0063"), 20)
    reports = provided("the KM003C's report node", lambda: _node("hidraw", "5fc9", "0063"), 20)
    data = _ask(node, bytes([0x02, 1, 0, 0]), 4)
    return f"{node} says {data[:4].hex()}, reports are {reports}"


@check("control")
def an_fnb58_at_its_plug_answers(bench):
    """A report node appears and streams when asked to."""
    bench.fnb58_plug.plug()
    bench.after(bench.fnb58_plug.pull)
    node = provided("the FNB58's report node", lambda: _node("hidraw", "2e3c", "5558"), 20)
    descriptor = os.open(node, os.O_RDWR)
    try:
        for request, check_byte in ((0x81, 0x8E), (0x82, 0x96)):
            os.write(descriptor, bytes([0, 0xAA, request]) + bytes(61) + bytes([check_byte]))
            time.sleep(0.1)
        report = b""
        while report[:2] != b"\xaa\x04":
            if not select.select([descriptor], [], [], 10)[0]:
                raise LaboratoryFault(f"{node} does not stream")
            report = os.read(descriptor, 64)
    finally:
        os.close(descriptor)
    return f"{node} says {report[:10].hex()}"
