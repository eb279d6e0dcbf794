"""Legacy pairing, as the link managers of an adapter and of a meter without Secure Simple Pairing do it: the part of the
adapter's controller, between it and the kernel (Core Specification 5.4, volume 4, part E, 7.1.10 to 7.1.15 and 7.7.22 to
7.7.24; volume 2, part C, 4.2.2).

The meter asks for it as soon as a link is there, and takes no data before it has ended well. btvirt knows legacy pairing
too, but asks the host for no key after it once had one, and takes every answer to a PIN request, where a controller refuses
a second one.
"""

import asyncio
import os

import h4

CONNECTION_COMPLETE, DISCONNECTION_COMPLETE, AUTHENTICATION_COMPLETE = 0x03, 0x05, 0x06
COMMAND_COMPLETE, COMMAND_STATUS = 0x0E, 0x0F
PIN_CODE_REQUEST, LINK_KEY_REQUEST, LINK_KEY_NOTIFICATION = 0x16, 0x17, 0x18
LINK_KEY_REPLY, LINK_KEY_REFUSAL, PIN_CODE_REPLY, PIN_CODE_REFUSAL = 0x040B, 0x040C, 0x040D, 0x040E
DISCONNECT, AUTHENTICATION_REQUESTED = 0x0406, 0x0411
ACL_LINK = 1
NO_CONNECTION, AUTHENTICATION_FAILURE, KEY_MISSING, COMMAND_DISALLOWED, RESPONSE_TIMEOUT = 0x02, 0x05, 0x06, 0x0C, 0x22
COMBINATION_KEY = 0
# From the end of connecting to the first request, and until nobody's answer is waited for any more, in seconds.
EXCHANGE, PATIENCE = 0.03, 30


class Link:
    """One link to a meter with a PIN."""

    def __init__(self, handle, address, meter):
        self.handle = handle
        self.address = address
        self.meter = meter
        # What the kernel is asked: None, "key" or "pin".
        self.asked = None
        self.is_open = False
        # The host asked for it as well, and is told how it ended.
        self.is_awaited = False
        self.held = []


class LegacyPairing:
    """All links of one adapter to meters with a PIN. `to_kernel` and `to_controller` take packets."""

    def __init__(self, name, air, to_kernel, to_controller):
        self._name = name
        self._air = air
        self._to_kernel = to_kernel
        self._to_controller = to_controller
        self._links = {}
        # Links that the meter ends, of which the kernel asked nothing.
        self._ending = 0

    def forget(self):
        """The adapter was reset or pulled."""
        self._links.clear()

    def event(self, code, body):
        """An event of the controller's: whether it goes no further than here."""
        if code == CONNECTION_COMPLETE and body[0] == 0 and body[9] == ACL_LINK:
            meter = self._air.meter_with_pin(h4.address(body[3:9]))
            if meter:
                link = Link(int.from_bytes(body[1:3], "little"), bytes(body[3:9]), meter)
                self._links[link.handle] = link
                asyncio.get_running_loop().call_later(EXCHANGE, self._ask_for_key, link)
        elif code == DISCONNECTION_COMPLETE and body[0] == 0:
            self._links.pop(int.from_bytes(body[1:3], "little"), None)
        elif code == COMMAND_STATUS and int.from_bytes(body[2:4], "little") == DISCONNECT and self._ending:
            self._ending -= 1
            return True
        return False

    def takes(self, packet):
        """Whether a packet of the kernel's goes no further."""
        if packet[0] == h4.ACL:
            link = self._links.get(int.from_bytes(packet[1:3], "little") & 0x0FFF)
            if link is None or link.is_open:
                return False
            link.held.append(packet)
            return True
        if packet[0] != h4.COMMAND:
            return False
        opcode, body = int.from_bytes(packet[1:3], "little"), packet[4:]
        if opcode == AUTHENTICATION_REQUESTED:
            link = self._links.get(int.from_bytes(body[:2], "little") & 0x0FFF)
            if link is None:
                return False
            self._event(COMMAND_STATUS, bytes([0, 1]) + opcode.to_bytes(2, "little"))
            link.is_awaited = True
            if link.is_open:
                self._ask_for_key(link)
            return True
        if opcode not in (LINK_KEY_REPLY, LINK_KEY_REFUSAL, PIN_CODE_REPLY, PIN_CODE_REFUSAL):
            return False
        link = next((link for link in self._links.values() if link.address == bytes(body[:6])), None)
        if link is None and self._air.meter_with_pin(h4.address(body[:6])):
            # It was ended by another answer. btvirt would take this one for the next time.
            self._event(COMMAND_COMPLETE, bytes([1]) + opcode.to_bytes(2, "little") + bytes([NO_CONNECTION]) + bytes(body[:6]))
            return True
        if link is None:
            return False
        self._answered(link, opcode, body[6:])
        return True

    # MARK: the exchange

    def _ask_for_key(self, link):
        if self._links.get(link.handle) is link:
            self._ask(link, "key", LINK_KEY_REQUEST)

    def _ask(self, link, what, event):
        link.asked = what
        link.meter.pairing[what] += 1
        self._event(event, link.address)
        asyncio.get_running_loop().call_later(PATIENCE, self._waited, link, what)

    def _waited(self, link, what):
        if self._links.get(link.handle) is link and link.asked == what:
            self._end(link, RESPONSE_TIMEOUT)

    def _answered(self, link, opcode, body):
        wanted = "key" if opcode in (LINK_KEY_REPLY, LINK_KEY_REFUSAL) else "pin"
        status = 0 if link.asked == wanted else COMMAND_DISALLOWED
        self._event(COMMAND_COMPLETE, bytes([1]) + opcode.to_bytes(2, "little") + bytes([status]) + link.address)
        if status:
            link.meter.pairing["late"] += 1
            return
        link.asked = None
        if opcode == LINK_KEY_REPLY:
            if bytes(body[:16]) == link.meter.keys.get(self._name):
                link.meter.pairing["known"] += 1
                self._open(link)
            else:
                self._end(link, AUTHENTICATION_FAILURE)
        elif opcode == LINK_KEY_REFUSAL:
            self._ask(link, "pin", PIN_CODE_REQUEST)
        elif opcode == PIN_CODE_REPLY and bytes(body[1:1 + body[0]]) == link.meter.pin.encode():
            key = link.meter.keys[self._name] = os.urandom(16)
            self._event(LINK_KEY_NOTIFICATION, link.address + key + bytes([COMBINATION_KEY]))
            link.meter.pairing["paired"] += 1
            self._open(link)
        elif opcode == PIN_CODE_REPLY:
            link.meter.pairing["wrong"] += 1
            self._end(link, AUTHENTICATION_FAILURE)
        else:
            link.meter.pairing["refused"] += 1
            self._end(link, KEY_MISSING)

    def _open(self, link):
        self._tell(link, 0)
        link.is_open = True
        for packet in link.held:
            self._to_controller(packet)
        link.held.clear()

    def _end(self, link, reason):
        link.asked = None
        self._tell(link, reason)
        # The meter ends it; btvirt tells both sides the same reason, whoever asks.
        self._ending += 1
        self._to_controller(h4.command(DISCONNECT, link.handle.to_bytes(2, "little") + bytes([reason])))

    def _tell(self, link, status):
        if link.is_awaited:
            link.is_awaited = False
            self._event(AUTHENTICATION_COMPLETE, bytes([status]) + link.handle.to_bytes(2, "little"))

    def _event(self, code, body):
        self._to_kernel(bytes([h4.EVENT, code, len(body)]) + body)
