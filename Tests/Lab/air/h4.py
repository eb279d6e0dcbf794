"""HCI packets as they travel over a byte stream: a type octet, then the packet (Core Specification, volume 4, part A)."""

COMMAND, ACL, SCO, EVENT, ISO = 1, 2, 3, 4, 5

# Per type: octets of header after the type, where the length stands in it, and its size.
_HEADERS = {COMMAND: (3, 2, 1), ACL: (4, 2, 2), SCO: (3, 2, 1), EVENT: (2, 1, 1), ISO: (4, 2, 2)}


class Splitter:
    """Cuts a byte stream into packets."""

    def __init__(self):
        self._held = b""

    def feed(self, data):
        """The packets that are whole with these octets, each with its type octet."""
        held = self._held + data
        packets = []
        while held:
            if held[0] not in _HEADERS:
                raise ValueError(f"no HCI packet has the type {held[0]:#04x}")
            header, offset, size = _HEADERS[held[0]]
            if len(held) < 1 + header:
                break
            length = int.from_bytes(held[1 + offset:1 + offset + size], "little")
            # The two upper bits of an ISO length mean something else.
            whole = 1 + header + (length & 0x3FFF if held[0] == ISO else length)
            if len(held) < whole:
                break
            packets.append(held[:whole])
            held = held[whole:]
        self._held = held
        return packets


def command(opcode, parameters=b""):
    """A command packet."""
    return bytes([COMMAND]) + opcode.to_bytes(2, "little") + bytes([len(parameters)]) + parameters


def address(octets):
    """Six octets, as they travel, as people write them."""
    return ":".join(f"{octet:02X}" for octet in reversed(octets))
