"""A published attribute table as an attribute server: every handle, type and value as somebody's meter had them.

Answers are those of the Core Specification, volume 3, part F.
"""

import itertools
import struct

PRIMARY_SERVICE, CHARACTERISTIC, CONFIGURATION = b"\x00\x28", b"\x03\x28", b"\x02\x29"
ERROR, MTU, INFORMATION, BY_VALUE, BY_TYPE, READ, BLOB, BY_GROUP, WRITE, COMMAND = (
    0x01, 0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x10, 0x12, 0x52)
INVALID_HANDLE, READ_NOT_PERMITTED, NOT_SUPPORTED, NOT_FOUND = 0x01, 0x02, 0x06, 0x0A
# What a link has that nobody negotiated another size for. What the meter itself would offer is not published.
DEFAULT_MTU = 23


class AttributeTable:
    """`written` is called with handle and value of each write. The state of subscriptions is that of one link."""

    def __init__(self, attributes, written):
        self._attributes = {handle: (kind, value) for handle, kind, value in attributes}
        self._written = written
        self.subscribed = set()
        # What could not be read was not listed: a characteristic's value stands where its declaration says.
        for kind, value in list(self._attributes.values()):
            if kind == CHARACTERISTIC:
                self._attributes.setdefault(int.from_bytes(value[1:3], "little"), (value[3:], None))

    def value_handle(self, kind):
        """Where the value of a characteristic is."""
        return next(int.from_bytes(value[1:3], "little") for declared, value in self._attributes.values()
                    if declared == CHARACTERISTIC and value[3:] == kind)

    def notifies(self, handle):
        """Whether the other end has subscribed to it: by the first descriptor of that kind behind it."""
        after = [place for place, (kind, _) in self._attributes.items() if place > handle and kind == CONFIGURATION]
        return bool(after) and min(after) in self.subscribed

    def answer(self, pdu):
        """The answer to a packet; None where none is due."""
        code = pdu[0]
        try:
            if code == MTU:
                return b"\x03" + struct.pack("<H", DEFAULT_MTU)
            if code == INFORMATION:
                return b"\x05" + self._information(*struct.unpack_from("<HH", pdu, 1))
            if code == BY_TYPE:
                return b"\x09" + self._by_type(*struct.unpack_from("<HH", pdu, 1), pdu[5:])
            if code == BY_GROUP:
                return b"\x11" + self._services(*struct.unpack_from("<HH", pdu, 1))
            if code == BY_VALUE:
                return b"\x07" + self._by_value(*struct.unpack_from("<HH", pdu, 1), pdu[7:])
            if code in (READ, BLOB):
                handle, offset = int.from_bytes(pdu[1:3], "little"), int.from_bytes(pdu[3:5], "little")
                return bytes([code + 1]) + self._value(handle)[offset:offset + DEFAULT_MTU - 1]
            if code in (WRITE, COMMAND):
                self._write(int.from_bytes(pdu[1:3], "little"), pdu[3:])
                return b"\x13" if code == WRITE else None
        except KeyError as error:
            handle, reason = error.args[0]
            return struct.pack("<BBHB", ERROR, code, handle, reason)
        # Confirmations and commands want no answer.
        return None if code & 0x40 or code == 0x1E else struct.pack("<BBHB", ERROR, code, 0, NOT_SUPPORTED)

    def _between(self, start, end):
        return sorted(handle for handle in self._attributes if start <= handle <= end)

    def _same_length(self, rows, start):
        """As many rows as fit and are as long as the first."""
        if not rows:
            raise KeyError((start, NOT_FOUND))
        rows = list(itertools.takewhile(lambda row: len(row) == len(rows[0]), rows))
        return rows[:(DEFAULT_MTU - 2) // len(rows[0])]

    def _information(self, start, end):
        rows = [struct.pack("<H", handle) + self._attributes[handle][0] for handle in self._between(start, end)]
        rows = self._same_length(rows, start)
        return bytes([1 if len(rows[0]) == 4 else 2]) + b"".join(rows)

    def _by_type(self, start, end, kind):
        rows = [struct.pack("<H", handle) + self._value(handle)[:DEFAULT_MTU - 4]
                for handle in self._between(start, end) if self._attributes[handle][0] == kind]
        rows = self._same_length(rows, start)
        return bytes([len(rows[0])]) + b"".join(rows)

    def _groups(self):
        starts = [handle for handle in sorted(self._attributes) if self._attributes[handle][0] == PRIMARY_SERVICE]
        ends = [next_start - 1 for next_start in starts[1:]] + [max(self._attributes)]
        return [(start, end, self._attributes[start][1]) for start, end in zip(starts, ends)]

    def _services(self, start, end):
        rows = [struct.pack("<HH", first, last) + value for first, last, value in self._groups() if start <= first <= end]
        rows = self._same_length(rows, start)
        return bytes([len(rows[0])]) + b"".join(rows)

    def _by_value(self, start, end, wanted):
        rows = [struct.pack("<HH", first, last) for first, last, value in self._groups()
                if start <= first <= end and value == wanted]
        return b"".join(self._same_length(rows, start))

    def _value(self, handle):
        if handle not in self._attributes:
            raise KeyError((handle, INVALID_HANDLE))
        value = self._attributes[handle][1]
        if value is None:
            raise KeyError((handle, READ_NOT_PERMITTED))
        return value

    def _write(self, handle, value):
        if handle not in self._attributes:
            raise KeyError((handle, INVALID_HANDLE))
        if self._attributes[handle][0] == CONFIGURATION:
            self.subscribed.discard(handle) if value[:1] in (b"\x00", b"") else self.subscribed.add(handle)
        self._written(handle, value)
