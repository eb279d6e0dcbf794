"""Whatever comes from outside becomes a MeterError, and no error of json, http or asyncio."""

import asyncio
import contextlib
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from meter_gateway import (
    BadAnswer,
    BadRequest,
    Forbidden,
    Host,
    MeterError,
    NoProgram,
    Refused,
    TimedOut,
    Unreachable,
    tables,
)
from meter_gateway.limits import Judgement
from meter_gateway.times import rfc3339
from meter_gateway.transport import check

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
READING = b'{"time": "2026-11-29T14:00:00.000Z", "current_A": null}\n'


def answer(body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 " + status + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    return OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(b"%x\r\n%s\r\n" % (len(c), c) for c in chunks) + end


@contextlib.contextmanager
def server(path: Path, bytes_: bytes, hangs: bool = False) -> Iterator[str]:
    """Answers every request with these bytes, and closes unless it hangs."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    kept = []

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                connection.recv(65536)
                connection.sendall(bytes_)
                kept.append(connection)
                if not hangs:
                    connection.shutdown(socket.SHUT_RDWR)
                    connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield str(path)
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for connection in kept:
            connection.close()


def status(host: Host) -> object:
    return host.status()


def watch(host: Host) -> object:
    return list(host.meter("bench").watch())


def watch_async(host: Host) -> object:
    async def read() -> object:
        return [line async for line in host.meter("bench").watch()]

    return asyncio.run(read())


HOSTILE: dict[str, tuple[bytes, type[MeterError] | tuple[type[MeterError], ...]]] = {
    "nothing": (b"", Unreachable),
    "no HTTP": (b"\xff\xfe220 smtp ready\r\n\r\n", Unreachable),
    "no JSON": (answer(b"<html>\n"), BadAnswer),
    "no UTF-8": (answer(b'{"meters": "\xff"}\n'), BadAnswer),
    "NaN": (answer(b'{"time": "2026", "current_A": NaN}\n'), BadAnswer),
    "too deep": (answer(b"[" * 100_000 + b"\n"), BadAnswer),
    "too many digits": (answer(b"1" * 10_000 + b"\n"), BadAnswer),
    "another type": (answer(b"[1]\n"), BadAnswer),
    "keys missing": (answer(b'{"meters": []}\n'), BadAnswer),
    "a list of others": (answer(b'{"meters": [1], "adapters": [], "store": {}, "time": 1}\n'), BadAnswer),
    "a number as text": (answer(b'{"meters": "", "time": "2026", "current_A": "0.1"}\n'), BadAnswer),
    "an error without a reason": (answer(b"", b"500 Oops"), BadAnswer),
    "an error of others": (answer(b'{"detail": "x"}', b"502 Bad Gateway"), BadAnswer),
    "an error with numbers": (answer(b'{"code": 1, "message": 2, "next": 3}', b"500 Oops"), BadAnswer),
    "a chunk cut off": (OK + b"Transfer-Encoding: chunked\r\n\r\n40\r\n{", Unreachable),
    "a length of letters": (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{", Unreachable),
    "a body cut off": (OK + b"Content-Length: 100\r\n\r\n{", (Unreachable, BadAnswer)),
}


@pytest.mark.parametrize("call", [status, watch, watch_async])
@pytest.mark.parametrize("name", HOSTILE)
def test_bytes_from_outside_become_a_typed_error(name: str, call: Callable[[Host], object], folder: Path) -> None:
    bytes_, kind = HOSTILE[name]
    path = folder / "hostile.sock"
    path.unlink(missing_ok=True)
    with server(path, bytes_) as address:
        with pytest.raises(kind) as caught:
            call(Host(address, timeout=5))
        assert caught.value.message
        assert caught.value.next


@pytest.mark.parametrize("call", [watch, watch_async])
def test_a_stream_that_ends_is_no_end_of_the_watch(call: Callable[[Host], object], folder: Path) -> None:
    path = folder / "ended.sock"
    path.unlink(missing_ok=True)
    with server(path, chunked(READING)) as address, pytest.raises(Unreachable, match="ended the stream"):
        call(Host(address))


def test_watches_alike_where_lines_are_split_and_keep_null(folder: Path) -> None:
    path = folder / "split.sock"
    path.unlink(missing_ok=True)
    pieces = [READING[:7], READING[7:] + b"\n\n" + READING[:20], READING[20:]]
    with server(path, chunked(*pieces, end=b""), hangs=True) as address:
        meter = Host(address).meter("bench")

        async def read() -> list[object]:
            return [line async for line in meter.watch(1.5)]

        plain = list(meter.watch(1.5))
        assert asyncio.run(read()) == plain
        assert [line["current_A"] for line in plain] == [None, None]
        frame, table = tables.to_pandas(plain), tables.to_arrow(plain)
        assert frame["current_A"].isna().all()
        assert table["current_A"].to_pylist() == [None, None]


@pytest.mark.parametrize("call", [status, watch, watch_async])
def test_silence_times_out(call: Callable[[Host], object], folder: Path) -> None:
    path = folder / "silent.sock"
    path.unlink(missing_ok=True)
    with server(path, b"", hangs=True) as address, pytest.raises(TimedOut):
        call(Host(address, timeout=0.3))


@pytest.mark.parametrize("call", [status, watch, watch_async])
def test_a_meterd_that_is_not_there_is_told_with_its_place(call: Callable[[Host], object], folder: Path) -> None:
    with pytest.raises(Unreachable, match="no meterd answers at .*gone.sock"):
        call(Host(str(folder / "gone.sock")))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Host("/x", url="http://h"),
        lambda: Host(url="ftp://h"),
        lambda: Host(url="http://h:99999"),
        lambda: Host(url="h:8642"),
        lambda: Host(url="http://h", token="a\r\nHost: evil"),
        lambda: Host("/x").meter("").status(),
        lambda: Host("/x").meter("\udc80").status(),
        lambda: Host("/x").meter("m").connect(float("nan")),
        lambda: Host("/x").meter("m").stretch("yesterday"),
        lambda: Host("/x", meterctl="/bin/true").meter("m").check(seconds=1),
        # A limit or a meter that would be an option.
        lambda: Host("/x", meterctl="/bin/true").meter("m").check("--junit=/etc/x", seconds=1),
        lambda: Host("/x", meterctl="/bin/true").meter("--recording").check("count > 1", seconds=1),
    ],
)
def test_bad_input_is_refused_before_anybody_is_asked(make: Callable[[], object]) -> None:
    with pytest.raises(BadRequest):
        make()


class Sample(TypedDict):
    number: float
    words: list[str]
    several: dict[str, int | None]
    kind: Literal["a", "b"]
    whole: NotRequired[int | None]
    yes: NotRequired[bool]
    inner: NotRequired["Sample | None"]


GOOD: Any = {"number": 1, "words": ["x"], "several": {"a": None, "b": 2}, "kind": "new", "whole": None, "more": [1]}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({}, None),
        ({"inner": GOOD, "yes": True, "number": 0.5}, None),
        ({"number": None}, "/number"),
        ({"number": True}, "/number"),
        ({"number": "1"}, "/number"),
        ({"words": "x"}, "/words"),
        ({"words": 1}, "/words"),
        ({"words": ["x", 1]}, "/words/1"),
        ({"several": {"a": 0.5}}, "/several/a"),
        ({"kind": 1}, "/kind"),
        ({"whole": 0.5}, "/whole"),
        ({"yes": 1}, "/yes"),
        ({"inner": []}, "/inner"),
    ],
)
def test_types_are_checked_with_the_place(change: dict[str, Any], place: str | None) -> None:
    value = GOOD | change
    if place is None:
        assert check(value, Sample, "it") is value
    else:
        with pytest.raises(BadAnswer, match=f"at {place}\n"):
            check(value, Sample, "it")
    for missing in ("number", "words"):
        with pytest.raises(BadAnswer, match=f"/{missing}"):
            check({key: inner for key, inner in GOOD.items() if key != missing}, Sample, "it")


def test_moments() -> None:
    assert rfc3339(1_700_000_000_123) == "2023-11-14T22:13:20.123Z"
    assert rfc3339("2026-11-29T15:00:00+01:00") == "2026-11-29T14:00:00.000Z"
    assert rfc3339(None) is None


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("echo nonsense; exit 0", BadAnswer),
        ("echo '{}'; exit 9", BadAnswer),
        ("printf 'meterctl: error: nobody is called x\\nlook\\n' >&2; exit 3", MeterError),
        ("kill -KILL $$", MeterError),
        ("exit 1", MeterError),
    ],
)
def test_a_meterctl_that_says_something_else_is_a_typed_error(
    script: str, kind: type[MeterError], tmp_path: Path
) -> None:
    program = tmp_path / "meterctl"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    meter = Host("/x", meterctl=str(program)).meter("m")
    with pytest.raises(kind):
        meter.check("count > 1", seconds=1)
    with pytest.raises(kind), meter.judging("count > 1"):
        pytest.fail("it measures nothing")


def test_judging_needs_a_meterctl_and_a_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoProgram):
        Host("/x").meter("m").check("count > 1", seconds=1)
    with pytest.raises(NoProgram):
        Host("/x", meterctl=str(tmp_path)).meter("m").check("count > 1", seconds=1)
    with pytest.raises(Refused, match="control socket"):
        Host(url="http://127.0.0.1:1").meter("m").check("count > 1", seconds=1)


def test_a_socket_that_this_user_may_not_use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("meter_gateway.transport._LocalConnection.connect", refuse)
    with pytest.raises(Forbidden, match="may not use"):
        Host(str(folder / "x")).status()


def test_a_judgement_has_the_keys_that_this_package_reads() -> None:
    assert Judgement.__required_keys__ >= {"subject", "verdict", "limits", "readings", "duration_ms"}
