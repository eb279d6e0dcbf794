"""How a check is declared and chosen."""

import dataclasses
import sys
import time
from collections.abc import Callable

from host import LaboratoryFault


class Failure(Exception):
    """The program does not do what it should."""


class Skip(Exception):
    """Why a check cannot be made here."""


@dataclasses.dataclass
class Check:
    part: str
    name: str
    function: Callable
    # Made without being asked for.
    usual: bool = True


_all = []


def check(part, usual=True):
    """Declares a check, made only when asked for where it is not usual. Its name is the function's, its doc comment says what holds when it passes."""
    def declare(function):
        _all.append(Check(part, function.__name__.replace("_", " "), function, usual))
        return function
    return declare


def chosen(words):
    """The checks of these parts and names, or all; the control's always, for without it a failure says nothing."""
    known = {check.part for check in _all} | {check.name for check in _all}
    if unknown := [word for word in words if word not in known]:
        print(f"no part or check is called {unknown[0]!r}; there are {', '.join(sorted(known))}")
        sys.exit(1)
    return [check for check in _all
            if (check.usual and not words) or check.part in words or check.name in words or check.part == "control"]


def wait(what, condition, seconds, error=Failure):
    """Waits until `condition` returns something true, which is returned. `what` may be a function that says it."""
    end = time.monotonic() + seconds
    while True:
        if value := condition():
            return value
        if time.monotonic() >= end:
            raise error(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(0.1)


def provided(what, condition, seconds):
    """As `wait`, for what the laboratory itself owes."""
    return wait(what, condition, seconds, LaboratoryFault)
