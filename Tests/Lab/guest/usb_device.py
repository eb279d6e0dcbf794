"""USB devices of any identity: this process speaks USB/IP to the kernel's virtual host controller (vhci-hcd), no network
in between. Plugged and pulled, they come and go with real udev events.

The protocol is the kernel's Documentation/usb/usbip_protocol.rst; descriptors are of USB 2.0, chapter 9, and of the CDC
and HID class definitions.
"""

import os
import socket
import struct
import sys
import threading

from host import LaboratoryFault

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import identities  # noqa: E402 - one folder up, shared with the air

CONTROLLER = "/sys/devices/platform/vhci_hcd.0"
FULL_SPEED = 2
COMMAND_SUBMIT, COMMAND_UNLINK, ANSWER_SUBMIT, ANSWER_UNLINK = 1, 2, 3, 4
HEADER = 48
STALL, CONNECTION_RESET = -32, -104
BULK, INTERRUPT = 2, 3
# English, as almost every device has it.
LANGUAGES = b"\x04\x03\x09\x04"
# 64 octets in, 64 out, no report number, a vendor's page.
REPORTS = bytes.fromhex("0600ff 0901 a101 0902 1500 26ff00 7508 9540 8102 0903 1500 26ff00 7508 9540 9102 c0")

# The same of a real KM003C (okhsunrog/km003c-rs, history, wireshark/rust_simple_logger.16.pcapng at 53d7036).
KM003C_REPORTS = bytes.fromhex("0600ff 0901 a101 0902 1500 25ff 7508 9540 8102 0903 9102 c0")


def interface(number, endpoints, kind, subclass=0, protocol=0):
    """An interface descriptor."""
    return bytes([9, 4, number, 0, endpoints, kind, subclass, protocol, 0])


def endpoint(address, kind, size, interval=0):
    """An endpoint descriptor; 0x80 in the address is towards the host."""
    return struct.pack("<BBBBHB", 7, 5, address, kind, size, interval)


def serial_interfaces(first, interrupt, bulk):
    """A serial port of the communication device class: two interfaces."""
    association = bytes([8, 11, first, 2, 2, 2, 1, 0])
    functions = bytes([5, 0x24, 0, 0x10, 1, 5, 0x24, 1, 0, first + 1, 4, 0x24, 2, 2, 5, 0x24, 6, first, first + 1])
    return (association + interface(first, 1, 2, 2, 1) + functions + endpoint(0x80 | interrupt, INTERRUPT, 16, 10)
            + interface(first + 1, 2, 10) + endpoint(bulk, BULK, 64) + endpoint(0x80 | bulk, BULK, 64))


def report_interface(number, address):
    """A human interface device of 64-octet reports."""
    description = struct.pack("<BBHBBBH", 9, 0x21, 0x0111, 0, 1, 0x22, len(REPORTS))
    return (interface(number, 2, 3) + description + endpoint(0x80 | address, INTERRUPT, 64, 1)
            + endpoint(address, INTERRUPT, 64, 1))


class USBDevice:
    """One device. `heard(endpoint, data)` is called with what the host sends; `say` sends to the host."""

    def __init__(self, vendor, product, strings, body, interfaces, heard, kind=0xEF):
        # 0xEF, 2, 1: a device whose interfaces are associated.
        self._device = struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x0200, kind, 2, 1, 64, vendor, product, 0x0100, 1, 2, 3, 1)
        self._configuration = struct.pack("<BBHBBBBB", 9, 2, 9 + len(body), interfaces, 1, 0, 0x80, 50) + body
        self._strings = {number: self._string(text) for number, text in enumerate(strings, 1)}
        self._serve_with(heard)

    @classmethod
    def of_descriptors(cls, device, configuration, strings, heard):
        """A device by its descriptors as they were on a bus; strings by their number."""
        made = cls.__new__(cls)
        made._device, made._configuration, made._strings = device, configuration, strings
        made._serve_with(heard)
        return made

    def _serve_with(self, heard):
        self._heard = heard
        self.reports = REPORTS
        # Takes nothing, and says nothing.
        self.hangs = False
        self._halted = set()
        self._waiting = {}
        self._said = {}
        # Held from the choice of an answer until it is sent: answers of one endpoint keep their order.
        self._lock = threading.RLock()
        self._socket = None

    def plug(self):
        """The kernel sees it."""
        # What an earlier plugging left is of no use to this one.
        with self._lock:
            self._waiting.clear()
            self._said.clear()
            self._socket, kernel = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with open(f"{CONTROLLER}/attach", "w") as file:
            file.write(f"{self._free_port()} {kernel.fileno()} {0x10001} {FULL_SPEED}")
        kernel.close()
        threading.Thread(target=self._serve, daemon=True).start()

    def pull(self):
        """The kernel loses it."""
        with self._lock:
            connection, self._socket = self._socket, None
        try:
            if connection:
                connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the kernel was quicker

    def say(self, number, data):
        """Octets for the host, from the endpoint of this number."""
        with self._lock:
            # What was said at once ends with a packet that is not full.
            self._said.setdefault(number, []).append(data)
        self._flush(number)

    def halt(self, number):
        """The endpoint towards the host with this number signals a halt, until the host clears it."""
        with self._lock:
            for sequence, _ in self._waiting.pop(number, []):
                self._answer(sequence, STALL, b"", 0)
            self._halted.add(0x80 | number)

    @staticmethod
    def _free_port():
        with open(f"{CONTROLLER}/status") as file:
            for line in file.read().splitlines()[1:]:
                hub, port, status = line.split()[:3]
                # 4: nothing is attached (VDEV_ST_NULL).
                if hub == "hs" and int(status) == 4:
                    return int(port)
        raise LaboratoryFault("no free port at the virtual USB controller")

    def _serve(self):
        connection = self._socket
        try:
            while True:
                header = self._read(connection, HEADER)
                command, sequence, _, to_host, number = struct.unpack_from(">IIIII", header)
                if command == COMMAND_SUBMIT:
                    length, = struct.unpack_from(">I", header, 24)
                    data = self._read(connection, length) if not to_host else b""
                    self._submitted(sequence, to_host, number, length, header[40:48], data)
                elif command == COMMAND_UNLINK:
                    self._unlink(sequence, struct.unpack_from(">I", header, 20)[0])
        except (EOFError, OSError):
            pass
        connection.close()

    @staticmethod
    def _read(connection, count):
        data = b""
        while len(data) < count:
            more = connection.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def _submitted(self, sequence, to_host, number, length, setup, data):
        if number == 0:
            status, answer = self._control(setup)
            self._answer(sequence, status, answer if to_host else b"", len(answer) if to_host else length)
        elif self.hangs:
            with self._lock:
                self._waiting.setdefault(("out", number) if not to_host else number, []).append((sequence, length))
        elif to_host:
            with self._lock:
                if 0x80 | number in self._halted:
                    return self._answer(sequence, STALL, b"", 0)
                self._waiting.setdefault(number, []).append((sequence, length))
            self._flush(number)
        else:
            self._answer(sequence, 0, b"", length)
            self._heard(number, data)

    def _flush(self, number):
        with self._lock:
            while self._said.get(number) and self._waiting.get(number):
                sequence, length = self._waiting[number].pop(0)
                data, rest = self._said[number][0][:length], self._said[number][0][length:]
                # A transfer ends with a packet that is not full, or with the room that there is (USB 2.0, 5.8.3).
                self._said[number][:1] = [rest] if rest or data and len(data) == length and len(data) % 64 == 0 else []
                self._answer(sequence, 0, data, len(data))

    def _unlink(self, sequence, victim):
        status = 0
        with self._lock:
            for requests in self._waiting.values():
                for request in requests:
                    if request[0] == victim:
                        requests.remove(request)
                        status = CONNECTION_RESET
                        break
            self._send(struct.pack(">IIIIIi24x", ANSWER_UNLINK, sequence, 0, 0, 0, status))

    def _answer(self, sequence, status, data, length):
        self._send(struct.pack(">IIIIIiiiii8x", ANSWER_SUBMIT, sequence, 0, 0, 0, status, length, 0, 0, 0) + data)

    def _send(self, packet):
        with self._lock:
            connection = self._socket
            try:
                if connection:
                    connection.sendall(packet)
            except OSError:
                pass

    def _control(self, setup):
        """Status and answer of a request to endpoint 0."""
        kind, request, value, index, length = struct.unpack("<BBHHH", setup)
        if request == 6 and kind & 0x80:
            answer = {1: self._device, 2: self._configuration, 0x22: self.reports,
                      3: self._strings.get(value & 0xFF, LANGUAGES)}.get(value >> 8)
            return (STALL, b"") if answer is None else (0, answer[:length])
        # CLEAR_FEATURE(ENDPOINT_HALT) of an endpoint (9.4.1).
        if (kind, request, value) == (2, 1, 0):
            self._halted.discard(index & 0xFF)
        return 0, bytes(length) if kind & 0x80 else b""

    @staticmethod
    def _string(text):
        text = text.encode("utf-16le")
        return bytes([2 + len(text), 3]) + text


class PluggedMeter:
    """A meter behind a USB device, its inside one of the project's simulators."""

    def __init__(self, host, model, over, make, arguments=()):
        self._host = host
        self._model, self._over, self._arguments = model, over, arguments
        self.device = make(self)
        # The endpoint over which it was spoken to last.
        self._asked = self.device.talks[0]
        self._simulator = None

    def plug(self):
        """A meter that gets its supply starts anew."""
        self._simulator, self._write = self._host.simulator(self._model, self._over, self._said, self._arguments)
        self.device.plug()

    def pull(self):
        """From the socket."""
        if self._simulator is not None:
            self.device.pull()
            self._host.end_simulator(self._simulator)
            self._simulator = None

    def heard(self, number, data):
        """What the host sends to an endpoint that talks: it is answered where it asked."""
        if number in self.device.talks:
            self._asked = number
            self._write(data)

    def _said(self, message):
        self.device.say(self._asked, message)


def tc66c(host, serial="0042"):
    """A TC66C: a serial port and nothing else."""
    def make(meter):
        vendor, product, *texts = identities.usb("TC66, TC66C")
        # Nobody has published its product id: this one is of an example of GigaDevice's.
        device = USBDevice(vendor, product or 0x018A, (*texts, serial), serial_interfaces(0, 3, 1), 2, meter.heard)
        device.talks = (1,)
        return device
    return PluggedMeter(host, "tc66c", "serial", make, ("--seed", "21"))


def km003c(host, serial="007965"):
    """A KM003C: the vendor's own interface, a serial port, reports."""
    def make(meter):
        vendor, product, *texts = identities.usb("KM003C")
        configuration = bytes.fromhex(identities.row("usb", "KM003C")["config_descriptor_hex"])
        device = USBDevice(vendor, product, (*texts, serial), configuration[9:], configuration[4], meter.heard)
        device.reports = KM003C_REPORTS
        device.talks = (2, 1)
        return device
    return PluggedMeter(host, "km003c", "serial", make, ("--seed", "22"))
