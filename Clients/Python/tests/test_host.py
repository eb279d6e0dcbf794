"""Everything against a real meterd."""

import asyncio
import concurrent.futures
import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from conftest import SOON, VOLTS, Board
from harness import Demo, wait

import meter_gateway
from meter_gateway import BadRequest, Forbidden, Held, Host, Meter, NoSuchMeter, NotFound, Refused, tables
from meter_gateway.api import MarkBody
from meter_gateway.marks import between, named

UM25C, UM34C, TC66C = "02:00:00:00:25:0C", "02:00:00:00:34:0C", "02:00:00:00:66:0C"


def test_lists_and_status(demo_host: Host) -> None:
    version = demo_host.version()
    assert version["version"] == meter_gateway.__version__, "the package has the version of the programs"
    assert {meter["id"] for meter in demo_host.meters()} >= {UM25C, UM34C, TC66C}
    assert {entry["id"] for entry in demo_host.scan()} >= {UM25C}
    assert {lease["meter"] for lease in demo_host.leases()["leases"]} >= {UM25C}
    status = demo_host.meter("demo UM25C").status()
    assert (status["id"], status["state"]) == (UM25C, "data-available")
    assert status["rssi"] is None, "unknown stays None"


def test_errors_have_a_code_and_a_remedy(demo_host: Host) -> None:
    with pytest.raises(NoSuchMeter) as none:
        demo_host.meter("nobody").status()
    assert none.value.code == "no-such-meter"
    with pytest.raises(NoSuchMeter) as several:
        demo_host.meter("02").status()
    assert several.value.code == "ambiguous-meter"
    assert "UM25C" in several.value.message
    with pytest.raises(NotFound):
        demo_host.recording("none")
    with pytest.raises(BadRequest):
        demo_host.meter(UM25C).set({"no-such-setting": "1"})
    with pytest.raises(NoSuchMeter):
        demo_host.meter("nobody").check("count > 1", seconds=1)
    with pytest.raises(BadRequest, match="currant"):
        demo_host.meter(UM25C).check("mean(currant) < 1 A", seconds=1)


def test_watches_in_both_ways(demo_host: Host) -> None:
    meter = demo_host.meter(TC66C)

    async def both() -> tuple[int, int]:
        async def count() -> int:
            return len([reading async for reading in meter.watch(3) if reading.get("voltage_V")])

        first, second = await asyncio.gather(count(), count())
        return first, second

    assert min(asyncio.run(both())) >= 2
    assert len(list(meter.watch(3))) >= 2
    # Left early, a watch lets go of its connection at once.
    for reading in meter.watch():
        assert reading["time"].endswith("Z")
        break


def test_a_watch_of_a_meter_that_is_not_there(demo_host: Host) -> None:
    async def watch() -> None:
        async for _ in demo_host.meter("nobody").watch():
            pytest.fail("nobody measures nothing")

    with pytest.raises(NoSuchMeter):
        next(iter(demo_host.meter("nobody").watch()))
    with pytest.raises(NoSuchMeter):
        asyncio.run(watch())


def test_settings_and_back_to_the_default(demo_host: Host) -> None:
    meter = demo_host.meter(UM25C)
    assert meter.set({"brightness": 3, "notes": "left shelf"})["settings"] == {"brightness": "3", "notes": "left shelf"}
    assert meter.settings()["settings"]["notes"] == "left shelf"
    meter.set({"notes": None, "brightness": None})
    assert not {"notes", "brightness"} & set(meter.settings()["settings"])


def test_commands_and_what_asks_first(demo_host: Host) -> None:
    meter = demo_host.meter(UM25C)
    assert meter.command("brightness", 4)["id"] == UM25C
    asking = {command["command"] for command in meter.commands() if command["consequence"]}
    assert "clear-group" in asking
    with pytest.raises(Refused, match="yes=True"):
        meter.command("clear-group")
    assert meter.command("clear-group", yes=True)["id"] == UM25C


def test_takes_over_queues_and_holds(demo: Demo, demo_host: Host) -> None:
    here, attic = demo_host.meter(UM34C), Host(demo.attic).meter(UM34C)
    wait("attic knows who has it", lambda: attic.status()["lease"], SOON, retry=(NoSuchMeter,))
    with pytest.raises(Held, match="demo-bench"):
        attic.connect(SOON)
    # For a block: it is this host's, and then nobody's of the two.
    with attic.hold(SOON, takeover=True) as held:
        assert held.status()["state"] == "data-available"
        lease = here.status()["lease"]
        assert lease
        assert lease["holder"] == "demo-attic"
    assert not attic.status()["wanted"]
    # It waits in line until the other host lets go.
    here.connect(SOON, queue=SOON)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = pool.submit(attic.connect, SOON, queue=SOON)
        wait("attic is in line", lambda: "demo-attic" in (here.status()["lease"] or {"waiting": []})["waiting"], SOON)
        assert not waiting.done()
        here.disconnect()
        assert waiting.result(2 * SOON)["state"] == "data-available"
    attic.disconnect()
    here.connect(SOON, queue=SOON)
    # Connected before, it stays so.
    with here.hold():
        pass
    assert here.status()["wanted"]
    # An error in the block is the one that is told, and it is let go all the same.
    with pytest.raises(ZeroDivisionError), attic.hold(SOON, takeover=True):
        raise ZeroDivisionError
    assert not attic.status()["wanted"]
    here.connect(SOON, queue=SOON)


def test_records_and_describes(bench: Meter) -> None:
    host = bench.host
    with bench.record("boot") as recording:
        assert recording.body["state"] == "running"
        with pytest.raises(Refused):
            bench.start_recording()
        time.sleep(2)
    body = recording.body
    assert (body["name"], body["state"], body["end"]) == ("boot", "ended", "hand")
    assert body["energy_Wh"]
    assert host.recording("boot")["id"] == body["id"]
    assert body["id"] in {one["id"] for one in host.recordings("bench")}
    # A reading of the millisecond in which it began or ended is in that stretch, and may not be in its sums.
    assert 0 <= len(list(host.recording_readings("boot"))) - body["readings"] <= 2
    assert host.describe_recording("boot", note="cold")["note"] == "cold"
    judgement = host.check_recording("boot", "mean(current) < 30 mA", "max(current) < 50 mA", allow_gaps=50)
    assert [result["verdict"] for result in judgement["limits"]] == ["kept", "broken"]
    host.delete_recording(body["id"])
    with pytest.raises(NotFound):
        host.recording(body["id"])


def test_stretches_and_exports(bench: Meter) -> None:
    start = timedelta(seconds=2)
    stretch = bench.stretch(start)
    assert stretch["readings"] > 10
    assert stretch["quantities"]["current_A"]["max"] == pytest.approx(0.060)
    assert stretch["quantities"]["voltage_V"]["mean"] == pytest.approx(VOLTS)
    empty = bench.stretch(0, 1000)
    assert (empty["readings"], empty.get("energy_Wh")) == (0, None)
    lines = list(bench.export(start))
    frame, table = tables.to_pandas(lines), tables.to_arrow(lines)
    assert len(frame) == table.num_rows == len(lines)
    assert str(frame.index.dtype).endswith("UTC]")
    assert frame["current_A"].tolist() == table["current_A"].to_pylist() == [line["current_A"] for line in lines]
    assert frame.index[0].isoformat(timespec="milliseconds") == lines[0]["time"].replace("Z", "+00:00")
    kept = bench.record_stretch(timedelta(seconds=1.5), timedelta(seconds=0.2), "kept")
    assert kept["readings"] > 0
    bench.host.delete_recording(kept["id"])


def test_what_is_unknown_is_no_number(make_meter: Callable[..., tuple[Meter, Board]]) -> None:
    # Every other line has no current.
    meter, _ = make_meter("half", lambda index: None if index % 2 else 0.25)
    time.sleep(2)
    lines = list(meter.export(timedelta(seconds=1.5)))
    currents = [line.get("current_A") for line in lines]
    assert set(currents) == {None, 0.25}
    frame, table = tables.to_pandas(lines), tables.to_arrow(lines)
    assert table["current_A"].to_pylist() == currents
    assert frame["current_A"].isna().tolist() == [current is None for current in currents]
    assert frame["current_A"].mean() == pytest.approx(0.25)


def test_the_pages_port_with_a_token(demo: Demo, demo_host: Host) -> None:
    said = demo.must("web", "enable", "--listen", "127.0.0.1:0").out
    token = next(line.split()[-1] for line in said.splitlines() if "token" in line)
    url = f"http://127.0.0.1:{demo.page_port()}"
    try:
        with pytest.raises(Forbidden):
            Host(url=url).status()
        host = Host(url=url, token=token)
        assert {meter["id"] for meter in host.meters()} == {meter["id"] for meter in demo_host.meters()}
        meter = host.meter(UM25C)
        assert meter.set({"notes": "by the page"})["settings"] == {"notes": "by the page"}
        meter.set({"notes": None})
        assert list(meter.watch(2))

        async def watch() -> int:
            return len([reading async for reading in meter.watch(2)])

        assert asyncio.run(watch()) >= 1
    finally:
        demo.must("web", "disable")


def test_marks_by_name() -> None:
    marks: list[MarkBody] = [
        {
            "id": str(number),
            "name": name,
            "from": "",
            "to": "",
            "meter": "",
            "is_local": False,
            "host": None,
            "host_id": "",
        }
        for number, name in enumerate(["boot", "idle", "boot", "a#2"])
    ]
    assert [named(marks, name)["id"] for name in ("idle", "boot#1", "boot#2", "a#2", "idle#1")] == [
        "1",
        "0",
        "2",
        "3",
        "1",
    ]
    assert named(marks, "2")["name"] == "boot"
    with pytest.raises(BadRequest, match="2 marks"):
        named(marks, "boot")
    marks[0]["from"], marks[0]["to"], marks[1]["from"], marks[1]["to"] = "a", "a", "b", None
    assert between(marks[0], marks[1]) == ("a", None)
    assert between(marks[1], marks[1]) == ("b", None)
    with pytest.raises(BadRequest, match="is a moment"):
        between(marks[0], marks[0])
    for name in ("boot#3", "boot#0", "x", "#1", ""):
        with pytest.raises(NotFound):
            named(marks, name)


def test_marks(bench: Meter) -> None:
    moment = bench.mark("screen on")
    assert moment["from"] == moment["to"]
    with bench.span("boot", local=True) as span:
        assert span["to"] is None
    with bench.span("boot"):
        pass
    found = bench.find_mark("boot#1")
    assert (found["id"], found["is_local"]) == (span["id"], True)
    assert found["to"]
    assert found["to"] >= found["from"]
    assert bench.between("boot#1", "boot#2") == (span["from"], bench.find_mark("boot#2")["to"])
    assert bench.stretch(*bench.between("screen on", "boot#2"))["meter"] == bench.name
    # It stands beside the next reading, which may not have come yet.
    wait(
        "a reading has the mark",
        lambda: any("screen on" in str(dict(reading).get("marks")) for reading in bench.export(timedelta(minutes=1))),
        SOON,
    )
    host = bench.host
    assert host.rename_mark(moment["id"], "screen off")["name"] == "screen off"
    assert len(bench.marks(timedelta(minutes=5))) == 3
    assert bench.marks(0, 1000) == []
    for mark in bench.marks():
        host.delete_mark(mark["id"])
    assert bench.marks() == []
