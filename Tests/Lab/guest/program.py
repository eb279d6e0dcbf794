"""meterd and meterctl, as a person and a service manager use them."""

import os
import re
import time

from harness import Meterd, wait

# Of nobody, who is in no group.
NOBODY = 65534
REFUSED, USAGE, HELD, TIMED_OUT, NO_PERMISSION = 1, 2, 4, 5, 6


class GuestMeterd(Meterd):
    """One meterd with a state folder of its own; its log is with the results."""

    def __init__(self, results, binaries, name="meterd", user=None, configuration=None, environment=None):
        self._user = user
        self.descriptors_at_start = None
        identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        super().__init__(
            binaries, f"/tmp/{name}", name, options=("--log-level", "debug"), configuration=configuration, logs=results,
            command_seconds=90, environment=environment, cwd="/",
            base={"PATH": os.environ["PATH"], "HOME": "/root", "NO_COLOR": "1"}, **identity)

    def start(self, seconds=60):
        """Until it serves."""
        os.makedirs(self.folder, exist_ok=True)
        if self._user is not None:
            os.chown(self.folder, self._user, self._user)
        super().start(seconds)
        self.descriptors_at_start = None

    def stop(self, seconds=25, status=0):
        """SIGTERM; the seconds that it took. A Failure when it does not end, or not with 0."""
        began = time.monotonic()
        super().stop(seconds, status)
        return time.monotonic() - began

    def descriptors(self):
        """What its open descriptors lead to."""
        folder = f"/proc/{self.pid}/fd"
        found = []
        for number in os.listdir(folder):
            try:
                found.append(os.readlink(os.path.join(folder, number)))
            except FileNotFoundError:
                pass
        return sorted(re.sub(r"\[\d+\]", "", path) for path in found)

    def processor_seconds(self):
        """CPU used so far."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    # MARK: what it says

    def connect(self, identifier, over=None, seconds=40):
        """What `meterctl connect` asks, without the time that starting it takes here."""
        body = {"wait_ms": seconds * 1000} | ({"over": over} if over else {})
        return self.call("POST", f"/v1/meters/{identifier}/connect", body, seconds + 20)

    def want(self, identifier, over=None):
        """What `meterctl connect --detach` asks."""
        return self.call("POST", f"/v1/meters/{identifier}/connect", {"over": over} if over else {})

    def disconnect(self, identifier):
        """What `meterctl disconnect` asks."""
        return self.call("POST", f"/v1/meters/{identifier}/disconnect")

    def meter(self, identifier):
        """A meter's status, None where there is none."""
        return next((meter for meter in self.get("/v1/status")["meters"] if meter["id"] == identifier), None)

    def state(self, identifier):
        """Its state."""
        meter = self.meter(identifier)
        return meter and meter["state"]

    def adapter(self, address):
        """An adapter's status."""
        return next((adapter for adapter in self.get("/v1/status")["adapters"] if adapter["address"] == address), None)

    def sighting(self, identifier):
        """An entry of the scan."""
        return next((entry for entry in self.get("/v1/scan") if entry["id"] == identifier), None)


class States:
    """The states that a meter goes through, as its status shows them."""

    def __init__(self, program, identifier):
        self._program = program
        self._identifier = identifier
        self.seen = []

    def look(self):
        """The state now, kept when it is another one."""
        state = self._program.state(self._identifier)
        if not self.seen or self.seen[-1] != state:
            self.seen.append(state)
        return state

    def until(self, *states, seconds=40):
        """Waits for one of these."""
        return wait(lambda: f"{self._identifier} {' or '.join(states)}; it was {', '.join(map(str, self.seen))}"
                            f" and says {(self._program.meter(self._identifier) or {}).get('error')}",
                    lambda: self.look() in states and self.seen[-1], seconds)
