"""What a broker and a meterd are run with: shared by the run with Mosquitto alone and the one with Home Assistant."""

import os
import signal
import socket
import subprocess
import threading
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
METER = "02:00:00:00:25:0C"
KEY = "02000000250c"
BASE = "metergateway"
SOON = 90
PASSWORD = "correct horse battery"


class Finding(Exception):
    """Something is not as it should be."""


def wait(what, ready, soon=SOON):
    """Until `ready` returns something; it is asked ten times a second."""
    end = time.monotonic() + soon
    while time.monotonic() < end:
        found = ready()
        if found:
            return found
        time.sleep(0.1)
    raise Finding(f"not within {soon} s: {what}")


def expect(what, holds):
    if not holds:
        raise Finding(what)


def say(text):
    print(f"{time.monotonic() - START:5.0f} s  {text}", flush=True)


START = time.monotonic()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Listener:
    """Keeps every message that mosquitto_sub hears."""

    def __init__(self, command):
        self.messages = []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
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

    def __init__(self, programs, folder):
        self.programs = programs
        self.folder = folder
        self.meterd = None
        self.broker = None
        self.listeners = []
        self.port = free_port()
        self.is_encrypted = False
        subprocess.run(["mosquitto_passwd", "-c", "-b", self.path("passwords"), "meterd", PASSWORD], check=True)
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

    def log(self, name="meterd"):
        with open(self.path(f"{name}.log"), encoding="utf-8", errors="replace") as log:
            return log.read()

    # The broker

    def start_broker(self):
        lines = [
            f"listener {self.port} 127.0.0.1", "allow_anonymous false", f"password_file {self.path('passwords')}",
            "persistence false", "log_type error", "log_type warning", "log_type notice"]
        if self.is_encrypted:
            lines += [f"certfile {self.path('broker.pem')}", f"keyfile {self.path('broker.key')}"]
        self.write("mosquitto.conf", "\n".join(lines) + "\n")
        with open(self.path("mosquitto.log"), "ab") as log:
            self.broker = subprocess.Popen(
                ["mosquitto", "-c", self.path("mosquitto.conf")], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        wait("Mosquitto answers", lambda: self.publish(f"{BASE}/probe", "x") == 0)

    def end_broker(self, number=signal.SIGKILL):
        self.broker.send_signal(number)
        self.broker.wait(30)

    def client(self, program):
        command = [program, "-h", "127.0.0.1", "-p", str(self.port), "-u", "meterd", "-P", PASSWORD, "-V", "5"]
        return command + (["--cafile", self.path("ca.pem")] if self.is_encrypted else [])

    def publish(self, topic, payload, *more):
        return subprocess.run(
            [*self.client("mosquitto_pub"), "-q", "1", "-t", topic, "-m", payload, *more], timeout=SOON,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode

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
        self.write("meterd.toml", "[web]\nserve = false\n[mqtt]\n" + "".join(
            f'{key} = "{value}"\n' for key, value in keys.items()))
        with open(self.path("meterd.log"), "wb") as log:
            self.meterd = subprocess.Popen(
                [self.program("meterd"), "--demo", "--config", self.path("meterd.toml"),
                 "--state-directory", self.path("state"), "--socket", self.path("control.sock")],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder)
        wait("meterd is ready", lambda: "meterd is ready" in self.log())

    def end_meterd(self, number=signal.SIGTERM):
        self.meterd.send_signal(number)
        code = self.meterd.wait(60)
        expect(f"meterd ended with {code}", code == (0 if number == signal.SIGTERM else -number))
        self.meterd = None

    def program(self, name):
        return os.path.join(self.programs, name)

    def meterctl(self, *arguments, host=""):
        return subprocess.run(
            [self.program("meterctl"), *arguments], check=True, capture_output=True, text=True, timeout=SOON,
            env={**os.environ, "METERD_SOCKET": self.path(f"control{host}.sock")}).stdout

    def stop(self):
        for process in (self.meterd, self.broker):
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()
        for listener in self.listeners:
            listener.stop()


def of_meter(name, key=KEY):
    return f"{BASE}/meter/{key}/{name}"


def config(key=KEY):
    return f"homeassistant/device/metergateway_{key}/config"
