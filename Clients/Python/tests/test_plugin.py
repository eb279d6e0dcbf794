"""The plug-in, as a made-up device project uses it."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import METERCTL, Board

from meter_gateway import Host, Meter
from meter_gateway.pytest_plugin import limit

DEVICE = Path(__file__).parent / "device"


@pytest.fixture(scope="module")
def project(
    host: Host, make_meter: Callable[..., tuple[Meter, Board]], tmp_path_factory: pytest.TempPathFactory
) -> tuple[subprocess.CompletedProcess[str], dict[str, ET.Element]]:
    """Its tests, run once: what pytest says, and the cases of the JUnit file."""
    folder = tmp_path_factory.mktemp("lamp")
    mode = folder / "mode"
    mode.write_text("asleep")
    make_meter("lamp", lambda _: 0.060 if mode.read_text() == "lit" else 0.012)
    options = [f"--power-socket={host.transport.socket_path}", f"--power-meterctl={METERCTL}", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--junitxml", str(folder / "junit.xml")],
        cwd=DEVICE, env=os.environ | {"LAMP": str(mode)}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (folder / "junit.xml").exists(), run.stdout + run.stderr
    cases: dict[str, ET.Element] = {}
    for case in ET.parse(folder / "junit.xml").iter("testcase"):
        cases[case.attrib["name"]] = case
    return run, cases


def outcome(case: ET.Element) -> tuple[str, str]:
    """Failure, error, skipped or passed, with the reason."""
    found = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
    return ("passed", "") if found is None else (found.tag, found.attrib.get("message", "") + (found.text or ""))


Project = tuple[subprocess.CompletedProcess[str], dict[str, ET.Element]]


@pytest.mark.parametrize(
    ("test", "kind", "reason"),
    [
        ("test_sleeps", "passed", ""),
        ("test_lit_is_too_bright", "failure", "mean(current) <= 15 mA: broken, measured 0.06 A"),
        ("test_is_too_short_to_know", "error", "p99.9(current) < 70 mA: undecided, "),
        ("test_fails_by_itself", "failure", "AssertionError: assert 'lit' == 'asleep'"),
        ("test_has_no_meter", "error", 'no meter is called "nobody"'),
        ("test_has_no_limit", "error", "max_mean_parsec is no limit"),
        ("test_is_skipped", "skipped", "no lamp today"),
        ("test_is_known_to_be_too_bright", "skipped", "the lamp is too bright"),
        ("test_uses_the_meter", "passed", ""),
        ("test_asserts_by_hand", "failure", "LimitBroken"),
        ("test_without_a_limit", "passed", ""),
    ],
)
def test_each_fails_for_the_right_reason(project: Project, test: str, kind: str, reason: str) -> None:
    found, words = outcome(project[1][test])
    assert found == kind, words
    assert reason in words


def test_no_traceback_hides_the_reason(project: Project) -> None:
    _, words = outcome(project[1]["test_lit_is_too_bright"])
    assert len(words) < 400, words
    assert "Traceback" not in words
    assert "p90" not in words, "what is kept is no reason"


def test_results_are_in_the_junit_file_and_on_the_screen(project: Project) -> None:
    run, cases = project
    found = {one.attrib["name"]: one.attrib["value"] for one in cases["test_lit_is_too_bright"].iter("property")}
    assert found["power.meter"] == "lamp"
    assert int(found["power.readings"]) > 10
    assert found["power: mean(current) <= 15 mA"].startswith("broken, 0.0")
    assert found["power: p90(current) < 70 mA"] == "kept, 0.06 A"
    found = {one.attrib["name"]: one.attrib["value"] for one in cases["test_sleeps"].iter("property")}
    assert found["power: mean(current) <= 15 mA"] == "kept, 0.012 A"
    assert found["power: min(voltage) >= 4.75 V"] == "kept, 5 V"
    assert not list(cases["test_without_a_limit"].iter("property"))
    assert "test_lamp.py::test_sleeps  mean(current) <= 15 mA: kept, 0.012 A" in run.stdout
    assert run.returncode == 1


@pytest.mark.parametrize(
    ("keyword", "value", "text"),
    [
        ("max_mean_mA", 15, "mean(current) <= 15 mA"),
        ("max_mA", 0.00001, "max(current) <= 0.00001 mA"),
        ("max_mean_uA", 900, "mean(current) <= 900 uA"),
        ("min_V", 4.75, "min(voltage) >= 4.75 V"),
        ("max_p99_mA", 40, "p99(current) <= 40 mA"),
        ("max_p99_9_W", 2, "p99.9(power) <= 2 W"),
        ("max_peak_to_peak_mV", 50, "peak-to-peak(voltage) <= 50 mV"),
        ("max_energy_Wh", 0.1, "energy <= 0.1 Wh"),
        ("max_charge_mAh", 3, "charge <= 3 mAh"),
        ("max_duration_s", 60, "duration <= 60 s"),
        ("min_count", 100, "count >= 100"),
    ],
)
def test_keywords_are_limits_that_meterctl_reads(bench: Meter, keyword: str, value: float, text: str) -> None:
    assert limit(keyword, value) == text
    assert bench.check(text, start=1, end=1000)["limits"][0]["limit"] == text


@pytest.mark.parametrize(
    ("keyword", "value"),
    [("max_mean", 1), ("mean_mA", 1), ("max_kA", 1), ("max_mA", "1"), ("max_mA", True), ("max_mA", float("nan"))],
)
def test_other_keywords_are_refused(keyword: str, value: object) -> None:
    with pytest.raises(ValueError, match=keyword):
        limit(keyword, value)
