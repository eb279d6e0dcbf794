"""Waiting until something holds, and failing where it does not."""

import time

# Seconds. A busy machine of two cores takes its time; how quick it is when quiet, make bench says.
SOON = 120


class Failure(Exception):
    """What was expected and did not happen."""


class Ended(Failure):
    """A program ended by itself: nothing is left to wait for."""


def expect(what, holds):
    """A Failure that says `what` unless it holds."""
    if not holds:
        raise Failure(what)


def wait(what, look, seconds=SOON, *, until=bool, retry=(), error=Failure, every=0.1):
    """Looks until what is seen is enough, and returns it; once at least. After so many seconds, an `error` that says
    what was waited for and what was seen last.

    - what: words, or a function that finds them when they are needed.
    - until: whether what `look` returned is enough; anything true unless told.
    - retry: exceptions of `look` after which it looks again. Ended is never one of them.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            seen = look()
            if until(seen):
                return seen
        except Ended:
            raise
        except retry as problem:
            seen = problem
        if time.monotonic() >= end:
            raise error(f"not within {seconds} s: {what() if callable(what) else what}{_in_words(seen)}")
        time.sleep(every)


def seconds_until(what, look, seconds=SOON, **options):
    """As `wait`; returns how long it took."""
    began = time.monotonic()
    wait(what, look, seconds, **options)
    return time.monotonic() - began


def _in_words(seen):
    """What was seen last, where it says more than that it was not there yet."""
    if seen is None or seen is False:
        return ""
    text = f"{type(seen).__name__}: {seen}" if isinstance(seen, Exception) else repr(seen)
    return f"; last seen: {text[:300]}"
