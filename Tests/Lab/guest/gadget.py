"""The FNB58 as a USB gadget on the kernel's dummy controller: its interfaces are storage (0), a serial port (1, 2) and
reports (3). The kernel's Documentation/usb/gadget_configfs.rst has the folders.
"""

import glob
import os
import queue
import threading

from usb_device import REPORTS, identities

GADGETS = "/sys/kernel/config/usb_gadget"
LANGUAGE = "0x409"


def _write(path, value):
    with open(path, "wb") as file:
        file.write(value if isinstance(value, bytes) else value.encode())


class ReportGadget:
    """A composite gadget whose last interface carries the reports of a simulator."""

    def __init__(self, host, name, vendor, product, strings, model, arguments=()):
        self._host, self._model, self._arguments = host, model, arguments
        self._folder = os.path.join(GADGETS, name)
        self._storage = f"/tmp/{name}.img"
        self._simulator = None
        self._reports = None
        self._make(vendor, product, strings)

    def _make(self, vendor, product, strings):
        folder = self._folder
        configuration = f"{folder}/configs/c.1"
        for place in (f"{folder}/strings/{LANGUAGE}", f"{configuration}/strings/{LANGUAGE}",
                      f"{folder}/functions/mass_storage.0", f"{folder}/functions/acm.0", f"{folder}/functions/hid.0"):
            os.makedirs(place)
        _write(f"{folder}/idVendor", f"{vendor:#06x}")
        _write(f"{folder}/idProduct", f"{product:#06x}")
        for name, text in zip(("manufacturer", "product", "serialnumber"), strings):
            _write(f"{folder}/strings/{LANGUAGE}/{name}", text)
        with open(self._storage, "wb") as file:
            file.truncate(1 << 20)
        _write(f"{folder}/functions/mass_storage.0/lun.0/file", self._storage)
        for name, value in (("protocol", "0"), ("subclass", "0"), ("report_length", "64"), ("report_desc", REPORTS)):
            _write(f"{folder}/functions/hid.0/{name}", value)
        # In this order they get their numbers.
        for function in ("mass_storage.0", "acm.0", "hid.0"):
            os.symlink(f"{folder}/functions/{function}", f"{configuration}/{function}")

    def plug(self):
        """With a new simulator: it has just got its supply."""
        taken = set()
        for path in glob.glob(f"{GADGETS}/*/UDC"):
            with open(path) as file:
                taken.add(file.read().strip())
        free = next(os.path.basename(path) for path in sorted(glob.glob("/sys/class/udc/dummy_udc.*"))
                    if os.path.basename(path) not in taken)
        _write(f"{self._folder}/UDC", free)
        with open(f"{self._folder}/functions/hid.0/dev") as file:
            major, minor = map(int, file.read().split(":"))
        node = f"/tmp/{os.path.basename(self._folder)}.hidg"
        if os.path.exists(node):
            os.unlink(node)
        os.mknod(node, 0o600 | 0o020000, os.makedev(major, minor))
        self._reports = os.open(node, os.O_RDWR | os.O_CLOEXEC)
        self._simulator, write = self._host.simulator(self._model, "hid", self._said, self._arguments)
        self._outgoing = queue.Queue()
        threading.Thread(target=self._listen, args=(self._reports, write), daemon=True).start()
        threading.Thread(target=self._speak, args=(self._reports, self._outgoing), daemon=True).start()

    def pull(self):
        """From the socket."""
        if self._simulator is None:
            return
        number, self._simulator = self._simulator, None
        self._host.end_simulator(number)
        self._outgoing.put(None)
        _write(f"{self._folder}/UDC", "\n")

    @staticmethod
    def _listen(reports, write):
        try:
            while report := os.read(reports, 64):
                write(report)
        except OSError:
            pass
        os.close(reports)

    def _said(self, message):
        self._outgoing.put(message)

    @staticmethod
    def _speak(reports, outgoing):
        """A write waits until the host has polled the report before."""
        try:
            while message := outgoing.get():
                os.write(reports, message.ljust(64, b"\0")[:64])
        except OSError:
            pass


def fnb58(host, serial="051772"):
    """An FNB58 at its plug."""
    vendor, product, *texts = identities.usb("FNB58")
    return ReportGadget(host, "fnb58", vendor, product, (*texts, serial), "fnb58", ("--seed", "23"))
