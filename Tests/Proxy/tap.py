"""A pass between a meterd and a proxy in plain text, which notes what the proxy says of its links."""

import socket
import threading
import time

# ESPHome's api.proto: BluetoothDeviceConnectionResponse { address = 1, connected = 2 }.
CONNECTION, IS_CONNECTED = 69, 0x10


def varint(data, at):
    value = shift = 0
    while at < len(data):
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at
    raise IndexError


class Tap:
    """One proxy's links over time: when its only meter's link came up, and when it was gone."""

    def __init__(self, port):
        self.proxy = port
        # Pairs of times; None while the link is up.
        self.links = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def held(self, until):
        return [(start, end or until) for start, end in self.links]

    @property
    def is_linked(self):
        return bool(self.links) and self.links[-1][1] is None

    def overlap(self, other):
        """For how long both proxies had a link at once, at the longest."""
        now = time.monotonic()
        return max([0] + [
            min(mine[1], its[1]) - max(mine[0], its[0]) for mine in self.held(now) for its in other.held(now)])

    def _note(self, is_linked):
        if is_linked and not self.is_linked:
            self.links.append((time.monotonic(), None))
        elif not is_linked and self.is_linked:
            self.links[-1] = (self.links[-1][0], time.monotonic())

    def _accept(self):
        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection(("127.0.0.1", self.proxy))
            threading.Thread(target=self._pump, args=(near, far), daemon=True).start()
            threading.Thread(target=self._pump, args=(far, near, self._read), daemon=True).start()

    def _pump(self, source, sink, look=lambda data: b""):
        rest = b""
        try:
            while data := source.recv(65536):
                rest = look(rest + data)
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        # Links end with their client.
        self._note(False)

    def _read(self, data):
        """Takes whole frames. Returns the rest."""
        while True:
            try:
                length, at = varint(data, 1)
                message, at = varint(data, at)
            except IndexError:
                return data
            if len(data) < at + length:
                return data
            if message == CONNECTION:
                # Behind the address, which is a varint.
                self._note(data[varint(data, at + 1)[1]:at + length][:2] == bytes([IS_CONNECTED, 1]))
            data = data[at + length:]
