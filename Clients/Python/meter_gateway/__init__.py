"""Reads, commands and judges USB power meters through meterd.

    from meter_gateway import Host

    bench = Host().meter("bench")
    for reading in bench.watch(seconds=10):
        print(reading["time"], reading.get("current_A"))

Unknown is None, never 0. Every failure is a MeterError, with a code, what failed, and what to do next.
"""

from .errors import (
    BadAnswer,
    BadRequest,
    Forbidden,
    Held,
    LimitBroken,
    LimitUndecided,
    MeterError,
    NoProgram,
    NoSuchMeter,
    NotConnected,
    NotFound,
    Refused,
    TimedOut,
    Unreachable,
)
from .host import Host, Meter, Recording, Watch
from .limits import Judgement, LimitResult, Measurement, require_kept
from .times import Moment

__version__ = "0.1.0"

__all__ = [
    "BadAnswer",
    "BadRequest",
    "Forbidden",
    "Held",
    "Host",
    "Judgement",
    "LimitBroken",
    "LimitResult",
    "LimitUndecided",
    "Measurement",
    "Meter",
    "MeterError",
    "Moment",
    "NoProgram",
    "NoSuchMeter",
    "NotConnected",
    "NotFound",
    "Recording",
    "Refused",
    "TimedOut",
    "Unreachable",
    "Watch",
    "require_kept",
]
