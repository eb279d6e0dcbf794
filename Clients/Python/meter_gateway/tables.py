"""Readings as a pandas frame or an Arrow table; each needs the extra of its name.

A value that is unknown is null in Arrow and NaN in pandas, never 0.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .api import ReadingBody, ReadingLine
from .errors import NoProgram
from .times import moment_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

NUMBERS = frozenset(ReadingBody.__annotations__)
# Objects, of which a column makes no sense.
LEFT_OUT = frozenset({"told", "least", "greatest"})


@contextlib.contextmanager
def _extra(name: str) -> Iterator[None]:
    """Says how to install what an extra brings."""
    try:
        yield
    except ImportError as error:
        raise NoProgram("no-program", str(error), f"pip install 'meter-gateway[{name}]'") from error


def columns(readings: Iterable[ReadingLine]) -> dict[str, list[Any]]:
    """Returns the values by key, all lists of one length, in the order in which the keys came up."""
    table: dict[str, list[Any]] = {"time": []}
    for count, reading in enumerate(readings):
        for key, value in reading.items():
            if key not in LEFT_OUT:
                table.setdefault(key, [None] * count).append(moment_of(reading["time"]) if key == "time" else value)
        for values in table.values():
            if len(values) == count:
                values.append(None)
    return table


def to_pandas(readings: Iterable[ReadingLine]) -> pd.DataFrame:
    """Returns a frame with the time in UTC as its index, and a column for each quantity."""
    with _extra("pandas"):
        import pandas as pd  # noqa: PLC0415

    table = columns(readings)
    times = pd.DatetimeIndex(table.pop("time"), name="time", tz="UTC")
    series = {
        key: pd.Series(values, index=times, dtype="float64" if key in NUMBERS else "object")
        for key, values in table.items()
    }
    return pd.DataFrame(series, index=times)


def to_arrow(readings: Iterable[ReadingLine]) -> pa.Table:
    """Returns a table with a column for the time, and one for each quantity."""
    with _extra("arrow"):
        import pyarrow as pa  # noqa: PLC0415

    table = columns(readings)
    arrays = {key: pa.array(values, pa.float64() if key in NUMBERS else None) for key, values in table.items()}
    arrays["time"] = pa.array(table["time"], pa.timestamp("ms", tz="UTC"))
    return pa.table(arrays)
