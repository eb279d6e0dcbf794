"""What checks work with: adapters, meters, and later the program."""

import json
import os
import subprocess

from adapter import Adapter
from gadget import fnb58
from host import Host
from usb_device import km003c, tc66c


class Bench:
    """Everything on the bench. `tidy` undoes what a check left."""

    def __init__(self, results):
        self.results = results
        with open(os.path.join(results, "arguments.json")) as file:
            self.arguments = json.load(file)
        self.host = Host()
        self.meters = self.host.ask("meters")["meters"]
        self._trace = subprocess.Popen(["btmon", "-w", os.path.join(results, "hci.btsnoop")],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.adapter = Adapter(0, self.host)
        self.tc66c = tc66c(self.host)
        self.km003c = km003c(self.host)
        self.fnb58_plug = fnb58(self.host)
        self._after = []

    def after(self, function, *arguments, **named):
        """Has something undone after the check."""
        self._after.append(lambda: function(*arguments, **named))

    def set(self, meter, until_tidy=None, **values):
        """Switches a meter's radio or faults."""
        self.host.ask("set", meter=meter, **values)
        if until_tidy:
            self.after(self.set, meter, **until_tidy)

    def tidy(self):
        """In the opposite order."""
        while self._after:
            self._after.pop()()

    def close(self):
        """Ends what runs beside the checks."""
        self._trace.terminate()
        self._trace.wait(10)
