"""Recordings of real meters' links, octet by octet, through the whole stack. Where they are not (they are no part of the
project) the checks are passed over. What must come out is computed here, by the layouts that others have published.
"""

import glob
import json
import os
import sys
import threading
import time

from checks import Skip, check, provided
from harness import Failure, wait
from meter_checks import plugged_meter
from recorded_usb import RecordedKM003C
from usb_device import USBDevice

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import traffic  # noqa: E402 - one folder up, shared with the air

MISSING = "no recordings here (../shared/meters/traffic)"


class Readings:
    """What the program says of a meter from now on."""

    def __init__(self, program, identifier):
        self.lines = []
        self._connection, answer = program.stream(f"/v1/meters/{identifier}/readings")
        threading.Thread(target=self._follow, args=(answer,), daemon=True).start()

    def _follow(self, answer):
        try:
            for line in answer:
                if line.strip():
                    self.lines.append(json.loads(line))
        except (OSError, ValueError, AttributeError):
            pass  # Closed: http.client has nothing left to read from.

    def close(self):
        """Nobody listens any more."""
        self._connection.close()

    def values(self, *keys):
        """These values of each reading that has them all."""
        return [tuple(line[key] for key in keys) for line in list(self.lines)
                if all(line.get(key) is not None for key in keys)]


def holds(values, wanted):
    """Whether `wanted` stands in `values`, in a row."""
    def same(one, other):
        return all(abs(value - its) < 1e-6 for value, its in zip(one, other))
    return any(all(map(same, values[start:], wanted)) for start in range(len(values) - len(wanted) + 1))


def atorch(report):
    """Volts and amperes of a report (NiceLabs/atorch-console, src/atorch; syssi/esphome-atorch-dl24): three octets each, the
    highest first; tenths of a volt and milliamperes of a DC meter, hundredths of both of a USB meter.
    """
    voltage, current = int.from_bytes(report[4:7], "big"), int.from_bytes(report[7:10], "big")
    return (voltage / 10, current / 1000) if report[3] == 2 else (voltage / 100, current / 100)


def rfcomm_payload(frame):
    """Of a frame without credits (TS 07.10, 5.2): the length has one octet or two."""
    start = 3 if frame[2] & 1 else 4
    return frame[start:-1]


def played(bench, name, over, wanted, keys=("voltage_V", "current_A"), seconds=60):
    """Connects to a recorded meter, has it play, and compares. `wanted` makes the readings of the messages."""
    meter = bench.host.ask("play", recording=name)
    if "meter" not in meter:
        raise Skip(MISSING)
    bench.after(bench.host.ask, "set", meter=meter["meter"], on=False)
    program, identifier = bench.program, meter["address"]
    bench.heard(identifier, over)
    bench.after(program.disconnect, identifier)
    program.connect(identifier, over)
    if (state := program.state(identifier)) != "data-available":
        raise Failure(f"connected, but {state}")
    messages = [bytes.fromhex(text) for text in meter["messages"]]
    expected = wanted(messages)
    readings = Readings(program, identifier)
    bench.after(readings.close)
    bench.host.ask("roll", meter=meter["meter"])
    wait(lambda: f"{len(expected)} readings as recorded; of {len(readings.values(*keys))} the last are"
                 f" {readings.values(*keys)[-3:]}, wanted {expected[:2]} to {expected[-1]}",
         lambda: holds(readings.values(*keys), expected), seconds)
    counters = program.meter(identifier)["counters"]
    if counters["skipped_bytes"]:
        raise Failure(f"{counters['skipped_bytes']} octets of a real meter passed over")
    return f"{len(messages)} messages, {len(expected)} readings in a row as recorded, no octet passed over"


@check("replay")
def ud18_over_rfcomm(bench):
    """91 reports of a UD18, each the RFCOMM frame that it was."""
    return played(bench, "ud18", "spp", lambda frames: [atorch(rfcomm_payload(frame)) for frame in frames])


@check("replay")
def dl24_over_ble(bench):
    return played(bench, "dl24", "ble", lambda reports: list(map(atorch, reports)))


@check("replay")
def dt3010_over_ble(bench):
    return played(bench, "dt3010", "ble", lambda reports: list(map(atorch, reports)))


@check("replay")
def j7_c_over_ble(bench):
    return played(bench, "j7-c", "ble", lambda reports: list(map(atorch, reports)))


@check("replay")
def dc_meter_in_two_notifications(bench):
    """As its log has them: 20 octets, then 16."""
    return played(bench, "dc-split", "ble", lambda reports: list(map(atorch, reports)))


@check("replay")
def fnb58_by_its_own_attribute_table(bench):
    """109 attributes with their handles, and four packets whose values their source states (osnwt/ha-fnirsi-fnb58)."""
    return played(bench, "fnb58", "ble", lambda _: [(20.2699, 2.0098)])


def km003c_record(bench):
    """The recorded meter, plugged in."""
    folder = traffic.folder(bench.arguments["root"])
    if folder is None:
        raise Skip(MISSING)
    # The check before pulled the same meter a moment ago.
    wait("the meter of the check before is gone", lambda: plugged_meter(bench.program, "5fc9") is None, 30)
    meter = RecordedKM003C(folder)
    bench.after(meter.pull)
    meter.plug()
    identifier = wait("the meter is seen", lambda: plugged_meter(bench.program, "5fc9"), 30)["id"]
    bench.after(bench.program.disconnect, identifier)
    return meter, identifier


def km003c_values(meter):
    """Volts and amperes of the answers to a question for measurements and PD (attributes 1 and 16): behind two headers of
    four octets, millionths, the lowest octet first (Linux, drivers/hwmon/powerz.c; okhsunrog/km003c-rs).
    """
    answers = meter.answers[b"\x0c\x22\x00"]
    return [tuple(int.from_bytes(answer[0][place:place + 4], "little", signed=True) / 1e6 for place in (8, 12))
            for answer in answers]


@check("replay")
def km003c_over_its_makers_interface(bench):
    """Its descriptors, strings and answers: polled, and its logs asked for."""
    meter, identifier = km003c_record(bench)
    if identifier.lower() != "usb:5fc9:0063:007965":
        raise Failure(f"it is taken for {identifier}")
    program = bench.program
    bench.heard(identifier, "bulk")
    program.connect(identifier, "bulk")
    expected = km003c_values(meter)
    # The first answers went while it was connected: once more, with somebody who listens.
    readings = Readings(program, identifier)
    bench.after(readings.close)
    meter.rewind()
    wait(lambda: f"{len(expected)} readings as recorded: {expected[:3]}…; there are {readings.values('voltage_V', 'current_A')[-5:]}",
         lambda: holds(readings.values("voltage_V", "current_A"), expected), 40)
    logs = program.must("logs", identifier)
    status = program.meter(identifier)
    if status["transport"] != "bulk" or status["counters"]["skipped_bytes"]:
        raise Failure(f"{status['transport']}, {status['counters']}")
    if meter.unanswered:
        raise Failure(f"questions that the record does not have: {[data.hex() for data in meter.unanswered[:5]]}")
    return f"{len(expected)} readings in a row as recorded; logs: {' '.join((logs.out + logs.err).split())[:80]}"


@check("replay")
def km003c_over_its_serial_port(bench):
    """The same answers over the other endpoints, which its maker says take the same."""
    meter, identifier = km003c_record(bench)
    program = bench.program
    bench.heard(identifier, "serial")
    program.connect(identifier, "serial")
    expected = km003c_values(meter)
    readings = Readings(program, identifier)
    bench.after(readings.close)
    meter.rewind()
    wait(f"{len(expected)} readings as recorded",
         lambda: holds(readings.values("voltage_V", "current_A"), expected), 40)
    return f"{len(expected)} readings in a row as recorded"


@check("replay")
def boot_loader_is_no_meter(bench):
    """While a KM003C takes new firmware it has its own ids and texts and one interface: nobody may talk to it."""
    folder = traffic.folder(bench.arguments["root"])
    if folder is None:
        raise Skip(MISSING)
    heard = []
    loader = USBDevice.of_descriptors(
        *traffic.usb_descriptors(os.path.join(folder, "updating_firmware.7-8-9.pcapng"), 8), lambda *said: heard.append(said))
    bench.after(loader.pull)
    mark = bench.program.mark()
    loader.plug()
    provided("the kernel sees it", lambda: any(
        open(path).read().strip() == "5fc9" for path in glob.glob("/sys/bus/usb/devices/*/idVendor")), 20)
    # Longer than the program goes without a full look (a tenth of which is its interval of one second).
    time.sleep(12)
    if found := plugged_meter(bench.program, "5fc9"):
        raise Failure(f"it is taken for {found}")
    if heard:
        raise Failure(f"it was spoken to: {heard}")
    return f"not claimed, nothing sent, {bench.program.logged(mark).count('5fc9')} lines of the log name it"
