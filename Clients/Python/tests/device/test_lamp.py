"""What the lamp may draw. It draws 12 mA asleep, and 60 mA lit."""

import time

import lamp
import pytest


@pytest.fixture
def asleep():
    lamp.switch("asleep")
    # Until the meter has seen it.
    time.sleep(1)


@pytest.fixture
def lit():
    lamp.switch("lit")
    time.sleep(1)


@pytest.mark.power(max_mean_mA=15, min_V=4.75)
def test_sleeps(asleep):
    time.sleep(1.5)


@pytest.mark.power("p90(current) < 70 mA", max_mean_mA=15)
def test_lit_is_too_bright(lit):
    time.sleep(1.5)


@pytest.mark.power("p99.9(current) < 70 mA")
def test_is_too_short_to_know(lit):
    time.sleep(0.5)


@pytest.mark.power(max_mean_mA=15)
def test_fails_by_itself(lit):
    time.sleep(0.5)
    assert lamp.MODE.read_text() == "asleep"


@pytest.mark.power(max_mean_mA=15, meter="nobody")
def test_has_no_meter():
    pass


@pytest.mark.power(max_mean_parsec=15)
def test_has_no_limit():
    pass


@pytest.mark.power(max_mean_mA=15)
def test_is_skipped(lit):
    pytest.skip("no lamp today")


@pytest.mark.power(max_mean_mA=15)
@pytest.mark.xfail(reason="the lamp is too bright")
def test_is_known_to_be_too_bright(lit):
    time.sleep(1)


def test_uses_the_meter(power, lit):
    readings = list(power.watch(1))
    assert readings[-1]["current_A"] == 0.06
    power.assert_("max(current) <= 60 mA", seconds=1, allow_gaps=50)


def test_asserts_by_hand(power, lit):
    power.assert_("max(current) < 50 mA", seconds=1, allow_gaps=50)


def test_without_a_limit():
    pass
