"""What `meterctl watch --json` writes: readings, one a line."""

import datetime
import json


def readings(text):
    """The readings in what it wrote to its output, all of it."""
    return [json.loads(line) for line in text.splitlines()]


def changes(values):
    """Each value that differs from the one before it."""
    return [value for place, value in enumerate(values) if place == 0 or values[place - 1] != value]


def widest_gap(times):
    """The longest time between two readings, in seconds."""
    moments = [datetime.datetime.fromisoformat(time.replace("Z", "+00:00")) for time in times]
    return max((later - earlier).total_seconds() for earlier, later in zip(moments, moments[1:]))
