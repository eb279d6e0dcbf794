"""The chip of a Raspberry Pi as its driver sees it: at a serial port, with commands of its maker's, and without power
while a line is down.

Which commands the driver has and how long their answers are is in the kernel's drivers/bluetooth/btbcm.c and hci_bcm.c.
What the answers say it only writes to its log; the chip's id and build here are nobody's.
"""

import asyncio
import json

import h4

COMMAND_COMPLETE = 0x0E
UNKNOWN_COMMAND = 0x01
VENDOR = 0x3F
# What follows the status, by command: the chip's id and build; its features; and those that only do something: the
# port's speed, its clock, sound (PCM, I2S), sleep, the address.
ANSWERS = {
    0xFC79: bytes(6), 0xFC6E: bytes(8),
    0xFC18: b"", 0xFC45: b"", 0xFC1C: b"", 0xFC6D: b"", 0xFC27: b"", 0xFC01: b"",
}


def answer(packet):
    """The event that answers a command of the maker's; None for any other packet."""
    opcode = int.from_bytes(packet[1:3], "little")
    if packet[0] != h4.COMMAND or opcode >> 10 != VENDOR:
        return None
    said = ANSWERS.get(opcode)
    body = bytes([UNKNOWN_COMMAND]) if said is None else b"\x00" + said
    return bytes([h4.EVENT, COMMAND_COMPLETE, 3 + len(body), 1]) + packet[1:3] + body


class PowerLine:
    """The line of the virtual machine's GPIO controller that the chip's power hangs on. `changed` is called with each level.

    QEMU tells the levels of a device's outputs over its qtest protocol (docs/devel/testing/qtest.rst), and over QMP how
    that device is called. The machine waits for this before it starts.
    """

    CONTROLLER, DEVICES = "child<pl061>", "/machine/unattached"
    # Of the controller's eight; the device tree that the machine gets names the same one.
    NUMBER = 5

    def __init__(self, changed):
        self._changed = changed

    async def follow(self, qmp_path, qtest_path):
        """Until the machine ends."""
        reader, writer = await self._connect(qmp_path)
        await reader.readline()
        await self._ask(reader, writer, "qmp_capabilities")
        devices = await self._ask(reader, writer, "qom-list", path=self.DEVICES)
        name = next(device["name"] for device in devices if device["type"] == self.CONTROLLER)
        levels, test = await self._connect(qtest_path)
        test.write(f"irq_intercept_out {self.DEVICES}/{name}\n".encode())
        if (said := await levels.readline()) != b"OK\n":
            raise RuntimeError(f"the line cannot be followed: {said!r}")
        await self._ask(reader, writer, "cont")
        while line := await levels.readline():
            words = line.split()
            if words[:1] == [b"IRQ"] and int(words[2]) == self.NUMBER:
                self._changed(words[1] == b"raise")

    @staticmethod
    async def _connect(path):
        while True:
            try:
                return await asyncio.open_unix_connection(path)
            except (FileNotFoundError, ConnectionRefusedError):
                await asyncio.sleep(0.1)

    @staticmethod
    async def _ask(reader, writer, execute, **arguments):
        writer.write(json.dumps({"execute": execute, "arguments": arguments}).encode() + b"\n")
        while "event" in (said := json.loads(await reader.readline())):
            pass
        if "error" in said:
            raise RuntimeError(f"{execute}: {said['error']}")
        return said["return"]
