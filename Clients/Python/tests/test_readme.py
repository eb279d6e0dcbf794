"""The README's three examples run."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import BINARIES
from labgrid.factory import target_factory

from meter_gateway import Meter

README = (Path(__file__).parents[1] / "README.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def run(bench: Meter, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = f"{BINARIES}:{os.environ['PATH']}"
    environment = os.environ | {"METERD_SOCKET": str(bench.host.transport.socket_path), "PATH": path}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_there_are_three_examples() -> None:
    assert len(EXAMPLES) == 3


def test_looks_at_a_meter(bench: Meter) -> None:
    said = run(bench, "-c", EXAMPLES[0])
    assert said.returncode == 0, said.stderr
    assert "bench data-available" in said.stdout
    assert "0.012 A" in said.stdout
    assert "Wh, of which nothing is known for" in said.stdout
    assert re.search(r"^max .*0\.06", said.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [("", "", r"\d+\.?\d* Wh|^measure again"), ("2 W", "1 mW", r"too much: .*max\(power\) < 1 mW: broken"),
     ("mean(", "mien(", r"^bad-request .*mien"), ('"bench"', '"nobody"', "^no-such-meter ")],
)  # fmt: skip
def test_measures_and_tells_what_went_wrong(bench: Meter, old: str, new: str, told: str) -> None:
    assert old in EXAMPLES[1]
    said = run(bench, "-c", EXAMPLES[1].replace(old, new) if old else EXAMPLES[1])
    assert said.returncode == 0, said.stderr
    assert re.search(told, said.stdout), said.stdout
    assert bench.status()["wanted"]


def test_tests_a_device(bench: Meter, tmp_path: Path) -> None:
    (tmp_path / "test_device.py").write_text(EXAMPLES[2].replace("allow_gaps=2", "allow_gaps=50"))
    options = ["-p", "no:cacheprovider", "--power-meter=bench", "-o", "power_allow_gaps=50", f"--rootdir={tmp_path}"]
    said = run(bench, "-m", "pytest", *options, str(tmp_path))
    assert "2 passed" in said.stdout, said.stdout + said.stderr
    assert "mean(current) <= 40 mA: kept" in said.stdout


def test_the_labgrid_example_names_what_is_there() -> None:
    text = next(iter(re.findall(r"^```yaml\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)))
    environment = yaml.safe_load(text)
    for module in environment["imports"]:
        importlib.import_module(module)
    target = environment["targets"]["main"]
    for name in (*target["resources"], *target["drivers"]):
        assert target_factory.class_from_string(name).__module__ == "meter_gateway.labgrid"
