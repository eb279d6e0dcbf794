"""A host that runs meterd, and its meters."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from . import marks as mark_names
from .api import (
    CommandBody,
    CommandsBody,
    GatewayStatus,
    MarkBody,
    MarksBody,
    MeterStatus,
    ReadingLine,
    RecordingBody,
    RecordingsBody,
    ScanEntry,
    SettingsBody,
    StretchBody,
    VersionBody,
    WhoBody,
)
from .errors import BadAnswer, BadRequest, MeterError, NoSuchMeter, Refused, Unreachable
from .limits import Judge, Judgement, Measurement, require_kept
from .times import Moment, rfc3339
from .transport import Body, Transport, check, segment, with_query


class Host:
    """A host that runs meterd: this one over its control socket, or another over its page's port.

    Args:
        socket: the path of the control socket; without it the one that meterctl would use.
        url: instead, where its page is: http://bench-pi:8642.
        token: of `meterctl web enable`, with a URL.
        meterctl: the program that judges limits; without it the one on the PATH.
        timeout: seconds in which an answer has to begin, besides the time that was asked for.

    """

    def __init__(
        self,
        socket: str | None = None,
        *,
        url: str | None = None,
        token: str | None = None,
        meterctl: str | None = None,
        timeout: float = 30,
    ) -> None:
        self.transport = Transport(socket, url, token, timeout)
        self.judge = Judge(self.transport, meterctl)

    def version(self) -> VersionBody:
        """Returns version, commit and build of its meterd."""
        return self._call("GET", "/v1/version", VersionBody)

    def status(self) -> GatewayStatus:
        """Returns everything about its meters, adapters and store."""
        return self._call("GET", "/v1/status", GatewayStatus)

    def meters(self) -> list[MeterStatus]:
        """Returns its meters, and those that other hosts hold."""
        return self.status()["meters"]

    def scan(self) -> list[ScanEntry]:
        """Returns the meters that are there now, wanted or not."""
        return [check(entry, ScanEntry, "an entry of the scan") for entry in self._list("/v1/scan")]

    def leases(self) -> WhoBody:
        """Returns the leases of the whole cloud."""
        return self._call("GET", "/v1/leases", WhoBody)

    def meter(self, name: str) -> Meter:
        """Returns a meter by its id, MAC address, name, the beginning of one, or its port. Asks nobody yet."""
        return Meter(self, name)

    # Recordings, of all hosts

    def recordings(self, meter: str | None = None) -> list[RecordingBody]:
        """Returns recordings, the latest first."""
        return self._call("GET", "/v1/recordings", RecordingsBody, query={"meter": meter})["recordings"]

    def recording(self, recording: str) -> RecordingBody:
        """Returns a recording by its id, the beginning of it, or its name."""
        return self._call("GET", _recording(recording), RecordingBody)

    def recording_readings(self, recording: str) -> Iterator[ReadingLine]:
        """Yields the readings of a recording that was made by this host."""
        return _readings(self.transport.lines(f"{_recording(recording)}/readings"))

    def describe_recording(self, recording: str, name: str | None = None, note: str | None = None) -> RecordingBody:
        """Changes name or note; None keeps what is there, an empty text takes it away."""
        return self._call("PATCH", _recording(recording), RecordingBody, {"name": name, "note": note})

    def delete_recording(self, recording: str) -> RecordingBody:
        """Deletes it on every host. Its readings stay, unless they came from a file."""
        return self._call("DELETE", _recording(recording), RecordingBody)

    def check_recording(self, recording: str, *limits: str, allow_gaps: float | None = None) -> Judgement:
        """Judges limits over a recording that this host made."""
        return self.judge.judge((), [f"--recording={recording}", *_gaps(allow_gaps)], limits)

    # Marks, by their id

    def rename_mark(self, mark: str, name: str) -> MarkBody:
        """Renames a mark."""
        return self._call("PATCH", f"/v1/marks/{segment(mark, 'mark')}", MarkBody, {"name": name})

    def end_mark(self, mark: str, end: Moment | None = None) -> MarkBody:
        """Ends an open span, now unless told."""
        moment = rfc3339(datetime.now(UTC) if end is None else end)
        return self._call("PATCH", f"/v1/marks/{segment(mark, 'mark')}", MarkBody, {"end": moment})

    def delete_mark(self, mark: str) -> MarkBody:
        """Deletes a mark on every host."""
        return self._call("DELETE", f"/v1/marks/{segment(mark, 'mark')}", MarkBody)

    def _list(self, path: str) -> list[Any]:
        found = self.transport.call("GET", path)
        if not isinstance(found, list):
            raise BadAnswer("bad-answer", f"{path} is no list", "use the package of the version that meterd has")
        return found

    def _call(
        self,
        method: str,
        path: str,
        kind: type[Body],
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        patience: float = 0,
    ) -> Body:
        return check(self.transport.call(method, path, body, query, patience), kind, path)


@dataclass
class Recording:
    """A recording. Its body is that of the begin, and after the block the final one."""

    body: RecordingBody


@dataclass(frozen=True)
class Watch:
    """Live readings, for `for` and `async for`. Ends after its seconds, or with an error."""

    transport: Transport
    path: str
    seconds: float | None

    def __iter__(self) -> Iterator[ReadingLine]:
        end = self._end
        yield from _readings(self.transport.lines(self.path, self.seconds))
        self._require_over(end)

    async def __aiter__(self) -> AsyncIterator[ReadingLine]:
        end = self._end
        async with contextlib.aclosing(self.transport.lines_async(self.path, self.seconds)) as lines:
            async for line in lines:
                yield check(line, ReadingLine, "a reading")
        self._require_over(end)

    @property
    def _end(self) -> float:
        return math.inf if self.seconds is None else time.monotonic() + self.seconds

    def _require_over(self, end: float) -> None:
        if time.monotonic() < end:
            words = f"meterd ended the stream on {self.transport.name}"
            raise Unreachable("unreachable", words, "watch again once it is back")


@dataclass(frozen=True)
class Meter:
    """One meter. Each method asks meterd anew; nothing is kept."""

    host: Host
    name: str

    def _path(self, rest: str = "") -> str:
        return f"/v1/meters/{segment(self.name)}{rest}"

    def status(self) -> MeterStatus:
        """Returns how it is doing, with its last reading."""
        return self.host._call("GET", self._path(), MeterStatus)

    def connect(
        self,
        wait: float | None = 30,
        *,
        takeover: bool = False,
        queue: float | None = None,
        timeout: float | None = None,
        no_lease: bool = False,
        model: str | None = None,
        over: str | None = None,
        yes: bool = False,
    ) -> MeterStatus:
        """Connects it, now and after restarts of meterd.

        Args:
            wait: seconds to wait for data; None for not at all.
            takeover: take it from the host that has it. Without that, and without a queue, Held is raised.
            queue: seconds to wait in line for it.
            timeout: the longest that both may take together.
            no_lease: ask no cloud.
            model: of a meter that is named by the path of its port.
            over: serial, hid, bulk, network, ble or spp, where it has several links.
            yes: a person is sure, of a meter that this host never met.

        """
        waits = {"wait_ms": _ms(wait), "queue_ms": _ms(queue), "timeout_ms": _ms(timeout)}
        words = {"model": model, "over": over}
        flags = {"takeover": takeover or None, "no_lease": no_lease or None, "yes": yes or None}
        patience = timeout if timeout is not None else (wait or 0) + (queue or 0)
        return self.host._call("POST", self._path("/connect"), MeterStatus, waits | words | flags, patience=patience)

    def disconnect(self) -> MeterStatus:
        """Lets go of it until the next connect."""
        return self.host._call("POST", self._path("/disconnect"), MeterStatus)

    @contextlib.contextmanager
    def hold(
        self, wait: float | None = 30, *, takeover: bool = False, queue: float | None = None, model: str | None = None
    ) -> Iterator[Meter]:
        """Connects it for a block. Disconnects it afterwards, unless it was connected before."""
        try:
            was_wanted = self.status()["wanted"]
        except NoSuchMeter:
            was_wanted = False
        held = self
        try:
            held = Meter(self.host, self.connect(wait, takeover=takeover, queue=queue, model=model)["id"])
            yield held
        except BaseException:
            if not was_wanted:
                # The first error is the one to tell.
                with contextlib.suppress(MeterError):
                    held.disconnect()
            raise
        if not was_wanted:
            held.disconnect()

    def watch(self, seconds: float | None = None, *, every_sample: bool = False) -> Watch:
        """Returns live readings: `for reading in meter.watch(10)`, or `async for`.

        Args:
            seconds: how long; without it, until the caller leaves.
            every_sample: no folding of fast samples into one reading.

        """
        query = {"all": "true"} if every_sample else None
        return Watch(self.host.transport, with_query(self._path("/readings"), query), seconds)

    # Settings and commands

    def settings(self) -> SettingsBody:
        """Returns what is set, and what can be."""
        return self.host._call("GET", self._path("/settings"), SettingsBody)

    def set(self, settings: Mapping[str, str | int | None]) -> SettingsBody:
        """Changes settings in one transaction; None takes one back to its default."""
        values = {key: None if value is None else str(value) for key, value in settings.items()}
        return self.host._call("PATCH", self._path("/settings"), SettingsBody, {"settings": values})

    def commands(self) -> list[CommandBody]:
        """Returns the commands that it takes, none while its model is not known."""
        return self.host._call("GET", self._path("/commands"), CommandsBody)["commands"]

    def command(self, command: str, number: int | None = None, *, yes: bool = False) -> MeterStatus:
        """Sends a command. One that destroys, switches or draws something needs `yes`, as meterctl asks a person."""
        if not yes:
            known = next((one for one in self.commands() if one["command"] == command), None)
            if known is None:
                # Another host may hold the meter and know the command.
                raise Refused("refused", f"this host does not know what {command} does", "say yes=True if it is meant")
            if known["consequence"] is not None:
                raise Refused("refused", f"{command} {known['consequence']} something", "say yes=True if that is meant")
        return self.host._call("POST", self._path("/commands"), MeterStatus, {"command": command, "number": number})

    # What is stored

    def start_recording(self, name: str | None = None) -> RecordingBody:
        """Begins to record it."""
        return self.host._call("POST", self._path("/recording"), RecordingBody, {"name": name})

    def stop_recording(self) -> RecordingBody:
        """Ends its recording."""
        return self.host._call("DELETE", self._path("/recording"), RecordingBody)

    @contextlib.contextmanager
    def record(self, name: str | None = None) -> Iterator[Recording]:
        """Records it while the block runs."""
        recording = Recording(self.start_recording(name))
        try:
            yield recording
        finally:
            recording.body = self.stop_recording()

    def record_stretch(self, start: Moment, end: Moment, name: str | None = None) -> RecordingBody:
        """Makes a recording of stored readings."""
        body = {"from": rfc3339(start), "to": rfc3339(end), "name": name}
        return self.host._call("POST", self._path("/recordings"), RecordingBody, body)

    def stretch(self, start: Moment | None = None, end: Moment | None = None) -> StretchBody:
        """Summarises stored readings, by default of the last hour: energy, charge, gaps, percentiles."""
        query = {"from": rfc3339(start), "to": rfc3339(end)}
        return self.host._call("GET", self._path("/stretch"), StretchBody, query=query, patience=300)

    def export(
        self, start: Moment | None = None, end: Moment | None = None, every: float | None = None
    ) -> Iterator[ReadingLine]:
        """Yields stored readings, by default of the last hour; `every` gives means of so many seconds.

        `meter_gateway.tables` makes a pandas frame or an Arrow table of them.
        """
        query = {"from": rfc3339(start), "to": rfc3339(end), "format": "json", "every": _ms(every)}
        return _readings(self.host.transport.lines(with_query(self._path("/export"), query)))

    # Limits

    def check(
        self,
        *limits: str,
        seconds: float | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
        allow_gaps: float | None = None,
    ) -> Judgement:
        """Judges limits such as 'mean(current) < 15 mA' (Docs/PowerInCI.md#limits).

        Args:
            limits: each a text.
            seconds: measure for so long, from now.
            start: instead, of what is stored from then on.
            end: with `start`; now without it.
            allow_gaps: up to this share of missing time, in percent.

        """
        options = _gaps(allow_gaps)
        if seconds is not None:
            options.append(f"--for={_ms(seconds)}ms")
        if start is not None:
            options += [f"--from={rfc3339(start)}", f"--to={rfc3339(datetime.now(UTC) if end is None else end)}"]
        return self.host.judge.judge((self.name,), options, limits)

    def assert_(
        self,
        *limits: str,
        seconds: float | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
        allow_gaps: float | None = None,
    ) -> Judgement:
        """As `check`. LimitBroken, which is an AssertionError, or LimitUndecided where a limit is not kept."""
        return require_kept(self.check(*limits, seconds=seconds, start=start, end=end, allow_gaps=allow_gaps))

    def judging(self, *limits: str, allow_gaps: float | None = None) -> contextlib.AbstractContextManager[Measurement]:
        """Measures while the block runs. Afterwards the measurement has a judgement."""
        return self.host.judge.judging(self.name, _gaps(allow_gaps), limits)

    # Marks

    def marks(self, start: Moment | None = None, end: Moment | None = None) -> list[MarkBody]:
        """Returns its marks of all hosts, in the order of their begin."""
        query = {"from": rfc3339(start), "to": rfc3339(end)}
        return self.host._call("GET", self._path("/marks"), MarksBody, query=query)["marks"]

    def find_mark(self, name: str) -> MarkBody:
        """Returns the mark of this name, of several the n-th with NAME#n, or of this id."""
        return mark_names.named(self.marks(), name)

    def between(self, first: str, last: str | None = None) -> tuple[str, str | None]:
        """Returns the time between two marks, or of a span, for `meter.stretch(*meter.between("boot", "idle"))`."""
        marks = self.marks()
        return mark_names.between(
            mark_names.named(marks, first), mark_names.named(marks, first if last is None else last)
        )

    def mark(
        self,
        name: str,
        at: Moment | None = None,
        *,
        end: Moment | None = None,
        open: bool = False,  # noqa: A002 - the name of the API
        local: bool = False,
    ) -> MarkBody:
        """Marks a moment, now unless told; a span where it has an end or is open."""
        body = {"name": name, "at": rfc3339(at), "end": rfc3339(end), "open": open or None, "local": local or None}
        return self.host._call("POST", self._path("/marks"), MarkBody, body)

    @contextlib.contextmanager
    def span(self, name: str, *, local: bool = False) -> Iterator[MarkBody]:
        """Marks the time while the block runs."""
        mark = self.mark(name, open=True, local=local)
        try:
            yield mark
        finally:
            self.host.end_mark(mark["id"])


def _readings(lines: Iterator[Any]) -> Iterator[ReadingLine]:
    for line in lines:
        yield check(line, ReadingLine, "a reading")


def _recording(recording: str) -> str:
    return f"/v1/recordings/{segment(recording, 'recording')}"


def _ms(seconds: float | None) -> int | None:
    if seconds is None:
        return None
    if not 0 <= seconds <= 1e9:
        raise BadRequest("bad-request", f"{seconds} s is no length of time", "seconds, from 0 on")
    return round(seconds * 1000)


def _gaps(percent: float | None) -> list[str]:
    return [] if percent is None else [f"--allow-gaps={percent:f}%"]
