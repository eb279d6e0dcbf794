"""What checks work with: adapters, meters and the program."""

import glob
import json
import os
import subprocess

from adapter import Adapter, SerialAdapter
from gadget import fnb58
from harness import Failure, wait
from host import Host
from program import GuestMeterd
from usb_device import km003c, tc66c

# What an adapter is up to that is well.
SEARCHING = ("searching", "idle")


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
        if self.arguments["serial_adapter"]:
            self.adapter, self.second_adapter = SerialAdapter(), None
        else:
            self.adapter, self.second_adapter = (Adapter(number, self.host) for number in (0, 1))
        self.adapter_address = None
        self.bluetoothd = None
        self.descriptors_before = None
        self._program = None
        self.tc66c = tc66c(self.host)
        self.km003c = km003c(self.host)
        self.fnb58_plug = fnb58(self.host)
        # Made by the checks that want them.
        self.report_plugs = {}
        # Made by the first check that wants them.
        self.names = self.two_hosts = None
        self._after = []

    @property
    def program(self):
        """The meterd of all checks, started by the first that wants it."""
        if self._program is None:
            self._program = GuestMeterd(self.results, self.arguments["bin"])
        if not self._program.runs:
            self._program.start()
            self.adapter_searches(40)
            self.descriptors_before = self.descriptors_before or self._program.descriptors()
        return self._program

    def use(self, program):
        """Makes the checks with this one, until somebody makes room."""
        self.make_room()
        self._program = program

    def make_room(self):
        """Stops every meterd, for one that has to have the adapters to itself."""
        running = [self._program if self._program and self._program.runs else None, self.names, self.two_hosts]
        self.names = self.two_hosts = None
        for one in filter(None, running):
            try:
                one.stop()
            except Failure as failure:
                print(f"     {failure}", flush=True)

    def heard(self, identifier, over="ble"):
        """Waits until the program hears a meter over this kind of link."""
        return wait(f"{identifier} is heard over {over}",
                    lambda: over in (self.program.sighting(identifier) or {}).get("transports", ()), 60)

    def adapter_searches(self, seconds=60):
        """Waits until the program searches for meters with the first adapter, or is about to."""
        wait("the adapter searches",
             lambda: (self._program.adapter(self.adapter_address) or {}).get("state") in SEARCHING, seconds)

    def adapter_is_there(self):
        """Plugs the adapter where it is not plugged, and switches it on as a desktop would."""
        if not self.adapter.plugged:
            self.adapter.plug()

    @staticmethod
    def radio_switches():
        """The folders of Bluetooth's switches (rfkill)."""
        switches = []
        for folder in glob.glob("/sys/class/rfkill/rfkill*"):
            with open(os.path.join(folder, "type")) as file:
                if file.read().strip() == "bluetooth":
                    switches.append(folder)
        return switches

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
            try:
                self._after.pop()()
            except Exception as error:  # the check may have failed because meterd is gone
                print(f"     not undone: {error!r}", flush=True)

    def close(self):
        """Ends what runs beside the checks."""
        if self.bluetoothd:
            self.bluetoothd.stop()
        self.make_room()
        self._trace.terminate()
        self._trace.wait(10)
