"""The guest's end of the ports to the machine around it."""

import glob
import json
import os
import threading


class LaboratoryFault(Exception):
    """The laboratory does not do what it should: no word about the program."""


def open_port(name):
    """A descriptor of the port `lab.NAME`."""
    for place in glob.glob("/sys/class/virtio-ports/*"):
        with open(os.path.join(place, "name")) as file:
            if file.read().strip() == f"lab.{name}":
                return os.open(os.path.join("/dev", os.path.basename(place)), os.O_RDWR | os.O_CLOEXEC)
    raise LaboratoryFault(f"no port lab.{name}")


class Host:
    """Asks the air for things, and carries what simulators of plugged meters say."""

    def __init__(self):
        self._port = open_port("control")
        self._lock = threading.Lock()
        self._answers = {}
        self._arrived = threading.Condition()
        self._next = 0
        self._simulators = {}
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, do, **given):
        """Has the air do something and returns what it answers."""
        with self._arrived:
            self._next += 1
            number = self._next
        self._send({"id": number, "do": do} | given)
        with self._arrived:
            if not self._arrived.wait_for(lambda: number in self._answers, timeout=20):
                raise LaboratoryFault(f"the air does not answer to {do} {given}")
            answer = self._answers.pop(number)
        if "error" in answer:
            raise LaboratoryFault(f"{do} {given}: {answer['error']}")
        return answer

    def simulator(self, model, over, said, arguments=()):
        """Starts a simulator whose messages go to `said`; returns the function that speaks to it, and its number."""
        with self._arrived:
            self._next += 1
            number = self._next
        self._simulators[number] = said
        self.ask("plug", simulator=number, model=model, over=over, arguments=list(arguments))
        return number, lambda message: self._send({"simulator": number, "hex": message.hex()})

    def end_simulator(self, number):
        """Nobody talks to it any more."""
        self._simulators.pop(number, None)
        self.ask("unplug", simulator=number)

    def _send(self, value):
        data = json.dumps(value).encode() + b"\n"
        with self._lock:
            while data:
                data = data[os.write(self._port, data):]

    def _listen(self):
        held = b""
        while data := os.read(self._port, 65536):
            *lines, held = (held + data).split(b"\n")
            for line in lines:
                value = json.loads(line)
                if "simulator" in value:
                    if said := self._simulators.get(value["simulator"]):
                        said(bytes.fromhex(value["hex"]))
                    continue
                with self._arrived:
                    self._answers[value["id"]] = value
                    self._arrived.notify_all()
