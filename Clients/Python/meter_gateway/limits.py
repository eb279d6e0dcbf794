"""Limits. The program meterctl measures and judges; this module starts it and reads its output."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from .errors import BadAnswer, BadRequest, LimitBroken, LimitUndecided, MeterError, NoProgram, Refused
from .transport import Transport, check, decode

Verdict = Literal["kept", "broken", "undecided"]
# Exit codes with a report, and the error codes of the others (Docs/CommandLine.md#errors).
JUDGED = (0, 8, 9, 10)
CODES = {2: "bad-request", 3: "no-such-meter", 4: "held", 5: "timed-out", 6: "permission", 7: "unreachable"}
# The program during which meterctl measures. It reports its begin, and ends with its input, also if Python is killed.
UNTIL_CLOSED = ("sh", "-c", "echo measuring; exec cat >/dev/null")


class LimitResult(TypedDict):
    """The verdict on one limit. Values are in base units, and None if unknown."""

    limit: str
    verdict: Verdict
    value: float | None
    bound: float
    unit: str | None
    reason: str | None


class Judgement(TypedDict):
    """The output of `meterctl assert --json`. The verdict is that of all limits together."""

    subject: str
    verdict: Verdict
    readings: int
    lost_readings: int
    duration_ms: int
    gap_ms: int
    limits: list[LimitResult]


@dataclass
class Measurement:
    """A measurement that goes on, or has ended."""

    judgement: Judgement | None = None


def describe(result: LimitResult) -> str:
    """Returns one line: limit, verdict, reason, measured value."""
    value = "–" if result["value"] is None else f"{result['value']:.6g} {result['unit'] or ''}".rstrip()
    reason = f", {result['reason']}" if result["reason"] else ""
    return f"{result['limit']}: {result['verdict']}{reason}, measured {value}"


def require_kept(judgement: Judgement) -> Judgement:
    """Returns the judgement. LimitBroken or LimitUndecided where a limit is not kept."""
    if judgement["verdict"] == "kept":
        return judgement
    told = [describe(result) for result in judgement["limits"] if result["verdict"] == judgement["verdict"]]
    words = f"{judgement['subject']}: " + "; ".join(told)
    measured = f"{judgement['readings']} readings in {judgement['duration_ms'] / 1000:g} s"
    if judgement["verdict"] == "broken":
        raise LimitBroken("limit-broken", words, measured)
    raise LimitUndecided("limit-undecided", words, f"{measured}; allow_gaps accepts missing time")


class Judge:
    """Runs meterctl assert."""

    def __init__(self, transport: Transport, program: str | None) -> None:
        self._transport = transport
        self._program = program

    def judge(self, subject: Sequence[str], options: Sequence[str], limits: Sequence[str]) -> Judgement:
        """Judges the limits of a meter, or of a recording that the options name."""
        process = self._start(subject, options, limits, ())
        try:
            out, said = process.communicate()
        finally:
            process.kill()
        return _judgement(process.returncode, out, said)

    @contextlib.contextmanager
    def judging(self, meter: str, options: Sequence[str], limits: Sequence[str]) -> Iterator[Measurement]:
        """Measures while the block runs. Afterwards the measurement has a judgement."""
        process = self._start((meter,), options, limits, UNTIL_CLOSED)
        measurement = Measurement()
        assert process.stdin and process.stderr and process.stdout  # noqa: S101 - for mypy: all are pipes
        try:
            said = b""
            # Unbuffered, so that communicate() misses nothing.
            while (line := process.stderr.readline()) and line.strip() != b"measuring":
                said += line
            if not line:
                out, _ = process.communicate()
                _judgement(process.returncode, out, said)
                raise BadAnswer("bad-answer", "meterctl ended before it measured", "see whether it runs by hand")
            yield measurement
            # Closes its input first.
            out, more = process.communicate()
            # The program that is measured always ends well, so that 10 is no verdict.
            measurement.judgement = _judgement(process.returncode, out, said + more)
        finally:
            for pipe in (process.stdin, process.stdout, process.stderr):
                with contextlib.suppress(OSError):
                    pipe.close()
            process.terminate()
            process.wait()

    def _start(
        self, subject: Sequence[str], options: Sequence[str], limits: Sequence[str], command: Sequence[str]
    ) -> subprocess.Popen[bytes]:
        socket_path = self._transport.socket_path
        if socket_path is None:
            raise Refused(
                "refused",
                f"meterctl judges over the control socket, not over {self._transport.name}",
                "judge on that host, or forward its socket: ssh -L /tmp/meterd.sock:/run/meterd/control.sock HOST",
            )
        if isinstance(limits, str) or not limits:
            raise BadRequest("bad-request", "a limit is missing", "'mean(current) < 15 mA'")
        for word in (*subject, *limits):
            # It would be taken for an option.
            if word.startswith("-") or "\0" in word:
                raise BadRequest("bad-request", f"{word!r} is neither a meter nor a limit", "'mean(current) < 15 mA'")
        program = self._program or shutil.which("meterctl")
        if program is None:
            raise NoProgram("no-program", "meterctl is not on the PATH", "install it, or say where it is: meterctl=…")
        words = [program, "assert", "--json", "--socket", socket_path, *options, *subject, *limits]
        words += ["--", *command] if command else []
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                words, stdin=pipe if command else subprocess.DEVNULL, stdout=pipe, stderr=pipe, bufsize=0
            )
        except (OSError, ValueError) as error:
            raise NoProgram("no-program", f"{program} cannot be started: {error}", "is it meterctl?") from error


def _judgement(status: int, out: bytes, said: bytes) -> Judgement:
    if status in JUDGED:
        return check(decode(out, "the answer of meterctl assert"), Judgement, "the answer of meterctl assert")
    lines = [line for line in said.decode(errors="replace").splitlines() if line.strip()]
    at = next((number for number, line in enumerate(lines) if line.startswith(("meterctl: error: ", "Error: "))), 0)
    message = lines[at].partition("rror: ")[2] or lines[at] if lines else f"meterctl ended with {status}"
    raise MeterError.of(CODES.get(status, "internal"), message, " ".join(lines[at + 1 : at + 2]))
