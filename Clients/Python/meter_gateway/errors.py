"""Errors: each has a code for programs, what failed, and what to do next."""

from __future__ import annotations

from typing import ClassVar


class MeterError(Exception):
    """A failure of meterd, of the connection to it, or of a request.

    Its `code` is one of meterd's (Docs/meterd-openapi.yaml), or `unreachable`, `bad-answer`, `no-program`,
    `limit-broken` or `limit-undecided`.
    """

    codes: ClassVar[tuple[str, ...]] = ()

    def __init__(self, code: str, message: str, next: str) -> None:  # noqa: A002 - the name of the API
        super().__init__(code, message, next)
        self.code = code
        self.message = message
        self.next = next

    def __str__(self) -> str:
        return f"{self.message}\n{self.next}" if self.next else self.message

    @staticmethod
    def of(code: str, message: str, next: str) -> MeterError:  # noqa: A002
        """Returns the error of this code, of the class that stands for it."""
        kind = _kind(code)
        return kind(code, message, next)


class NoSuchMeter(MeterError):
    """No meter, or more than one, is called so."""

    codes = ("no-such-meter", "ambiguous-meter")


class NotFound(MeterError):
    """There is no such recording, mark, log or route."""

    codes = ("not-found",)


class BadRequest(MeterError):
    """What was asked for cannot be understood."""

    codes = ("bad-request", "model-unknown")


class Held(MeterError):
    """Another host has the meter; the message names it."""

    codes = ("held",)


class NotConnected(MeterError):
    """The meter is not connected."""

    codes = ("not-connected",)


class Refused(MeterError):
    """It cannot be done in this state."""

    codes = ("refused",)


class TimedOut(MeterError):
    """It took longer than was asked for."""

    codes = ("timed-out",)


class Forbidden(MeterError):
    """This user, or this token, may not do that."""

    codes = ("permission", "not-authenticated")


class Unreachable(MeterError):
    """Nobody answers, or the connection was lost."""

    codes = ("unreachable", "shutting-down")


class BadAnswer(MeterError):
    """An answer is not what the interface says."""

    codes = ("bad-answer",)


class NoProgram(MeterError):
    """The program meterctl, or what an extra brings, is not there."""

    codes = ("no-program",)


class LimitBroken(MeterError, AssertionError):
    """A limit is broken."""

    codes = ("limit-broken",)


class LimitUndecided(MeterError):
    """The readings do not tell whether a limit is kept: of a gap, or too few of them."""

    codes = ("limit-undecided",)


def _kind(code: str) -> type[MeterError]:
    """Returns the class that stands for a code; MeterError for a code that none has."""
    return next((kind for kind in MeterError.__subclasses__() if code in kind.codes), MeterError)
