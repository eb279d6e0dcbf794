"""What a broker and a meterd are run with: shared by the run with Mosquitto alone and the one with Home Assistant."""

import functools
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Support"))
import harness  # noqa: E402
from harness import Demo, Program, expect, free_ports, run, spawn  # noqa: E402

KEY = "02000000250c"
BASE = "metergateway"
SOON = 90
PASSWORD = "correct horse battery"

wait = functools.partial(harness.wait, seconds=SOON)


def say(text):
    print(f"{time.monotonic() - START:5.0f} s  {text}", flush=True)


START = time.monotonic()


class Listener:
    """Keeps every message that mosquitto_sub hears."""

    def __init__(self, command):
        self.messages = []
        self.process = spawn(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            topic, retained, payload = line.rstrip("\n").split("\t", 2)
            self.messages.append((topic, retained == "1", payload))

    def of(self, topic, since=0):
        return [payload for found, _, payload in self.messages[since:] if found == topic]

    def last(self, topic, since=0):
        found = self.of(topic, since)
        return found[-1] if found else None

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.thread.join(10)


class Bench:
    """The programs, and what they are asked."""

    def __init__(self, binaries, folder):
        self.folder = folder
        self.meterd = Demo(binaries, folder, command_seconds=SOON, cwd=folder)
        self.broker = Program("mosquitto", ["mosquitto", "-c", self.path("mosquitto.conf")], folder)
        self.listeners = []
        self.port = free_ports(1)[0]
        self.is_encrypted = False
        run(["mosquitto_passwd", "-c", "-b", self.path("passwords"), "meterd", PASSWORD])
        # Started as root, Mosquitto reads as a user of its own.
        os.chmod(self.folder, 0o755)
        os.chmod(self.path("passwords"), 0o644)
        self.write("credentials", f"meterd\n{PASSWORD}\n", 0o600)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)

    # The broker

    def start_broker(self):
        lines = [
            f"listener {self.port} 127.0.0.1", "allow_anonymous false", f"password_file {self.path('passwords')}",
            "persistence false", "log_type error", "log_type warning", "log_type notice"]
        if self.is_encrypted:
            lines += [f"certfile {self.path('broker.pem')}", f"keyfile {self.path('broker.key')}"]
        self.write("mosquitto.conf", "\n".join(lines) + "\n")
        self.broker.start()
        wait("Mosquitto answers", lambda: self.publish(f"{BASE}/probe", "x") == 0)

    def client(self, program):
        command = [program, "-h", "127.0.0.1", "-p", str(self.port), "-u", "meterd", "-P", PASSWORD, "-V", "5"]
        return command + (["--cafile", self.path("ca.pem")] if self.is_encrypted else [])

    def publish(self, topic, payload, *more):
        return run(
            [*self.client("mosquitto_pub"), "-q", "1", "-t", topic, "-m", payload, *more], SOON, check=False).status

    def listen(self):
        listener = Listener([*self.client("mosquitto_sub"), "-q", "1", "-F", "%t\t%r\t%p", "-t", "#"])
        self.listeners.append(listener)
        return listener

    # meterd

    def start_meterd(self, **changes):
        scheme = "mqtts" if self.is_encrypted else "mqtt"
        keys = {"url": f"{scheme}://127.0.0.1:{self.port}", "credentials-file": self.path("credentials"),
                "interval": "1s"}
        if self.is_encrypted:
            keys["ca-file"] = self.path("ca.pem")
        keys.update(changes)
        self.meterd.configuration = "[web]\nserve = false\n[mqtt]\n" + "".join(
            f'{key} = "{value}"\n' for key, value in keys.items())
        self.meterd.start(SOON)
        self.meterd.wait_for("meterd is ready", SOON)

    def end_meterd(self):
        self.meterd.stop(60, status=0)

    def kill_meterd(self):
        expect("meterd had ended", self.meterd.kill() == -signal.SIGKILL)

    def stop(self):
        for program in (self.meterd, self.broker):
            program.kill()
        for listener in self.listeners:
            listener.stop()


def of_meter(name, key=KEY):
    return f"{BASE}/meter/{key}/{name}"


def config(key=KEY):
    return f"homeassistant/device/metergateway_{key}/config"
