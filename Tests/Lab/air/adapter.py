"""The adapter that the guest's kernel has: the packets between the kernel and its controller, which is one of btvirt's.

What btvirt leaves out of a real radio happens here: signal strengths, advertisements that come again and again, the end
of all links when the adapter is pulled, and the ways in which adapters fail.
"""

import asyncio
import itertools

import broadcom
import h4
from controller import LE_META, Controller
from pairing import LegacyPairing
from pi import INQUIRY_COMPLETE, AirTime, Pi

INQUIRY_RESULTS = (0x02, 0x22, 0x2F)
LE_REPORT, LE_EXTENDED_REPORT = 0x02, 0x0D
DISCONNECT, RESET = 0x0406, 0x0C03
LE_SET_SCAN_ENABLE, LE_SET_EXTENDED_SCAN_ENABLE = 0x200C, 0x2042
POWERED_OFF_BY_PEER = 0x15
UNKNOWN_STRENGTH = 127


class Adapter:
    """One controller of btvirt's on one side, one port of the virtual machine on the other."""

    # A real controller reports a device again when the host starts a scan anew, and many do so all the time.
    REPEAT_SECONDS = 1.0

    def __init__(self, index, air, at_serial_port=False):
        self.name = f"hci{index}"
        self.air = air
        # A Broadcom chip at the machine's serial port, whose power is a line's; others are plugged and pulled by the guest.
        self.at_serial_port = at_serial_port
        self.plugged = False
        # How often the power of one at a serial port fell.
        self.power_cuts = 0
        # Hears no advertisement and no inquiry answer, though it says that it scans.
        self.deaf = False
        # Addresses that are out of its reach, though other adapters hear them.
        self.deaf_to = set()
        # Answers no command, as a controller does whose firmware hung.
        self.hung = False
        self.scanning = False
        # A Raspberry Pi's, while it plays one.
        self.pi = None
        self.air_time = AirTime()
        self._reports = {}
        self._wobble = itertools.cycle((0, 2, -1, 1, -2, 0, -3))
        self._kernel = None
        self._controller = Controller(self._from_controller)
        self._pairing = LegacyPairing(self.name, air, self._to_kernel, self._controller.send)
        self._from_kernel = h4.Splitter()
        self._task = None

    async def start(self, controller_path, port_path):
        """Connects to btvirt and waits for the virtual machine at `port_path`."""
        await self._controller.connect(controller_path)
        await asyncio.start_unix_server(self._serve_kernel, port_path)
        self._task = asyncio.create_task(self._repeat())

    def plug(self):
        """The guest has made its device."""
        self._from_kernel = h4.Splitter()
        self.hung = self.deaf = self.scanning = False
        self._controller.send(h4.command(RESET))
        self.plugged = True

    def unplug(self):
        """The guest has taken its device away: its peers lose their links, as they do when a real one is pulled."""
        self.plugged = False
        self.scanning = False
        self._pairing.forget()
        self._end_links()

    def power(self, on):
        """The level of the line that the power of a chip at a serial port hangs on."""
        if on == self.plugged:
            return
        if on:
            self.plug()
        else:
            self.power_cuts += 1
            self.unplug()

    def play(self, profile):
        """Behaves like a Raspberry Pi's radio from now on ("pi"), like one whose links all succeed ("pi, well"), or like
        any other."""
        self.pi = None
        if profile:
            self.pi = Pi(lambda packet: self._kernel.write(packet), self._controller.send, 2 if profile == "pi" else None)

    def _end_links(self):
        """Tells the peers, which btvirt does not when a controller is reset."""
        for handle in self._controller.links:
            self._controller.send(h4.command(DISCONNECT, handle.to_bytes(2, "little") + bytes([POWERED_OFF_BY_PEER])))

    async def _serve_kernel(self, reader, writer):
        self._kernel = writer
        while data := await reader.read(65536):
            if not self.plugged:
                continue
            for packet in self._from_kernel.feed(data):
                self._from_kernel_packet(packet)

    def _from_kernel_packet(self, packet):
        if self.hung:
            return
        if self.at_serial_port and (said := broadcom.answer(packet)):
            self._to_kernel(said)
            return
        if packet[0] == h4.COMMAND:
            self.air_time.command(int.from_bytes(packet[1:3], "little"), packet[4:])
        if self.pi and not (packet := self.pi.from_kernel(packet)):
            return
        if packet[0] == h4.COMMAND:
            opcode = int.from_bytes(packet[1:3], "little")
            if opcode == LE_SET_SCAN_ENABLE or opcode == LE_SET_EXTENDED_SCAN_ENABLE:
                self.scanning = packet[4] == 1
                self._reports.clear()
            elif opcode == RESET:
                self.scanning = False
                self._pairing.forget()
                self._end_links()
        if not self._pairing.takes(packet):
            self._controller.send(packet)

    def _from_controller(self, packet):
        if self.pi and not (packet := self.pi.from_controller(packet)):
            return
        if packet[0] == h4.EVENT:
            if packet[1] == INQUIRY_COMPLETE:
                self.air_time.stop_inquiry()
            packet = self._event(packet)
        if packet:
            self._to_kernel(packet)

    def _to_kernel(self, packet):
        if self.plugged and not self.hung and self._kernel:
            self._kernel.write(packet)

    def _event(self, packet):
        """The event as the kernel shall see it, or None."""
        code, body = packet[1], packet[3:]
        subevent = body[0] if code == LE_META else None
        if code in INQUIRY_RESULTS and self.deaf:
            return None
        if self._pairing.event(code, body):
            return None
        if subevent in (LE_REPORT, LE_EXTENDED_REPORT):
            return self._report(packet, subevent)
        return packet

    def _report(self, packet, subevent):
        """An advertisement with the strength at which it arrives; kept, to be heard again."""
        # One report each, which is all that btvirt sends: the place of the address, of the kind and of the strength.
        address, kind, strength = (7, 5, len(packet) - 1) if subevent == LE_REPORT else (8, 5, 18)
        sender = h4.address(packet[address:address + 6])
        heard = bytearray(packet)
        if sender in self.deaf_to:
            self._reports.pop((sender, heard[kind]), None)
            return None
        if heard[strength] == UNKNOWN_STRENGTH:
            heard[strength] = (self.air.strength(sender) + next(self._wobble)) & 0xFF
        self._reports[sender, heard[kind]] = bytes(heard)
        return None if self.deaf or not self.air.advertises(sender) else bytes(heard)

    async def _repeat(self):
        while True:
            await asyncio.sleep(self.REPEAT_SECONDS)
            if not (self.scanning and self.plugged and self._kernel) or self.deaf or self.hung:
                continue
            for (sender, _), packet in list(self._reports.items()):
                if self.air.advertises(sender) and sender not in self.deaf_to:
                    self._kernel.write(packet)
