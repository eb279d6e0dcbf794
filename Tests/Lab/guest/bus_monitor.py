"""When reports crossed the bus, by the kernel's own stamps: usbmon's text (Documentation/usb/usbmon.rst). A check's own clock would say
when Python heard of them."""

import os
import select
import subprocess
import threading

from host import LaboratoryFault

TEXT = "/sys/kernel/debug/usb/usbmon/0u"
# It counts microseconds of the lowest 12 bits of a second's number (drivers/usb/mon/mon_text.c, mon_get_timestamp).
ROUND = 4096 * 1_000_000


class ReportsOut:
    """What the host sends to interrupt endpoints, as long as it is open."""

    def __init__(self):
        subprocess.run(["modprobe", "usbmon"], check=False)
        if not os.path.exists(TEXT):
            raise LaboratoryFault(f"there is no {TEXT}: usbmon, or debugfs")
        # By device: when its last report had gone; the pauses after one, in microseconds.
        self._ends = {}
        self._pauses = []
        self._text = os.open(TEXT, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._over = os.eventfd(0, os.EFD_CLOEXEC)
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def close(self):
        """It no longer listens."""
        os.eventfd_write(self._over, 1)
        self._thread.join()
        os.close(self._text)
        os.close(self._over)

    def shortest(self):
        """Milliseconds between a report that has gone and the next to the same device, and how many such pauses there were."""
        return min(self._pauses, default=0) / 1000, len(self._pauses)

    def _listen(self):
        # The kernel keeps some hundred lines for who is late, and drops what comes then: a pause that spans those counts as one.
        held = b""
        while self._over not in select.select([self._text, self._over], [], [])[0]:
            try:
                held += os.read(self._text, 65536)
            except BlockingIOError:
                continue
            *lines, held = held.split(b"\n")
            for line in lines:
                self._take(line.decode(errors="replace").split())

    def _take(self, words):
        if len(words) < 4 or not words[3].startswith("Io:"):
            return
        stamp, kind, device = int(words[1]), words[2], words[3]
        if kind == "S" and device in self._ends:
            self._pauses.append((stamp - self._ends[device]) % ROUND)
        elif kind == "C":
            self._ends[device] = stamp
