"""A meter in a labgrid environment."""

import csv
import inspect
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import METERCTL, VOLTS
from labgrid import Environment
from labgrid.binding import StateError
from labgrid.factory import target_factory

from meter_gateway import BadRequest, LimitBroken, Meter, Refused
from meter_gateway.labgrid import EnergyAnalyzerProtocol, MeterGatewayDriver, spread

TEXT = """
imports: [meter_gateway.labgrid]
targets:
  main:
    resources:
      MeterGatewayMeter: {{meter: {meter}, socket: {socket}, meterctl: {meterctl}}}
    drivers:
      MeterGatewayDriver: {{wait: 60, seconds: 2}}
"""


@pytest.fixture
def environment(bench: Meter, tmp_path: Path) -> Iterator[Environment]:
    path = tmp_path / "lab.yaml"
    socket = bench.host.transport.socket_path
    path.write_text(TEXT.format(meter="bench", socket=socket, meterctl=METERCTL))
    environment = Environment(str(path))
    yield environment
    environment.cleanup()


def test_measures(environment: Environment, tmp_path: Path) -> None:
    driver = environment.get_target("main").get_driver("EnergyAnalyzerProtocol")
    assert isinstance(driver, MeterGatewayDriver)
    driver.start()
    time.sleep(2)
    # Pulses of 60 mA over 12 mA at 5 V: 24 mA in the mean, 0.12 W.
    statistics = driver.get_statistics()
    assert statistics["current"]["avg"] == pytest.approx(0.024, abs=0.009)
    assert (statistics["current"]["min"], statistics["current"]["max"]) == (0.012, 0.060)
    assert statistics["current"]["std"] == pytest.approx(0.0208, abs=0.009)
    assert statistics["voltage"]["avg"] == pytest.approx(VOLTS)
    assert statistics["energy_J"]
    result = driver.stop()
    assert 2 <= result["duration_s"] < 20
    assert result["energy_J"] == pytest.approx(0.12 * (result["duration_s"] - result["unmeasured_s"]), rel=0.4)
    assert result["charge_C"] == pytest.approx(result["energy_J"] / VOLTS, rel=0.01)
    with pytest.raises(Refused, match="not added up"):
        driver.stop()
    driver.capture(tmp_path / "power.csv", ["current"], 1)
    rows = list(csv.reader((tmp_path / "power.csv").open()))
    assert rows[0] == ["time", "current_A"]
    assert {row[1] for row in rows[1:]} == {"0.012", "0.06"}
    assert driver.assert_limits(["mean(current) < 40 mA"], 1, allow_gaps=50)["verdict"] == "kept"
    with pytest.raises(LimitBroken):
        driver.assert_limits(["max(current) < 50 mA"], 1, allow_gaps=50)
    for signals, duration in ((["heat"], 1), (None, None)):
        with pytest.raises(BadRequest):
            driver.capture(tmp_path / "power.csv", signals, duration)


def test_connects_with_activation_and_leaves_it_as_it_was(environment: Environment, bench: Meter) -> None:
    target = environment.get_target("main")
    driver = target.get_driver(MeterGatewayDriver, activate=False)
    with pytest.raises(StateError):
        driver.get_statistics()
    target.activate(driver)
    target.deactivate(driver)
    assert bench.status()["wanted"], "it was connected before"
    bench.disconnect()
    try:
        target.activate(driver)
        assert bench.status()["state"] == "data-available"
        target.deactivate(driver)
        assert not bench.status()["wanted"]
    finally:
        bench.connect(60)


def test_has_the_shape_of_the_open_protocol() -> None:
    # labgrid pull request 1920, as of 2026-07.
    wanted = {
        "get_statistics": ["self"],
        "start": ["self"],
        "stop": ["self"],
        "capture": ["self", "filename", "signals", "duration", "frequency"],
    }
    assert {name: list(inspect.signature(getattr(MeterGatewayDriver, name)).parameters) for name in wanted} == wanted
    assert EnergyAnalyzerProtocol.__abstractmethods__ == set(wanted)
    assert target_factory.class_from_string("EnergyAnalyzerProtocol") is EnergyAnalyzerProtocol


def test_what_is_unknown_has_no_spread(bench: Meter) -> None:
    empty = bench.stretch(0, 1000)
    assert set(spread(empty, [], "current_A").values()) == {None}
    assert set(spread(bench.stretch(), bench.export(), "temperature_C").values()) == {None}
