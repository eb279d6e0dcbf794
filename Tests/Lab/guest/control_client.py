"""Bluetooth through plain kernel sockets, without the program: what this finds, the laboratory provides.

Numbers are from the kernel's management interface (doc/mgmt-api.txt of BlueZ) and the Core Specification, volume 3,
parts F (ATT) and G (GATT).
"""

import ctypes
import os
import select
import socket
import struct
import time

BTPROTO_L2CAP, BTPROTO_HCI, BTPROTO_RFCOMM = 0, 1, 3
ATT_CHANNEL = 4
LE_PUBLIC = 1
NO_INDEX, CONTROL_CHANNEL = 0xFFFF, 3

_libc = ctypes.CDLL("libc.so.6", use_errno=True)


def _call(function, descriptor, address):
    """A libc call that takes a socket address which Python's own does not know."""
    if function(descriptor, address, len(address)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def octets(address):
    """A Bluetooth address as it travels."""
    return bytes(reversed(bytes.fromhex(address.replace(":", ""))))


def written(address):
    """And as people write it."""
    return ":".join(f"{octet:02X}" for octet in reversed(address))


class Management:
    """The kernel's management interface."""

    READ_INDEX_LIST, READ_INFO, SET_POWERED, SET_LE, SET_PAIRABLE = 0x03, 0x04, 0x05, 0x0D, 0x09
    START_DISCOVERY, STOP_DISCOVERY, UNPAIR_DEVICE = 0x23, 0x24, 0x1B
    BONDABLE = 1 << 4
    DEVICE_FOUND, DISCOVERING = 0x12, 0x13
    LE, CLASSIC = 0x06, 0x01

    def __init__(self):
        self.socket = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW | socket.SOCK_CLOEXEC, BTPROTO_HCI)
        _call(_libc.bind, self.socket.fileno(), struct.pack("<HHH", socket.AF_BLUETOOTH, NO_INDEX, CONTROL_CHANNEL))
        self._events = []

    def close(self):
        """No more events."""
        self.socket.close()

    def event(self, timeout):
        """The next event: code, index and parameters; None at the time-out."""
        if self._events:
            return self._events.pop(0)
        return self._receive(timeout)

    def _receive(self, timeout):
        if not select.select([self.socket], [], [], max(0, timeout))[0]:
            return None
        packet = self.socket.recv(4096)
        code, index, length = struct.unpack_from("<HHH", packet)
        return code, index, packet[6:6 + length]

    def command(self, code, parameters=b"", index=NO_INDEX, timeout=10):
        """Status and answer of a command."""
        self.socket.send(struct.pack("<HHH", code, index, len(parameters)) + parameters)
        end = time.monotonic() + timeout
        while event := self._receive(end - time.monotonic()):
            kind, _, answer = event
            if kind in (1, 2) and struct.unpack_from("<H", answer)[0] == code:
                return answer[2], answer[3:]
            self._events.append(event)
        raise TimeoutError(f"management command {code:#06x}")

    def indexes(self):
        """Of the adapters."""
        _, answer = self.command(self.READ_INDEX_LIST)
        return sorted(struct.unpack_from(f"<{(len(answer) - 2) // 2}H", answer, 2))

    def address(self, index):
        """An adapter's address."""
        return written(self.command(self.READ_INFO, index=index)[1][:6])

    def settings(self, index):
        """An adapter's current settings, bits."""
        return struct.unpack_from("<I", self.command(self.READ_INFO, index=index)[1], 13)[0]

    def unpair(self, index, address):
        """Forgets a device's key, bluetoothd's as well, which is told."""
        return self.command(self.UNPAIR_DEVICE, octets(address) + b"\0\1", index)[0]

    def power(self, index, on=True):
        """Switches LE and the adapter on, or the adapter off."""
        if on:
            self.command(self.SET_LE, b"\1", index)
        return self.command(self.SET_POWERED, bytes([on]), index, timeout=20)[0]

    def scan(self, index, kinds, wanted, seconds):
        """Devices by (address, kind of address), with strength and name, until `wanted` names are heard."""
        status, _ = self.command(self.START_DISCOVERY, bytes([kinds]), index)
        if status:
            raise OSError(f"Start Discovery: status {status:#04x}")
        found = {}
        end = time.monotonic() + seconds
        while event := self.event(end - time.monotonic()):
            code, _, parameters = event
            if code == self.DEVICE_FOUND:
                key = written(parameters[:6]), parameters[6]
                strength = struct.unpack_from("<b", parameters, 7)[0]
                fields = advertised(parameters[14:])
                name = fields.get(9, fields.get(8, b"")).decode(errors="replace")
                found[key] = strength, name or found.get(key, (0, ""))[1]
                if wanted <= {name for _, name in found.values()}:
                    break
        self.command(self.STOP_DISCOVERY, bytes([kinds]), index)
        return found


def advertised(data):
    """The fields of advertising data by their type."""
    fields = {}
    while len(data) > 1 and 0 < data[0] < len(data):
        fields[data[1]] = data[2:1 + data[0]]
        data = data[1 + data[0]:]
    return fields


class ATT:
    """A client of a peripheral's attributes."""

    def __init__(self, adapter, peer, timeout=20):
        self.socket = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC, BTPROTO_L2CAP)
        _call(_libc.bind, self.socket.fileno(), self._address(adapter))
        self.socket.setblocking(False)
        try:
            _call(_libc.connect, self.socket.fileno(), self._address(peer))
        except BlockingIOError:
            pass
        if not select.select([], [self.socket], [], timeout)[1]:
            self.socket.close()
            raise TimeoutError(f"no link to {peer} within {timeout} s")
        if error := self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            raise OSError(error, os.strerror(error))
        self.notifications = []

    @staticmethod
    def _address(address):
        return struct.pack("<HH6sHBx", socket.AF_BLUETOOTH, 0, octets(address), ATT_CHANNEL, LE_PUBLIC)

    def close(self):
        """Ends the link."""
        self.socket.close()

    def receive(self, timeout=10):
        """The next packet."""
        if not select.select([self.socket], [], [], max(0, timeout))[0]:
            raise TimeoutError("no ATT packet")
        return self.socket.recv(1024)

    def request(self, packet):
        """The answer to a request; notifications that come before it are kept."""
        self.socket.send(packet)
        while True:
            answer = self.receive()
            if answer[0] == 0x1B:
                self.notifications.append(answer)
            elif answer[0] == 0x02:
                self.socket.send(b"\3" + struct.pack("<H", 23))
            else:
                return answer

    def characteristics(self):
        """The handles of all values, by the 16-bit UUID of the characteristic."""
        handles, start = {}, 1
        while start <= 0xFFFF:
            answer = self.request(b"\x08" + struct.pack("<HHH", start, 0xFFFF, 0x2803))
            if answer[0] != 0x09:
                break
            for place in range(2, len(answer), answer[1]):
                declaration, _, value = struct.unpack_from("<HBH", answer, place)
                identifier = answer[place + 5:place + answer[1]]
                handles[identifier[::-1].hex().upper()] = value
                start = declaration + 1
        return handles

    def subscribe(self, value):
        """Notifications on, at the first configuration descriptor behind a value."""
        answer = self.request(b"\x04" + struct.pack("<HH", value + 1, 0xFFFF))
        for place in range(2, len(answer), 4):
            if answer[place + 2:place + 4] == b"\x02\x29":
                handle = struct.unpack_from("<H", answer, place)[0]
                return self.request(b"\x12" + struct.pack("<HH", handle, 1))
        raise OSError("no configuration descriptor")

    def write(self, handle, value, with_response=False):
        """A write of either kind."""
        packet = struct.pack("<BH", 0x12 if with_response else 0x52, handle) + value
        return self.request(packet) if with_response else self.socket.send(packet)

    def notified(self, count, timeout=10):
        """What notifications carry until `count` octets are there."""
        data, end = b"", time.monotonic() + timeout
        while len(data) < count:
            packet = self.notifications.pop(0) if self.notifications else self.receive(end - time.monotonic())
            if packet[0] == 0x1B:
                data += packet[3:]
        return data


def serial_port(adapter, peer, channel, timeout=20):
    """A connected RFCOMM socket."""
    made = socket.socket(socket.AF_BLUETOOTH, socket.SOCK_STREAM | socket.SOCK_CLOEXEC, BTPROTO_RFCOMM)
    made.settimeout(timeout)
    made.bind((adapter, 0))
    made.connect((peer, channel))
    return made
