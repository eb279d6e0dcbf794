"""Power as a part of tests: the marker `power` judges what a meter measures while a test runs.

    @pytest.mark.power("p99(current) < 40 mA", max_mean_mA=15)
    def test_it_sleeps(): ...

A broken limit fails the test. Where the readings do not tell, the test has an error instead, like one that did not run.
Results are properties in the JUnit file. The fixture `power` is the meter.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator, Iterator
from decimal import Decimal
from typing import Any

import pytest

from .errors import MeterError
from .host import Host, Meter
from .limits import Judgement, Measurement, describe

QUANTITIES = {
    "uA": "current", "mA": "current", "A": "current", "mV": "voltage", "V": "voltage", "mW": "power", "W": "power",
}  # fmt: skip

KEYWORD = re.compile(
    r"(?P<side>max|min)_(?:(?P<sum>energy|charge|duration)_(?P<sum_unit>\w+)|(?P<count>count)"
    r"|(?:(?P<function>mean|min|max|median|stddev|peak_to_peak|p\d+(?:_\d+)?)_)?(?P<unit>[umk]?[AVW]))"
)
Running = tuple[contextlib.ExitStack, Measurement]
RUNNING = pytest.StashKey[Running]()
UNDECIDED = pytest.StashKey[str]()


def limit(keyword: str, value: object) -> str:
    """Returns the limit that a keyword of the marker means: max_mean_mA=15 is mean(current) <= 15 mA."""
    found = KEYWORD.fullmatch(keyword)
    if not found or (found["unit"] and found["unit"] not in QUANTITIES):
        raise ValueError(f"{keyword} is no limit: max_mean_mA, min_V, max_p99_mA, max_energy_Wh, min_count …")
    if isinstance(value, bool) or not isinstance(value, int | float) or not Decimal(value).is_finite():
        raise ValueError(f"{keyword}={value!r} is no number: its unit is in the name")
    sign = "<=" if found["side"] == "max" else ">="
    unit = found["unit"] or found["sum_unit"] or ""
    if found["sum"] or found["count"]:
        measure = found["sum"] or found["count"]
    else:
        function = found["function"] or found["side"]
        function = "peak-to-peak" if function == "peak_to_peak" else function.replace("_", ".")
        measure = f"{function}({QUANTITIES[unit]})"
    return f"{measure} {sign} {Decimal(str(value)):f} {unit}".rstrip()


class Wanted:
    """Limits and options of a test's markers, nearest first."""

    def __init__(self, item: pytest.Item) -> None:
        self.limits: list[str] = []
        self.meter: str | None = None
        self.allow_gaps: float | None = None
        for mark in item.iter_markers("power"):
            options = dict(mark.kwargs)
            self.meter = self.meter or options.pop("meter", None)
            gaps = options.pop("allow_gaps", None)
            self.allow_gaps = gaps if self.allow_gaps is None else self.allow_gaps
            self.limits += [*mark.args, *(limit(keyword, value) for keyword, value in options.items())]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("power", "USB power meters")
    group.addoption("--power-meter", metavar="METER", help="The meter of tests that name none.")
    group.addoption("--power-socket", metavar="PATH", help="The control socket of meterd. Default: as meterctl.")
    group.addoption("--power-meterctl", metavar="PATH", help="The program meterctl. Default: the one on the PATH.")
    parser.addini("power_meter", "The meter of tests that name none, where --power-meter is not given.")
    parser.addini("power_allow_gaps", "Share of missing time that tests accept, in percent.")


def pytest_configure(config: pytest.Config) -> None:
    """Declares the marker."""
    words = "power(*limits, meter=None, allow_gaps=None, max_mean_mA=15, …): limits on what a meter measures meanwhile."
    config.addinivalue_line("markers", words)


def host_of(config: pytest.Config) -> Host:
    """Returns the host of the options."""
    return Host(config.getoption("--power-socket"), meterctl=config.getoption("--power-meterctl"))


def meter_of(config: pytest.Config, name: str | None = None) -> Meter:
    """Returns the meter of this name, or of the options. ValueError where there is none."""
    name = name or config.getoption("--power-meter") or config.getini("power_meter")
    if not name:
        raise ValueError("which meter? --power-meter METER, power_meter in the configuration, or meter= in the marker")
    return host_of(config).meter(name)


@pytest.fixture
def power(request: pytest.FixtureRequest) -> Meter:
    """Returns the meter, to watch, to command and to judge by hand."""
    mark = request.node.get_closest_marker("power")
    try:
        return meter_of(request.config, mark.kwargs.get("meter") if mark else None)
    except (ValueError, MeterError) as error:
        pytest.fail(f"power: {error}", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """Begins to measure, once the fixtures are ready. A problem here is an error of the test, no failure."""
    result = yield
    try:
        wanted = Wanted(item)
        if wanted.limits:
            gaps = wanted.allow_gaps
            if gaps is None and (text := item.config.getini("power_allow_gaps")):
                gaps = float(text)
            stack = contextlib.ExitStack()
            judging = meter_of(item.config, wanted.meter).judging(*wanted.limits, allow_gaps=gaps)
            item.stash[RUNNING] = (stack, stack.enter_context(judging))
    except (ValueError, MeterError) as error:
        pytest.fail(f"power: {error}", pytrace=False)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Ends the measurement with the test. A test that failed by itself keeps its own reason."""
    try:
        result = yield
    except BaseException:
        with contextlib.suppress(MeterError):
            _finish(item)
        raise
    try:
        judgement = _finish(item)
    except MeterError as error:
        item.stash[UNDECIDED] = f"power: {error}"
        return result
    if judgement and judgement["verdict"] != "kept":
        words = f"power of {judgement['subject']}: " + "; ".join(
            describe(one) for one in judgement["limits"] if one["verdict"] == judgement["verdict"]
        )
        if judgement["verdict"] == "broken":
            pytest.fail(words, pytrace=False)
        item.stash[UNDECIDED] = words
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    """Turns an undecided limit into an error of a test that passed by itself."""
    try:
        result = yield
    finally:
        if running := item.stash.get(RUNNING, None):
            running[0].close()
    if words := item.stash.get(UNDECIDED, None):
        pytest.fail(words, pytrace=False)
    return result


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Lists what was measured, also by other processes of pytest-xdist."""
    reports = [report for several in terminalreporter.stats.values() for report in several]
    calls = [report for report in reports if getattr(report, "when", None) == "call"]
    prefix = "power: "
    lines = [
        f"{report.nodeid}  {name.removeprefix(prefix)}: {value}"
        for report in sorted(calls, key=lambda report: str(report.nodeid))
        for name, value in report.user_properties
        if name.startswith(prefix)
    ]
    if lines:
        terminalreporter.section("power")
        for line in lines:
            terminalreporter.write_line(line)


def _finish(item: pytest.Item) -> Judgement | None:
    running = item.stash.get(RUNNING, None)
    if running is None:
        return None
    stack, measurement = running
    stack.close()
    judgement = measurement.judgement
    if judgement is not None:
        item.user_properties += list(properties(judgement))
    return judgement


def properties(judgement: Judgement) -> Iterator[tuple[str, str]]:
    """Yields the properties of a test in the JUnit file: each limit with verdict, value and base unit."""
    yield "power.meter", judgement["subject"]
    yield "power.readings", str(judgement["readings"])
    yield "power.duration_ms", str(judgement["duration_ms"])
    for result in judgement["limits"]:
        value = "unknown" if result["value"] is None else f"{result['value']:.9g} {result['unit'] or ''}".rstrip()
        yield f"power: {result['limit']}", f"{result['verdict']}, {value}"
