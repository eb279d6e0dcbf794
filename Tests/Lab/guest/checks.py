"""How a check is declared and chosen."""

import dataclasses
import sys
from collections.abc import Callable

from harness import wait
from host import LaboratoryFault


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


def provided(what, condition, seconds):
    """As `wait`, for what the laboratory itself owes."""
    return wait(what, condition, seconds, error=LaboratoryFault)
