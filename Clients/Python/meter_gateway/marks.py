"""Marks on a meter's timeline."""

from __future__ import annotations

from .api import MarkBody
from .errors import BadRequest, NotFound


def named(marks: list[MarkBody], name: str) -> MarkBody:
    """Returns the mark of this name, of several the n-th with NAME#n, or of this id."""
    found = [mark for mark in marks if mark["name"] == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadRequest("bad-request", f'{len(found)} marks are called "{name}"', f"say which: {name}#1, {name}#2 …")
    base, _, number = name.rpartition("#")
    same = [mark for mark in marks if mark["name"] == base]
    if number.isdecimal() and 1 <= int(number) <= len(same):
        return same[int(number) - 1]
    if identified := next((mark for mark in marks if mark["id"] == name), None):
        return identified
    raise NotFound("not-found", f'no mark is called "{name}"', "marks() lists them")


def between(first: MarkBody, last: MarkBody) -> tuple[str, str | None]:
    """Returns the time from the begin of one mark to the end of another, or of the same; None while it is open."""
    if first["id"] == last["id"] and first["from"] == first["to"]:
        words = f'"{first["name"]}" is a moment, but a stretch of time needs two ends'
        raise BadRequest("bad-request", words, "name a second mark, or a span")
    return first["from"], last["to"]
