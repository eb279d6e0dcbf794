"""meterd as its Debian package has installed it, under systemd."""

import os
import subprocess

from harness import Failure, wait
from program import GuestMeterd


def systemctl(*arguments):
    """What it says."""
    return subprocess.run(["systemctl", *arguments], capture_output=True, text=True, check=False).stdout.strip()


class InstalledMeterd(GuestMeterd):
    """The unit, with the settings, user and rules of the package."""

    UNIT = "meterd.service"

    def __init__(self, results):
        super().__init__(results, "/usr/bin")
        self.socket = "/run/meterd/control.sock"

    def start(self, seconds=60):
        """Until it serves."""
        if subprocess.run(["systemctl", "start", self.UNIT], check=False).returncode:
            raise Failure(f"{self.UNIT} does not start: {self.last_lines()}")
        wait("meterd serves", lambda: self.get("/v1/version"), seconds, retry=(OSError,))

    @property
    def runs(self):
        """Whether the unit is active."""
        return systemctl("is-active", self.UNIT) == "active"

    @property
    def pid(self):
        """Its process."""
        return int(systemctl("show", "--property=MainPID", "--value", self.UNIT))

    def stop(self, seconds=60, status=0):
        """A Failure when it did not end well."""
        subprocess.run(["systemctl", "stop", self.UNIT], check=False, timeout=seconds)
        if (result := systemctl("show", "--property=Result", "--value", self.UNIT)) != "success":
            raise Failure(f"{self.UNIT} ended with {result}: {self.last_lines()}")

    def _journal(self):
        return subprocess.run(["journalctl", "--quiet", "--output=cat", f"--unit={self.UNIT}"],
                              capture_output=True, text=True, errors="replace", check=False).stdout

    def last_lines(self, count=3):
        """The end of its journal."""
        return " / ".join(line.strip() for line in self._journal().splitlines()[-count:])

    def mark(self):
        """Where its journal ends now, for `logged`."""
        return len(self._journal())

    def logged(self, since=0):
        """Its journal from a mark on."""
        return self._journal()[since:]


def package_is_installed(name):
    """Its version; a Failure where it is not installed properly."""
    said = subprocess.run(["dpkg-query", "--show", "--showformat=${Status}\n${Version}", name],
                          capture_output=True, text=True, check=False).stdout.split("\n")
    if said[0] != "install ok installed":
        raise Failure(f"{name}: {said}; see install.log")
    return said[1]


def keep_journal(results):
    """Of all units, to be looked at."""
    with open(os.path.join(results, "journal.log"), "w") as file:
        subprocess.run(["journalctl", "--quiet", "--output=short-monotonic", "--no-pager"], stdout=file, check=False)
