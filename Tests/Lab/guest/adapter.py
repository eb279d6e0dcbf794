"""A Bluetooth adapter of this kernel, whose controller is on the other side of a port: of /dev/vhci, or behind the
machine's own serial port as a Raspberry Pi's is.
"""

import errno
import glob
import os
import select
import sys
import threading

from checks import provided
from host import LaboratoryFault, open_port

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "air"))
import h4  # noqa: E402

VENDOR = 0xFF
CREATE_PRIMARY = bytes([VENDOR, 0x00])


class Adapter:
    """Plugged and pulled like one at a USB port; its address stays."""

    def __init__(self, number, host):
        self.number = number
        self.index = None
        self._host = host
        self._port = open_port(f"hci{number}")
        self._vhci = None
        self._lock = threading.Lock()
        self.plugged = False
        threading.Thread(target=self._to_kernel, daemon=True).start()

    def plug(self):
        """Makes the device. Its index is the kernel's choice."""
        self._host.ask("adapter", index=self.number, plugged=True)
        vhci = os.open("/dev/vhci", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        os.write(vhci, CREATE_PRIMARY)
        made = threading.Event()
        self._waker = os.eventfd(0, os.EFD_CLOEXEC)
        self._vhci = vhci
        self._reader = threading.Thread(target=self._from_kernel, args=(vhci, self._waker, made), daemon=True)
        self._reader.start()
        if not made.wait(10):
            raise LaboratoryFault("the kernel makes no Bluetooth device")
        self.plugged = True
        return self.index

    def pull(self):
        """Takes the device away."""
        self.plugged = False
        with self._lock:
            self._vhci = None
        os.eventfd_write(self._waker, 1)
        self._reader.join()
        self._host.ask("adapter", index=self.number, plugged=False)

    def _from_kernel(self, vhci, waker, made):
        while True:
            readable, _, _ = select.select([vhci, waker], [], [])
            if waker in readable:
                break
            packet = os.read(vhci, 4096)
            # The answer about the new device may come after its first commands.
            if packet[0] == VENDOR:
                self.index = int.from_bytes(packet[2:4], "little")
                made.set()
            else:
                os.write(self._port, packet)
        os.close(vhci)
        os.close(waker)

    def _to_kernel(self):
        splitter = h4.Splitter()
        while data := os.read(self._port, 65536):
            for packet in splitter.feed(data):
                with self._lock:
                    if self._vhci is not None:
                        try:
                            os.write(self._vhci, packet)
                        except OSError as error:
                            # Switched off, it takes nothing, as a real one then has nothing to say.
                            if error.errno != errno.ENXIO:
                                print(f"laboratory: vhci: {error}", flush=True)


class SerialAdapter:
    """A chip at the serial port that the device tree names. Its driver is what plugs and pulls it: the power of the chip
    is a line that the driver has, which the air follows.
    """

    DRIVER = "/sys/bus/serial/drivers/hci_uart_bcm"
    # As a Pi's is called too (rsta2/circle#203).
    DEVICE = "serial0-0"

    def __init__(self):
        # The kernel makes it at the start, as a Pi's does.
        provided("the driver has made an adapter", self._made, 60)

    def _made(self):
        return glob.glob(f"{self.DRIVER}/{self.DEVICE}/bluetooth/hci*")

    @property
    def plugged(self):
        """Whether it is bound."""
        return bool(self._made())

    @property
    def index(self):
        """The N of hciN."""
        return int(os.path.basename(self._made()[0]).removeprefix("hci"))

    def plug(self):
        """Binds the driver where it is not bound. Its index."""
        if not self.plugged:
            self._write("bind")
        provided("the driver makes an adapter", self._made, 20)
        return self.index

    def pull(self):
        """Unbinds the driver."""
        self._write("unbind")

    def _write(self, file):
        with open(f"{self.DRIVER}/{file}", "w") as out:
            out.write(self.DEVICE)
