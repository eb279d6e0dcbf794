"""What a Raspberry Pi's radio does and btvirt's controllers do not: the profile `pi` of an adapter.

- A scan is refused (Command Disallowed) while a link is being made.
- Some links fail to be established (0x3E).
- Each LE link has the supervision time-out that it was made with: a burst in which nothing gets through ends it (0x08)
  when it lasts longer, and delays what was sent when it does not.
- It says that it is what public traces of a Pi's radio show: the features of a Pi 3 (currantlabs/ble#29) and, over LE, of
  a Pi 3B+ (RPi-Distro/bluez-firmware#4).
"""

import asyncio
import time

import h4
from controller import DISCONNECTION_COMPLETE, LE_CONNECTION_COMPLETE, LE_ENHANCED_CONNECTION_COMPLETE, LE_META

COMMAND_COMPLETE, COMMAND_STATUS = 0x0E, 0x0F
DISCONNECT = 0x0406
INQUIRY, INQUIRY_CANCEL, INQUIRY_COMPLETE = 0x0401, 0x0402, 0x01
LE_CREATE, LE_CREATE_CANCEL, LE_UPDATE, LE_EXTENDED_CREATE = 0x200D, 0x200E, 0x2013, 0x2043
LE_SET_SCAN_PARAMETERS, LE_SET_EXTENDED_SCAN_PARAMETERS = 0x200B, 0x2041
LE_SET_SCAN_ENABLE, LE_SET_EXTENDED_SCAN_ENABLE = 0x200C, 0x2042
DISALLOWED, SUPERVISION, NOT_ESTABLISHED = 0x0C, 0x08, 0x3E
# Of an answer, what follows opcode and status.
ANSWERS = {
    0x1001: bytes.fromhex("07 b600 07 0f00 0922"),
    0x1003: bytes.fromhex("bf fe cf fe db ff 7b 87"),
    # 2f there: btvirt has no commands for longer packets.
    0x2003: bytes.fromhex("0f 00 00 00 00 00 00 00"),
}


class AirTime:
    """How much of the time the adapter listens, as its commands say."""

    def __init__(self):
        # Of each second that it scans, how much.
        self._part = 1.0
        self._since = None
        self._inquiry = None
        self.scanned = self.inquired = 0.0

    def command(self, opcode, body):
        """Follows a command of the kernel's."""
        if opcode in (LE_SET_SCAN_PARAMETERS, LE_SET_EXTENDED_SCAN_PARAMETERS):
            place = 1 if opcode == LE_SET_SCAN_PARAMETERS else 4
            interval, window = (int.from_bytes(body[at:at + 2], "little") for at in (place, place + 2))
            self._part = min(1.0, window / interval) if interval else 1.0
        elif opcode in (LE_SET_SCAN_ENABLE, LE_SET_EXTENDED_SCAN_ENABLE):
            self.stop_scan()
            self._since = time.monotonic() if body[0] else None
        elif opcode == INQUIRY:
            self._inquiry = time.monotonic()
        elif opcode == INQUIRY_CANCEL:
            self.stop_inquiry()

    def stop_scan(self):
        """The scan is over, if there was one."""
        if self._since is not None:
            self.scanned += (time.monotonic() - self._since) * self._part
            self._since = None

    def stop_inquiry(self):
        """The inquiry is."""
        if self._inquiry is not None:
            self.inquired += time.monotonic() - self._inquiry
            self._inquiry = None

    def seconds(self):
        """All together until now."""
        now = time.monotonic()
        scanning = (now - self._since) * self._part if self._since is not None else 0
        inquiring = now - self._inquiry if self._inquiry is not None else 0
        return self.scanned + self.inquired + scanning + inquiring


class Pi:
    """Between the kernel and its controller. `answer` goes to the kernel, `command` to the controller."""

    # As a radio that waits for the meter's next advertisement; btvirt makes a link at once.
    MAKING_SECONDS = 0.5

    def __init__(self, answer, command, failing):
        self._answer, self._command = answer, command
        # Every so many-th link over LE fails to be established; None: all succeed.
        self._failing = failing
        self._made = 0
        self._pending = False
        self._timeout = None
        # Seconds, by handle.
        self.timeouts = {}
        self._reasons = {}
        self._own_commands = 0
        self._held = None
        self.refused = self.failed = self.lost = 0

    # MARK: from the kernel

    def from_kernel(self, packet):
        """The packet for the controller, or None."""
        if packet[0] == h4.ACL and self._held is not None:
            self._held.append((self._command, packet))
            return None
        if packet[0] != h4.COMMAND:
            return packet
        opcode, body = int.from_bytes(packet[1:3], "little"), packet[4:]
        if opcode == LE_CREATE:
            self._pending, self._timeout = True, int.from_bytes(body[19:21], "little") / 100
        elif opcode == LE_EXTENDED_CREATE:
            self._pending, self._timeout = True, int.from_bytes(body[20:22], "little") / 100
        elif opcode == LE_CREATE_CANCEL:
            self._pending = False
        elif opcode == LE_UPDATE:
            self.timeouts[int.from_bytes(body[:2], "little")] = int.from_bytes(body[8:10], "little") / 100
        elif opcode in (LE_SET_SCAN_ENABLE, LE_SET_EXTENDED_SCAN_ENABLE) and body[0] and self._pending:
            self.refused += 1
            self._answer(bytes([h4.EVENT, COMMAND_COMPLETE, 4, 1]) + packet[1:3] + bytes([DISALLOWED]))
            return None
        return packet

    # MARK: from the controller

    def from_controller(self, packet):
        """The packet for the kernel, or None."""
        if packet[0] == h4.ACL and self._held is not None:
            self._held.append((self._answer, packet))
            return None
        if packet[0] != h4.EVENT:
            return packet
        code, body = packet[1], packet[3:]
        if code == COMMAND_COMPLETE and body[3] == 0 and (said := ANSWERS.get(int.from_bytes(body[1:3], "little"))):
            return packet[:7] + said
        if code == COMMAND_STATUS and int.from_bytes(body[2:4], "little") == DISCONNECT and self._own_commands:
            self._own_commands -= 1
            return None
        if code == LE_META and body[0] in (LE_CONNECTION_COMPLETE, LE_ENHANCED_CONNECTION_COMPLETE):
            asyncio.get_running_loop().call_later(self.MAKING_SECONDS, self._complete, packet)
            return None
        elif code == DISCONNECTION_COMPLETE:
            handle = int.from_bytes(body[1:3], "little")
            self.timeouts.pop(handle, None)
            if reason := self._reasons.pop(handle, None):
                return packet[:6] + bytes([reason])
        return packet

    def _complete(self, packet):
        self._pending = False
        self._answer(packet)
        if packet[4] == 0:
            self._linked(int.from_bytes(packet[5:7], "little"))

    def _linked(self, handle):
        self._made += 1
        if self._failing and self._made % self._failing == 0:
            self.failed += 1
            self._end(handle, NOT_ESTABLISHED)
        else:
            self.timeouts[handle] = self._timeout

    def _end(self, handle, reason):
        self._reasons[handle] = reason
        self._own_commands += 1
        self._command(h4.command(DISCONNECT, handle.to_bytes(2, "little") + bytes([SUPERVISION])))

    # MARK: bursts

    async def burst(self, seconds):
        """For so long nothing gets through."""
        self._held = []
        ends = sorted((timeout, handle) for handle, timeout in self.timeouts.items() if timeout < seconds)
        passed = 0
        for timeout, handle in ends:
            await asyncio.sleep(timeout - passed)
            passed = timeout
            if handle in self.timeouts:
                self.lost += 1
                self._end(handle, SUPERVISION)
        await asyncio.sleep(seconds - passed)
        held, self._held = self._held, None
        for send, packet in held:
            send(packet)
