"""A meter in labgrid 26: name this module under `imports` of the environment.

    imports: [meter_gateway.labgrid]
    targets:
      main:
        resources:
          MeterGatewayMeter: {meter: bench}
        drivers:
          MeterGatewayDriver: {}

The driver connects the meter when it is activated, and lets go of it afterwards, unless it was connected before.
"""

from __future__ import annotations

import abc
import contextlib
import csv
import statistics
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict

import attr
import labgrid.protocol
from labgrid.driver import Driver
from labgrid.factory import target_factory
from labgrid.resource import Resource
from labgrid.step import step

from .api import ReadingLine, StretchBody
from .errors import BadRequest, Refused
from .host import Host, Meter
from .limits import Judgement

KEYS = {"current": "current_A", "voltage": "voltage_V", "power": "power_W"}


class Spread(TypedDict):
    """How a quantity is spread, in base units. The mean is over time, the deviation of the readings."""

    avg: float | None
    std: float | None
    min: float | None
    max: float | None


class Statistics(TypedDict):
    """The last seconds, and what meterd has counted so far; None where it is unknown."""

    current: Spread
    voltage: Spread
    power: Spread
    charge_C: float | None
    energy_J: float | None


class Accumulated(TypedDict):
    """What came together from start to stop, and for how much of that time nothing was measured."""

    charge_C: float | None
    energy_J: float | None
    duration_s: float
    unmeasured_s: float


class _OwnProtocol(abc.ABC):
    """Energy analysers: what they measure now, what comes together in a time, and all of it as a file."""

    @abc.abstractmethod
    def get_statistics(self) -> Statistics:
        """Return current, voltage and power of the last seconds, with charge and energy so far."""

    @abc.abstractmethod
    def start(self) -> None:
        """Begin to add up charge and energy."""

    @abc.abstractmethod
    def stop(self) -> Accumulated:
        """Return charge and energy since the start."""

    @abc.abstractmethod
    def capture(
        self,
        filename: str | PathLike[str],
        signals: Sequence[str] | None = None,
        duration: float | None = None,
        frequency: float | None = None,
    ) -> None:
        """Write the readings of some seconds into a file."""


# labgrid's pull request 1920 has a protocol of this name and these methods. Once it is there, the driver has that one.
EnergyAnalyzerProtocol: Any = getattr(
    labgrid.protocol, "EnergyAnalyzerProtocol", type("EnergyAnalyzerProtocol", (_OwnProtocol,), {})
)


def spread(stretch: StretchBody, readings: Iterable[ReadingLine], key: str) -> Spread:
    """Returns how a quantity is spread over a stretch and its readings; None in all of it where none has it."""
    values = [value for line in readings if (value := _number(line, key)) is not None]
    found = stretch["quantities"].get(key)
    if found is None or not values:
        return {"avg": None, "std": None, "min": None, "max": None}
    return {"avg": found["mean"], "std": statistics.pstdev(values), "min": found["min"], "max": found["max"]}


def _number(line: ReadingLine, key: str) -> float | None:
    value = line.get(key)
    return float(value) if isinstance(value, int | float) else None


@target_factory.reg_resource
@attr.s(eq=False)
class MeterGatewayMeter(Resource):
    """A meter of a host that runs meterd.

    Args:
        meter (str): its id, MAC address or name
        socket (str): the control socket of this machine's meterd; without it the one that meterctl would use
        url (str): instead, where the page of another host's meterd is
        token_file (str): a file with the token of `meterctl web enable`, with a URL
        meterctl (str): the program that judges limits; without it the one on the PATH

    """

    meter: str = attr.ib(validator=attr.validators.instance_of(str))
    socket: str | None = attr.ib(default=None)
    url: str | None = attr.ib(default=None)
    token_file: str | None = attr.ib(default=None)
    meterctl: str | None = attr.ib(default=None)

    def open(self) -> Meter:
        """Return the meter. Asks nobody yet."""
        token = Path(self.token_file).read_text(encoding="utf-8").strip() if self.token_file else None
        return Host(self.socket, url=self.url, token=token, meterctl=self.meterctl).meter(self.meter)


@target_factory.reg_driver
@attr.s(eq=False)
class MeterGatewayDriver(Driver, EnergyAnalyzerProtocol):
    """Measures what a target draws.

    Args:
        takeover (bool): take the meter from the host that has it
        queue (float): instead, wait in line for it, in seconds
        wait (float): seconds to wait for data
        seconds (float): of which get_statistics() tells

    """

    bindings = {"resource": {MeterGatewayMeter}}  # noqa: RUF012 - as labgrid has it
    takeover: bool = attr.ib(default=False, validator=attr.validators.instance_of(bool))
    queue: float | None = attr.ib(default=None)
    wait: float = attr.ib(default=30.0, converter=float)
    seconds: float = attr.ib(default=10.0, converter=float)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self._stack = contextlib.ExitStack()
        self._started: float | None = None
        self.meter: Meter = self.resource.open()

    def on_activate(self) -> None:
        """Connect the meter."""
        meter = self.resource.open()
        self.meter = self._stack.enter_context(meter.hold(self.wait, takeover=self.takeover, queue=self.queue))

    def on_deactivate(self) -> None:
        """Let go of it, unless it was connected before."""
        self._started = None
        self._stack.close()

    @Driver.check_active
    @step(result=True)
    def get_statistics(self) -> Statistics:
        """Return what this host has stored of the last seconds, and meterd's totals."""
        now = datetime.now(UTC)
        span = (now - timedelta(seconds=self.seconds), now)
        stretch, readings = self.meter.stretch(*span), list(self.meter.export(*span))
        counted = self.meter.status().get("counted")
        charge = counted["charge_mAh"] if counted else None
        energy = counted["energy_Wh"] if counted else None
        return {
            "current": spread(stretch, readings, KEYS["current"]),
            "voltage": spread(stretch, readings, KEYS["voltage"]),
            "power": spread(stretch, readings, KEYS["power"]),
            "charge_C": None if charge is None else charge * 3.6,
            "energy_J": None if energy is None else energy * 3600,
        }

    @Driver.check_active
    @step()
    def start(self) -> None:
        """Begin to add up charge and energy."""
        self._started = time.monotonic()

    @Driver.check_active
    @step(result=True)
    def stop(self) -> Accumulated:
        """Return charge and energy since the start, as this host has stored them."""
        if self._started is None:
            raise Refused("refused", f"{self.meter.name} is not added up", "call start() first")
        seconds = time.monotonic() - self._started
        self._started = None
        found = self.meter.stretch(timedelta(seconds=seconds))
        charge, energy = found.get("charge_mAh"), found.get("energy_Wh")
        return {
            "charge_C": None if charge is None else charge * 3.6,
            "energy_J": None if energy is None else energy * 3600,
            "duration_s": seconds,
            "unmeasured_s": max(0.0, seconds - (found["duration_ms"] - found["gap_ms"]) / 1000),
        }

    @Driver.check_active
    @step(args=["filename", "duration"])
    def capture(
        self,
        filename: str | PathLike[str],
        signals: Sequence[str] | None = None,
        duration: float | None = None,
        frequency: float | None = None,
    ) -> None:
        """Write the readings of some seconds as CSV, every one of them; what is unknown is an empty field.

        Args:
            filename: is overwritten.
            signals: of current, voltage and power, all unless told.
            duration: in seconds; needed.
            frequency: sets the meter's setting `rate` first, which stays.

        """
        names = list(KEYS) if signals is None else list(signals)
        if duration is None or not set(names) <= set(KEYS):
            raise BadRequest(
                "bad-request", f"{duration} s of {names}", f"give a duration, and some of {', '.join(KEYS)}"
            )
        if frequency is not None:
            self.meter.set({"rate": round(frequency)})
        with open(filename, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["time", *(KEYS[name] for name in names)])
            for reading in self.meter.watch(duration, every_sample=True):
                writer.writerow([reading["time"], *(_number(reading, KEYS[name]) for name in names)])

    @Driver.check_active
    @step(args=["limits", "duration"])
    def assert_limits(self, limits: Sequence[str], duration: float, allow_gaps: float | None = None) -> Judgement:
        """Measure for some seconds. LimitBroken or LimitUndecided where a limit is not kept."""
        return self.meter.assert_(*limits, seconds=duration, allow_gaps=allow_gaps)
