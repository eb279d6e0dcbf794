"""Meters that speak in reports, as USB gadgets on the kernel's dummy controller. The interfaces of an FNB58 are storage (0), a
serial port (1, 2) and reports (3); a WITRN has reports alone. The kernel's Documentation/usb/gadget_configfs.rst has the folders.
"""

import collections
import glob
import os
import select
import threading
import time

from usb_device import REPORTS, identities

GADGETS = "/sys/kernel/config/usb_gadget"
LANGUAGE = "0x409"


def _write(path, value):
    with open(path, "wb") as file:
        file.write(value if isinstance(value, bytes) else value.encode())


class ReportGadget:
    """A gadget whose last interface carries the reports of a simulator; before it come those of a composite one."""

    def __init__(self, host, name, vendor, product, strings, model, arguments=(), others=("mass_storage.0", "acm.0")):
        self._host, self._model, self._arguments = host, model, arguments
        self._folder = os.path.join(GADGETS, name)
        self._storage = f"/tmp/{name}.img"
        self._others = others
        self._simulator = None
        self._outgoing = collections.deque()
        self.reports = collections.Counter()
        self._waker = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._make(vendor, product, strings)

    def _make(self, vendor, product, strings):
        folder = self._folder
        configuration = f"{folder}/configs/c.1"
        functions = (*self._others, "hid.0")
        for place in (f"{folder}/strings/{LANGUAGE}", f"{configuration}/strings/{LANGUAGE}",
                      *(f"{folder}/functions/{function}" for function in functions)):
            os.makedirs(place)
        _write(f"{folder}/idVendor", f"{vendor:#06x}")
        _write(f"{folder}/idProduct", f"{product:#06x}")
        for name, text in zip(("manufacturer", "product", "serialnumber"), strings):
            _write(f"{folder}/strings/{LANGUAGE}/{name}", text)
        if "mass_storage.0" in functions:
            with open(self._storage, "wb") as file:
                file.truncate(1 << 20)
            _write(f"{folder}/functions/mass_storage.0/lun.0/file", self._storage)
        for name, value in (("protocol", "0"), ("subclass", "0"), ("report_length", "64"), ("report_desc", REPORTS)):
            _write(f"{folder}/functions/hid.0/{name}", value)
        # In this order they get their numbers.
        for function in functions:
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
        # Not in /tmp, where a system may take no devices.
        node = f"/dev/{os.path.basename(self._folder)}.hidg"
        if os.path.exists(node):
            os.unlink(node)
        os.mknod(node, 0o600 | 0o020000, os.makedev(major, minor))
        reports = os.open(node, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        self._outgoing.clear()
        self.reports.clear()
        self._simulator, write = self._host.simulator(self._model, "hid", self._said, self._arguments)
        self._thread = threading.Thread(target=self._serve, args=(reports, write), daemon=True)
        self._thread.start()

    def pull(self):
        """From the socket."""
        if self._simulator is None:
            return
        number, self._simulator = self._simulator, None
        self._host.end_simulator(number)
        # The node is closed before: a newer kernel leaves those waiting who read from it, and they would get what the
        # device is sent when it is plugged again.
        os.eventfd_write(self._waker, 1)
        self._thread.join()
        _write(f"{self._folder}/UDC", "\n")

    def _said(self, message):
        self._outgoing.append(message)
        os.eventfd_write(self._waker, 1)

    def _serve(self, reports, write):
        """Reports both ways until it is pulled. A report goes out when the host has polled the one before."""
        while True:
            readable, writable, _ = select.select([reports, self._waker], [reports] if self._outgoing else [], [])
            if self._waker in readable:
                os.eventfd_read(self._waker)
            if self._simulator is None:
                break
            try:
                if reports in readable:
                    write(os.read(reports, 64))
                    self.reports["from the host"] += 1
                if reports in writable:
                    os.write(reports, self._outgoing[0].ljust(64, b"\0")[:64])
                    self._outgoing.popleft()
                    self.reports["to the host"] += 1
            except BlockingIOError:
                self.reports["try again"] += 1
            except OSError as error:
                self.reports[f"errno {error.errno}"] += 1
                # The host has taken the device's configuration away, and gives it another.
                time.sleep(0.1)
        os.close(reports)


def fnb58(host, serial="051772"):
    """An FNB58 at its plug."""
    vendor, product, *texts = identities.usb("FNB58")
    return ReportGadget(host, "fnb58", vendor, product, (*texts, serial), "fnb58", ("--seed", "23"))


def witrn_k2(host, serial="20230727"):
    """A WITRN K2 at its plug. Its serial number is a date, of its batch."""
    vendor, product, *texts = identities.usb("WITRN K2")
    return ReportGadget(host, "witrn_k2", vendor, product, (*texts, serial), "witrn-k2", ("--seed", "24"), others=())


def acd15p(host, serial="1"):
    """An Atorch ACD15P at its plug. Of its text only the name is published."""
    vendor, product, *_ = identities.usb("Atorch ACD15P")
    return ReportGadget(host, "acd15p", vendor, product, ("", "ACD15P", serial), "acd15p", ("--seed", "25"), others=())
