"""Moments as the interface takes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from .errors import BadAnswer, BadRequest

Moment = datetime | timedelta | int | str
"""A datetime (local without a zone), a timedelta (so long ago), milliseconds since 1970, or RFC 3339."""


def rfc3339(moment: Moment | None) -> str | None:
    """Returns a moment as text, in UTC with milliseconds; None for None."""
    if moment is None:
        return None
    try:
        if isinstance(moment, str):
            moment = datetime.fromisoformat(moment)
        elif isinstance(moment, int):
            moment = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=moment)
        elif isinstance(moment, timedelta):
            moment = datetime.now(UTC) - moment
        return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError) as error:
        raise BadRequest("bad-request", f"{moment!r} is no time", "2026-11-29T14:00:00Z, or a datetime") from error


def moment_of(text: str) -> datetime:
    """Returns a time of the interface."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadAnswer(
            "bad-answer", f"{text[:80]!r} is no time", "use the package of the version that meterd has"
        ) from error
