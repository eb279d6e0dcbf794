"""Real programs on temporary sockets: a meterd with boards of known current, and a demo of two hosts."""

import contextlib
import itertools
import os
import shutil
import sys
import tempfile
import threading
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "Tests" / "Support"))
from harness import Demo, Meterd, wait  # noqa: E402

from meter_gateway import Host, Meter  # noqa: E402

BINARIES = Path(os.environ.get("METERD_BIN", ROOT / ".build" / "debug"))
METERCTL = str(BINARIES / "meterctl")
VOLTS = 5.0
# Of the boards, in seconds. A gap is more than a second, so that a busy machine makes none.
STEP = 0.05
SOON = 60


class Board:
    """A board that prints lines on a pseudo-terminal, with a current that the test knows."""

    def __init__(self, current: Callable[[int], float | None]) -> None:
        self.current = current
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        # Nobody may be reading it.
        os.set_blocking(self.master, False)
        self.path = os.ttyname(self.slave)
        self.is_silent = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._print, daemon=True)
        self._thread.start()

    def _print(self) -> None:
        for index in itertools.count():
            if self._ended.wait(STEP):
                return
            amperes = self.current(index)
            line = f"V={VOLTS:.3f}\n" if amperes is None else f"V={VOLTS:.3f};A={amperes:.5f}\n"
            if not self.is_silent:
                with contextlib.suppress(BlockingIOError):
                    os.write(self.master, line.encode())

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        os.close(self.master)
        os.close(self.slave)


def pulses(index: int) -> float:
    """12 mA with 60 mA every fourth time: 24 mA in the mean, 60 at most."""
    return 0.060 if index % 4 == 0 else 0.012


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    """A short path, since a socket's is limited."""
    path = Path(tempfile.mkdtemp(prefix="mg-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="session")
def host(folder: Path) -> Iterator[Host]:
    """A meterd without meters of its own."""
    place = folder / "one"
    place.mkdir()
    meterd = Meterd(str(BINARIES), str(place), configuration="[web]\nserve = false\n")
    meterd.start(SOON)
    yield Host(meterd.socket, meterctl=METERCTL)
    meterd.stop(SOON)


@pytest.fixture(scope="session")
def make_meter(host: Host) -> Iterator[Callable[[str, Callable[[int], float | None]], tuple[Meter, Board]]]:
    """Connects a board under a name."""
    boards = []

    def make(name: str, current: Callable[[int], float | None]) -> tuple[Meter, Board]:
        board = Board(current)
        boards.append(board)
        meter = host.meter(host.meter(board.path).connect(SOON, model="generic")["id"])
        meter.set({"name": name})
        return meter, board

    yield make
    for board in boards:
        board.end()


@pytest.fixture(scope="session")
def bench(make_meter: Callable[..., tuple[Meter, Board]]) -> Meter:
    """A meter with pulses, and something stored."""
    meter, _ = make_meter("bench", pulses)
    time.sleep(2)
    return meter


@pytest.fixture(scope="session")
def demo(folder: Path) -> Iterator[Demo]:
    """meterd --demo: two hosts, four simulated meters."""
    place = folder / "demo"
    place.mkdir()
    meterd = Demo(str(BINARIES), str(place))
    meterd.start(SOON)
    wait("all meters have data", lambda: len(meterd.with_data()) == 4, SOON)
    yield meterd
    meterd.stop(SOON)


@pytest.fixture(scope="session")
def demo_host(demo: Demo) -> Host:
    return Host(demo.socket, meterctl=METERCTL)
