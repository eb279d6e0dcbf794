"""A meter of known current, judged as numpy judges its exported data."""

import random
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from conftest import STEP, Board

from meter_gateway import Host, LimitBroken, LimitUndecided, Meter, tables

# A busy machine may delay lines; that is not what these tests are about.
GAPS = 50
# Of each shape: ten thousand and more in all.
COUNT = 3500
PER_CALL = 500


def noise() -> Callable[[int], float]:
    rng = random.Random(8)
    values = [round(abs(rng.gauss(0.8, 0.2)), 5) for _ in range(500)]
    return lambda index: values[index % len(values)]


SHAPES: dict[str, Callable[[int], float]] = {
    "step": lambda index: 0.5 if index % 100 < 50 else 1.5,
    "pulses": lambda index: 1.2 if index % 10 < 2 else 0.015,
    "noise": noise(),
}


@pytest.fixture(scope="module", params=SHAPES)
def recorded(
    request: pytest.FixtureRequest, make_meter: Callable[..., tuple[Meter, Board]]
) -> Iterator[tuple[Host, str, str]]:
    """Six seconds of a shape, as a recording."""
    name = str(request.param)
    meter, board = make_meter(name, SHAPES[name])
    with meter.record(f"known {name}"):
        time.sleep(6)
    board.is_silent = True
    yield meter.host, f"known {name}", name


def test_judges_as_numpy_judges_the_exported_data(recorded: tuple[Host, str, str]) -> None:
    host, recording, name = recorded
    frame = tables.to_pandas(host.recording_readings(recording))
    currents = frame["current_A"].to_numpy()
    body = host.recording(recording)
    # The first value holds from the begin on, and the last until the end.
    times = frame.index.insert(0, pd.Timestamp(body["started"])).insert(len(frame) + 1, pd.Timestamp(body["until"]))
    seconds = (times - times[0]).total_seconds().to_numpy()
    assert len(currents) > 0.5 * 6 / STEP
    # What was printed is what was stored.
    assert set(np.round(currents, 5)) <= {SHAPES[name](index) for index in range(500)}
    areas = {key: np.trapezoid(np.pad(frame[key].to_numpy(), 1, "edge"), seconds) for key in ("current_A", "power_W")}
    truths = {
        "mean(current)": (areas["current_A"] / seconds[-1], "A"),
        "max(current)": (np.max(currents), "A"),
        "min(current)": (np.min(currents), "A"),
        "peak-to-peak(current)": (np.ptp(currents), "A"),
        "median(current)": (np.percentile(currents, 50), "A"),
        "stddev(current)": (np.std(currents), "A"),
        "p90(current)": (np.percentile(currents, 90), "A"),
        "energy": (areas["power_W"] / 3600, "Wh"),
        "charge": (areas["current_A"] / 3.6, "mAh"),
    }
    rng = random.Random(name)
    seen: set[str] = set()
    for _ in range(0, COUNT, PER_CALL):
        limits, kept = [], []
        for _ in range(PER_CALL):
            measure, (truth, unit) = rng.choice(list(truths.items()))
            bound = float(f"{truth + rng.choice([-1, 1]) * max(abs(truth), 1e-3) * 10 ** rng.uniform(-7, -1):.12f}")
            sign = rng.choice("<>")
            limits.append(f"{measure} {sign} {bound:.12f} {unit}")
            kept.append(bool(truth < bound if sign == "<" else truth > bound))
        judgement = host.check_recording(recording, *limits, allow_gaps=GAPS)
        wrong = [
            f"{result}, and it is {truths[text.split()[0]]}"
            for result, text, holds in zip(judgement["limits"], limits, kept, strict=True)
            if result["verdict"] != ("kept" if holds else "broken")
            or (result["unit"] != "mAh" and result["value"] != pytest.approx(truths[text.split()[0]][0], rel=1e-9))
        ]
        assert not wrong
        seen |= {result["verdict"] for result in judgement["limits"]}
    assert seen == {"kept", "broken"}


def test_judges_live_over_a_stretch_and_over_a_block(bench: Meter) -> None:
    # Pulses of 60 mA over 12 mA: 24 mA in the mean.
    limits = ("mean(current) > 15 mA", "max(current) <= 60 mA", "min(current) >= 12 mA", "max(current) < 50 mA")
    wanted = ["kept", "kept", "kept", "broken"]
    start = datetime.now(UTC)
    judgement = bench.check(*limits, seconds=2, allow_gaps=GAPS)
    assert [result["verdict"] for result in judgement["limits"]] == wanted
    assert judgement["limits"][0]["value"] == pytest.approx(0.024, abs=0.009)
    assert judgement["duration_ms"] >= 2000
    stored = bench.check(*limits, start=start, end=datetime.now(UTC), allow_gaps=GAPS)
    assert [result["verdict"] for result in stored["limits"]] == wanted
    with bench.judging(*limits, allow_gaps=GAPS) as measurement:
        time.sleep(2)
    assert measurement.judgement
    assert [result["verdict"] for result in measurement.judgement["limits"]] == wanted
    assert 1900 <= measurement.judgement["duration_ms"] < 20_000


def test_asserts_with_the_reason(bench: Meter) -> None:
    assert bench.assert_("mean(current) < 40 mA", seconds=1, allow_gaps=GAPS)["verdict"] == "kept"
    with pytest.raises(LimitBroken, match=r"max\(current\) < 50 mA: broken, measured 0.06 A") as broken:
        bench.assert_("max(current) < 50 mA", "count > 1", seconds=1, allow_gaps=GAPS)
    assert isinstance(broken.value, AssertionError)
    with pytest.raises(LimitUndecided, match="too few"):
        bench.assert_("p99.9(current) < 1 A", seconds=1, allow_gaps=GAPS)


def test_a_block_that_fails_keeps_its_own_reason(bench: Meter) -> None:
    with pytest.raises(ZeroDivisionError), bench.judging("count > 1"):
        raise ZeroDivisionError
