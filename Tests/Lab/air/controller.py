"""A connection to one of btvirt's controllers.

btvirt hands data on with the handle that the link has at its sender, which is another one than the receiver's as soon as
somebody has two links. So every sender appends an octet that says whose data they are and over which kind of link, and
every receiver turns that into its own handle. And it tells a peripheral the handle that the link has at the central: the
peripheral's own is the lowest free one.
"""

import asyncio
import itertools

import h4

LE_META, CONNECTION_COMPLETE, DISCONNECTION_COMPLETE, COMMAND_COMPLETE = 0x3E, 0x03, 0x05, 0x0E
LE_CONNECTION_COMPLETE, LE_ENHANCED_CONNECTION_COMPLETE = 0x01, 0x0A
READ_ADDRESS = 0x1009
CLASSIC, LE = 0, 1
PERIPHERAL = 1
LOWEST_HANDLE = 42


def _number(address):
    """Which of btvirt's controllers has this address, as it travels: the third octet counts them."""
    return address[2]


class Controller:
    """`received` is called with each packet for the host. It is also a source and a sink as Bumble wants them."""

    def __init__(self, received=None):
        self.received = received
        self.terminated = asyncio.get_running_loop().create_future()
        # (number of the far controller, kind of link) by handle, and the other way round.
        self.links = {}
        self._handles = {}
        self._number = 0
        self._task = None

    async def connect(self, path):
        """Makes a new controller."""
        reader, self._writer = await asyncio.open_unix_connection(path)
        self._task = asyncio.create_task(self._read(reader))
        return self

    # As Bumble calls them.
    def set_packet_sink(self, sink):
        self.received = sink.on_packet

    def on_packet(self, packet):
        self.send(packet)

    def send(self, packet):
        """A packet of the host's."""
        packet = bytes(packet)
        if packet[0] == h4.ACL:
            handle = int.from_bytes(packet[1:3], "little") & 0x0FFF
            if handle not in self.links:
                return
            tag = self._number << 1 | self.links[handle][1]
            length = int.from_bytes(packet[3:5], "little") + 1
            packet = packet[:3] + length.to_bytes(2, "little") + packet[5:] + bytes([tag])
        self._writer.write(packet)

    async def _read(self, reader):
        splitter = h4.Splitter()
        while data := await reader.read(65536):
            for packet in splitter.feed(data):
                if packet[0] == h4.EVENT:
                    packet = self._event(packet[1], packet[3:], packet)
                elif packet[0] == h4.ACL:
                    packet = self._own(packet)
                if packet and self.received:
                    self.received(packet)

    def _event(self, code, body, packet):
        """The event as the host shall get it."""
        subevent = body[0] if code == LE_META else None
        if code == COMMAND_COMPLETE and int.from_bytes(body[1:3], "little") == READ_ADDRESS:
            self._number = _number(body[4:10])
        elif code == CONNECTION_COMPLETE and body[0] == 0:
            self._linked(body[1:3], body[3:9], CLASSIC)
        elif subevent in (LE_CONNECTION_COMPLETE, LE_ENHANCED_CONNECTION_COMPLETE) and body[1] == 0:
            if body[4] == PERIPHERAL:
                handle = next(number for number in itertools.count(LOWEST_HANDLE) if number not in self.links)
                body = body[:2] + handle.to_bytes(2, "little") + body[4:]
                packet = packet[:3] + body
            self._linked(body[2:4], body[6:12], LE)
        elif code == DISCONNECTION_COMPLETE and body[0] == 0:
            self._handles.pop(self.links.pop(int.from_bytes(body[1:3], "little"), None), None)
        return packet

    def _linked(self, handle, peer, kind):
        handle = int.from_bytes(handle, "little")
        self.links[handle] = _number(peer), kind
        self._handles[_number(peer), kind] = handle

    def _own(self, packet):
        """Data with this end's handle; None when the link is gone here."""
        handle = self._handles.get((packet[-1] >> 1, packet[-1] & 1))
        if handle is None:
            return None
        flags = int.from_bytes(packet[1:3], "little") & 0xF000
        length = int.from_bytes(packet[3:5], "little") - 1
        return bytes([h4.ACL]) + (flags | handle).to_bytes(2, "little") + length.to_bytes(2, "little") + packet[5:-1]
