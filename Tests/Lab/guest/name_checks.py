"""What a stranger calls itself on the air never reaches a person, a broker or a spreadsheet as anything but text."""

import http.client
import json
import os
import re
import shutil
import unicodedata

from checks import Skip, check, provided
from harness import Failure, Program, run, spawn, wait
from program import GuestMeterd, States

STRANGER = "stranger"
CONFIGURATION = """host-name = "names"
[mqtt]
url = "mqtt://127.0.0.1"
interval = "1s"
"""
PAGE = "127.0.0.1", 8642
BROKER = "listener 1883 127.0.0.1\nallow_anonymous true\nuser root\npersistence false\n"

FORMULA = b"=cmd|' /C calc'!A0"
# In this order on the air; with the model that is heard from the name, None where only the services tell of a meter.
NAMES = {
    FORMULA: None,
    b"@SUM(1+1)*cmd|' /C calc'!A0": None,
    b"+1": None,
    b"-1": None,
    b"<img src=x onerror=alert(1)>": None,
    b'"},{"id":"x","name":"y': None,
    b"a\r\n2026 error all is lost": None,
    b"\x1b]0;owned\x07\x1b[2J\x1b[H": None,
    "\u009b31m\u202egpj.exe\u2066\u061c".encode(): None,
    "a\u3164\u034f\u00ad\u200d\ufe0fz".encode(): None,
    b"\xff\xfe\xc3\x28\xed\xa0\x80\xf0\x9f": None,
    "UM\u200b25\u202eC\u2060".encode(): "UM25C",
    b"UD18\x1b[2J\x1b]0;x\x07-BLE": "Atorch",
}
# Of the longest that the standard has, told over classic Bluetooth when it is asked for.
LONGEST = (b"\x1b[31m" + "\u202e".encode() + b"x" * 240)[:244] + b"-SPP"

# Unicode's categories of what cannot be seen or moves what can, and what has no width for other reasons.
INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
WITHOUT_WIDTH = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def hidden(text):
    """The characters of a text that no person sees."""
    return {character for character in text
            if unicodedata.category(character) in INVISIBLE or WITHOUT_WIDTH.match(character)}


def visible(octets):
    """A name as all may have it: without them. None where nothing is left."""
    text = octets.decode(errors="replace")
    return "".join(character for character in text if not hidden(character)).strip(" ") or None


def clean(what, text):
    """A Failure where a text for people holds more than what can be seen, and line ends."""
    if found := hidden(text.replace("\n", "")):
        raise Failure(f"{what} holds {', '.join(sorted(map(ascii, found)))}: {ascii(text[:300])}")
    return text


class Names:
    """The stranger, a meterd, and a broker with somebody who hears all of it, where there is one."""

    def __init__(self, bench):
        bench.make_room()
        self.bench = bench
        self.address = bench.meters[STRANGER]["address"]
        self.broker = self.listener = None
        self.heard = os.path.join(bench.results, "mqtt.txt")
        if shutil.which("mosquitto") and shutil.which("mosquitto_sub"):
            self._start_broker()
        self.program = GuestMeterd(bench.results, bench.arguments["bin"], "meterd-names", configuration=CONFIGURATION)
        self.program.start()

    def _start_broker(self):
        with open("/tmp/mosquitto.conf", "w") as file:
            file.write(BROKER)
        self.broker = Program("mosquitto", ["mosquitto", "-c", "/tmp/mosquitto.conf"], self.bench.results)
        self.broker.start()
        provided("a broker", lambda: run(
            ["mosquitto_pub", "-h", "127.0.0.1", "-t", "probe", "-m", "x"], check=False).status == 0, 30)
        with open(self.heard, "wb") as out:
            # A payload in hexadecimal: what it holds breaks no line.
            self.listener = spawn(
                ["mosquitto_sub", "-h", "127.0.0.1", "-t", "#", "-F", "%t\t%x"], stdout=out)

    def stop(self):
        """meterd, then the broker."""
        if self.program.runs:
            self.program.stop()
        if self.broker:
            self.listener.terminate()
            self.listener.wait(10)
            self.broker.stop(10)

    def call(self, octets):
        """Gives the stranger a name and waits until the program has heard it."""
        self.bench.set(STRANGER, on=True, name=octets.hex())
        name = visible(octets)

        def heard():
            entry = self.program.sighting(self.address)
            return entry if entry and entry["name"] == name else None
        return wait(
            lambda: f"it is called {ascii(name)}; the scan has {self.program.sighting(self.address)}", heard, 60)

    def messages(self):
        """Topics and payloads that the broker passed on."""
        with open(self.heard, errors="replace") as file:
            lines = [line.split("\t") for line in file.read().split("\n")[:-1]]
        return [(topic, bytes.fromhex(payload).decode()) for topic, payload in lines]


def names(bench):
    """All of it, made by the first check that wants it."""
    if bench.names is None:
        bench.names = Names(bench)
    return bench.names


def page(path):
    """An answer of the page's, which is to be JSON."""
    connection = http.client.HTTPConnection(*PAGE, timeout=20)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        if answer.status != 200:
            raise Failure(f"GET {path}: {answer.status}")
        return json.loads(answer.read().decode())
    finally:
        connection.close()


def listed(entries, identifier, name):
    """A Failure where a list of JSON does not name a meter exactly so."""
    entry = next(entry for entry in entries if entry["id"] == identifier)
    if entry["name"] != name:
        raise Failure(f"{ascii(entry['name'])} instead of {ascii(name)}")


@check("names")
def the_longest_name_is_text(bench):
    """248 octets, as classic Bluetooth has them. First of all: who has a name already is not asked for it."""
    all_of_it = names(bench)
    bench.after(bench.set, STRANGER, on=False)
    all_of_it.call(LONGEST)
    scan = all_of_it.program.must("scan", "--for", "0s")
    clean(scan.command, scan.out + scan.err)
    listed(json.loads(all_of_it.program.must("scan", "--for", "0s", "--json").out), all_of_it.address, visible(LONGEST))
    return f"{len(LONGEST)} octets, {len(visible(LONGEST))} characters of them are shown"


@check("names")
def hostile_names_are_text(bench):
    """In scan and status, tables and JSON, and in the page's answers: the name without what cannot be seen, no more."""
    all_of_it = names(bench)
    program, address = all_of_it.program, all_of_it.address
    bench.after(bench.set, STRANGER, on=False)
    for octets, model in NAMES.items():
        entry = all_of_it.call(octets)
        if model and model not in str(entry["model"]):
            raise Failure(f"{octets} is said to be {entry['model']}")
        runs = [program.begin(*words.split())
                for words in ("scan --for 0s", "status", "scan --for 0s --json", "status --json")]
        scan, status, scanned, told = (run.end() for run in runs)
        for said in (scan, status):
            clean(said.command, said.out + said.err)
            shown = visible(octets) or "–"
            if said.status or not any(address in line and shown in line for line in said.out.splitlines()):
                print(said.out, flush=True)
                raise Failure(f"{shown} is not in {said}")
        listed(json.loads(scanned.out), address, visible(octets))
        listed(json.loads(told.out)["meters"], address, visible(octets))
        for path in ("/v1/scan", "/v1/status"):
            answer = page(path)
            listed(answer["meters"] if path == "/v1/status" else answer, address, visible(octets))
    return f"{len(NAMES)} names"


@check("names")
def a_meter_with_a_hostile_name_is_read(bench):
    """It is a UM25C behind its name. No cell for a spreadsheet begins a formula: there is none with a text."""
    all_of_it = names(bench)
    program, address = all_of_it.program, all_of_it.address
    bench.after(bench.set, STRANGER, on=False)
    all_of_it.call(FORMULA)
    program.connect(address, "ble")
    bench.after(program.disconnect, address)
    States(program, address).until("data-available")
    recording = program.must("record", "start", address, "--json")
    identifier = json.loads(recording.out)["id"]
    watched = program.must("watch", address, "--csv", "--for", "4s")
    status = program.must("status", address)
    clean(status.command, status.out + status.err)
    listed(page("/v1/status")["meters"], address, FORMULA.decode())
    program.must("record", "stop", address)
    exported = program.must("record", "export", identifier, "--csv")
    cells = 0
    for said in (watched, exported):
        head, *lines = said.out.splitlines()
        if not lines:
            raise Failure(f"no reading: {said}")
        for line in lines:
            for key, cell in zip(head.split(","), line.split(","), strict=True):
                cells += 1
                if not re.fullmatch(r"\w+", key) or not re.fullmatch(r"[0-9T:.Z-]*|-?[0-9.]+(e-?[0-9]+)?", cell):
                    raise Failure(f"a cell of {key} is {cell!r}")
    return f"{program.meter(address)['model']}, {cells} cells"


@check("names")
def a_broker_hears_text(bench):
    """Topics have nothing of a name, and payloads nothing that cannot be seen."""
    all_of_it = names(bench)
    if all_of_it.broker is None:
        raise Skip("mosquitto is not installed")
    bench.after(bench.set, STRANGER, on=False)
    key = all_of_it.address.replace(":", "").lower()
    program = all_of_it.program
    all_of_it.call(FORMULA)
    program.connect(all_of_it.address, "ble")
    bench.after(program.disconnect, all_of_it.address)

    def announced():
        return [json.loads(payload) for topic, payload in all_of_it.messages()
                if payload and topic.startswith("homeassistant/") and key in topic]
    found = wait("the meter is announced", announced, 30)
    if (name := found[-1]["device"]["name"]) != FORMULA.decode():
        raise Failure(f"it is announced as {name!r}")
    messages = all_of_it.messages()
    for topic, payload in messages:
        if not re.fullmatch(r"[A-Za-z0-9_/-]+", topic):
            raise Failure(f"a topic is {topic!r}")
        clean(topic, payload)
    return f"{len(messages)} messages on {len({topic for topic, _ in messages})} topics"


@check("names")
def the_log_is_text(bench):
    """Of all that was heard, nothing in meterd's own log but what can be seen."""
    all_of_it = names(bench)
    all_of_it.stop()
    bench.names = None
    text = clean("the log", all_of_it.program.logged())
    forged = [line for line in text.splitlines() if not re.match(r"\d{4}-\d\d-\d\dT", line)]
    if forged:
        raise Failure(f"lines without a date: {forged[:3]}")
    return f"{len(text.splitlines())} lines, {'no ' if FORMULA.decode() not in text else ''}name among them"
