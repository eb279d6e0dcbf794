#!/usr/bin/python3
"""The air of the laboratory, on the machine that runs the virtual one: BlueZ's virtual controllers (btvirt), the meters
with radios, the link of one or two of those controllers to the guest, and every meter's simulator.

usage: air.py --work FOLDER --meterctl PROGRAM --at FOLDER [--adapters N | --serial-adapter]
In the folder --at it listens on the sockets hci0, hci1 … and control, and says READY. With --serial-adapter the only
adapter is a chip at the virtual machine's serial port, whose power line it follows (sockets qmp and qtest there).

The guest's side sends lines of JSON over control: {"id": 1, "do": "set", "meter": "um25c", "on": false} and gets
{"id": 1} or {"id": 1, "error": "why"}. Simulators of meters with plugs run here too: {"do": "plug", "simulator": 7,
"model": "tc66c", "over": "serial"}; what they say and hear travels as {"simulator": 7, "hex": "…"} both ways.
"""

import argparse
import asyncio
import json
import logging
import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import identities  # noqa: E402 - one folder up, shared with the guest
import recorded_meter  # noqa: E402
from adapter import Adapter  # noqa: E402
from broadcom import PowerLine  # noqa: E402
from radio_meter import ATORCH, FNIRSI, TC66_RADIO_A, TC66_RADIO_B, TRANSPARENT, Kind, RadioMeter
from simulator import Simulator

log = logging.getLogger("air")

# In this order on btvirt's controllers, which sets their addresses.
KINDS = {
    "um25c": Kind("um25c", identities.name("classic", "UM25C", rfcomm_channel=1), TRANSPARENT, -52, serial_channel=1),
    "tc66c-a": Kind("tc66c", identities.name("ble", "TC66C, other radio"), TC66_RADIO_A, -61),
    "tc66c-b": Kind("tc66c", identities.name("ble", "TC66C"), TC66_RADIO_B, -67),
    "fnb58": Kind("fnb58", identities.name("ble", "FNB58", name="FNB58-051772"), FNIRSI, -58),
    "atorch": Kind("atorch-usb", identities.name("ble", "UD18"), ATORCH, -73),
    "um25c-twin": Kind("um25c", "UM25C", TRANSPARENT, -80, serial_channel=1),
    "stranger": Kind("um25c", "UM25C", TRANSPARENT, -64, serial_channel=1),
}


class Air:
    """Everything that is on the air."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.meters = {}
        self.adapters = []
        self.plugged = {}
        self._guest = None
        self._btvirt = None
        self._power = None
        self._controllers = None

    async def start(self):
        """Up to READY."""
        path = self._controllers = await self._start_btvirt()
        serial = self.arguments.serial_adapter
        for index in range(1 if serial else self.arguments.adapters):
            adapter = Adapter(index, self, at_serial_port=serial)
            await adapter.start(path, os.path.join(self.arguments.at, adapter.name))
            self.adapters.append(adapter)
        for name, kind in KINDS.items():
            meter = RadioMeter(name, kind, self._radio_simulator)
            # Meters of one serial number would be one meter.
            meter.simulator_arguments = ["--seed", str(len(self.meters) + 1)]
            await meter.start(path)
            self.meters[name] = meter
            log.info("%s is %s", name, meter.address)
            # The twin joins when a check wants two meters of one name, the stranger when one wants another name.
            if name in ("um25c-twin", "stranger"):
                await meter.set_on(False)
        await asyncio.start_unix_server(self._serve_guest, os.path.join(self.arguments.at, "control"), limit=1 << 20)
        if serial:
            self.adapters[0].play("pi, well")
            qmp, qtest = (os.path.join(self.arguments.at, name) for name in ("qmp", "qtest"))
            self._power = asyncio.create_task(PowerLine(self.adapters[0].power).follow(qmp, qtest))

    async def _start_btvirt(self):
        """btvirt's sockets have fixed names in /tmp: it gets a /tmp of its own, and is reached through /proc."""
        private = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-r", "-m"]
        program = os.path.join(self.arguments.work, "extra/usr/bin/btvirt")
        shim = os.path.join(self.arguments.at, "without_alg.so")
        source = os.path.join(os.path.dirname(__file__), "without_alg.c")
        compiler = await asyncio.create_subprocess_exec("clang", "-shared", "-fPIC", "-O1", "-o", shim, source)
        if await compiler.wait() != 0:
            raise RuntimeError("without_alg.c does not compile")
        # Both are kept open, for the new /tmp may hide them.
        script = """exec 8<"$1" 9<"$0"; mount -t tmpfs tmp /tmp; LD_PRELOAD=/proc/self/fd/8 exec /proc/self/fd/9 -s"""
        self._btvirt = await asyncio.create_subprocess_exec(
            *private, "bash", "-c", script, program, shim, stdout=asyncio.subprocess.DEVNULL)
        path = f"/proc/{self._btvirt.pid}/root/tmp/bt-server-bredrle"
        for _ in range(100):
            if os.path.exists(path) and os.readlink(f"/proc/{self._btvirt.pid}/exe").endswith("btvirt"):
                return path
            await asyncio.sleep(0.05)
        raise RuntimeError("btvirt does not listen")

    def stop(self):
        """Ends the processes."""
        for meter in self.meters.values():
            for simulator in meter.simulators.values():
                simulator.end()
        for simulator in self.plugged.values():
            simulator.end()
        if self._btvirt and self._btvirt.returncode is None:
            self._btvirt.kill()

    # MARK: what adapters ask

    def _sender(self, address):
        return next((meter for meter in self.meters.values() if meter.address == address), None)

    def advertises(self, address):
        """Whether a scanner may hear this address."""
        meter = self._sender(address)
        return meter is not None and meter.advertises

    def meter_with_pin(self, address):
        """The meter of this address, where it wants a PIN."""
        meter = self._sender(address)
        return meter if meter is not None and meter.pin else None

    def strength(self, address):
        """In dBm."""
        meter = self._sender(address)
        return meter.kind.strength if meter else -90

    # MARK: simulators

    def _radio_simulator(self, meter, over):
        return Simulator(self.arguments.meterctl, meter.kind.model, over, meter.simulator_arguments,
                         lambda message: meter.said(over, message))

    def _plug(self, number, model, over, arguments=()):
        self._unplug(number)
        self.plugged[number] = Simulator(
            self.arguments.meterctl, model, over, arguments,
            lambda message: self._tell({"simulator": number, "hex": message.hex()}))

    def _unplug(self, number):
        simulator = self.plugged.pop(number, None)
        if simulator:
            simulator.end()

    # MARK: the guest

    def _tell(self, value):
        if self._guest:
            self._guest.write(json.dumps(value).encode() + b"\n")

    async def _serve_guest(self, reader, writer):
        self._guest = writer
        while line := await reader.readline():
            try:
                request = json.loads(line)
            except ValueError:
                log.warning("no JSON: %r", line)
                continue
            if "do" not in request:
                simulator = self.plugged.get(request["simulator"])
                if simulator:
                    simulator.write(bytes.fromhex(request["hex"]))
                continue
            answer = {"id": request.pop("id")}
            try:
                answer |= await self._perform(request.pop("do"), **request) or {}
            except Exception as error:
                log.exception("a request failed")
                answer["error"] = repr(error)
            self._tell(answer)

    async def _perform(self, do, **given):
        log.info("%s %s", do, given)
        match do:
            case "meters":
                return {"meters": {name: {"address": meter.address, "name": meter.kind.advertised_name,
                                          "model": meter.kind.model} for name, meter in self.meters.items()}}
            case "adapter":
                adapter = self.adapters[given.pop("index")]
                if "deaf_to" in given:
                    adapter.deaf_to = {self.meters[name].address for name in given.pop("deaf_to")}
                self._set_adapter(adapter, **given)
            case "radio":
                return self._radio(self.adapters[given["index"]])
            case "burst":
                asyncio.create_task(self.adapters[given["index"]].pi.burst(given["seconds"]))
            case "set":
                await self._set_meter(self.meters[given.pop("meter")], **given)
            case "vanish" | "drop":
                await getattr(self.meters[given["meter"]], do)()
            case "play":
                return await self._play_recording(given["recording"])
            case "roll":
                self.meters[given["meter"]].roll()
            case "raw":
                await self.meters[given["meter"]].raw(bytes.fromhex(given["hex"]))
            case "links":
                return {"links": len(self.meters[given["meter"]].links)}
            case "pairing":
                meter = self.meters[given["meter"]]
                if given.get("forget"):
                    meter.keys.clear()
                    meter.pairing.clear()
                return {"pairing": dict(meter.pairing)}
            case "written":
                return {"written": dict(self.meters[given["meter"]].written)}
            case "history":
                return {"history": self.meters[given["meter"]].history}
            case "plug":
                self._plug(given["simulator"], given["model"], given["over"], given.get("arguments", ()))
            case "unplug":
                self._unplug(given["simulator"])
            case _:
                raise ValueError(f"cannot do {do}")
        return None

    async def _play_recording(self, name):
        """Puts a recorded meter on the air; nothing where there are no recordings. What it will say, as hexadecimal."""
        meter = self.meters.get(f"recorded {name}")
        if meter is None:
            meter = recorded_meter.make(name, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
            if meter is None:
                return {}
            await meter.start(self._controllers)
            self.meters[f"recorded {name}"] = meter
            log.info("recorded %s is %s", name, meter.address)
        else:
            await meter.set_on(True)
        return {"meter": f"recorded {name}", "address": meter.address,
                "messages": [b"".join(message).hex() for message in meter.messages]}

    @staticmethod
    def _radio(adapter):
        """What was counted at an adapter: seconds of listening, cuts of its power, and what it did as a Pi's."""
        said = {"listened": adapter.air_time.seconds(), "power_cuts": adapter.power_cuts}
        if pi := adapter.pi:
            said |= {"timeouts": sorted(pi.timeouts.values()), "refused": pi.refused, "failed": pi.failed, "lost": pi.lost}
        return said

    @staticmethod
    def _set_adapter(adapter, plugged=None, deaf=None, hung=None, profile=None):
        if profile is not None:
            adapter.play(profile)
        if plugged is not None:
            adapter.plug() if plugged else adapter.unplug()
        if deaf is not None:
            adapter.deaf = deaf
        if hung is not None:
            adapter.hung = hung

    @staticmethod
    async def _set_meter(meter, on=None, refuses=None, hangs=None, simulator=None, name=None, pin=None):
        if name is not None:
            await meter.call(bytes.fromhex(name))
        if pin is not None:
            await meter.lock(pin)
        if refuses is not None:
            meter.refuses = refuses
        if hangs is not None:
            meter.hangs = hangs
        if simulator is not None:
            meter.simulator_arguments = simulator
        if on is not None:
            await meter.set_on(on)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--meterctl", required=True)
    parser.add_argument("--at", required=True)
    parser.add_argument("--adapters", type=int, default=2)
    parser.add_argument("--serial-adapter", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.DEBUG if arguments.verbose else logging.INFO, stream=sys.stderr,
                        format="%(asctime)s %(name)s: %(message)s")
    logging.getLogger("bumble").setLevel(logging.DEBUG if arguments.verbose else logging.WARNING)

    air = Air(arguments)
    try:
        await air.start()
        print("READY", flush=True)
        # Whoever started it closes its input, or is gone.
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    finally:
        air.stop()


asyncio.run(main())
