"""What meterd costs in instructions, counted by an emulator.

The laboratory's kernel runs on an emulated machine whose clock counts instructions, one each nanosecond. What that kernel says a
process took of the processor are then the instructions that were carried out for it, in itself and in the kernel, on any machine
and however busy that is.
"""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LABORATORY = os.path.join(ROOT, "Tests", "Lab")
sys.path.insert(0, LABORATORY)
from harness import Failure  # noqa: E402
from files import LaboratoryFault, Unreachable, default_work, fetch  # noqa: E402
from initramfs import make_initramfs  # noqa: E402
from machines import AMD64, ARM64  # noqa: E402

# Seconds of the guest, in which five batches are written.
COUNTED = 300
# Seconds of this machine, for a guest that never ends; it takes one or two minutes.
LIMIT = 1200


def take_package(at):
    """Unpacks the package for arm64: the folder of its programs, as the guest sees it."""
    package = os.path.join(ROOT, ".build", "deb", "meter-gateway-arm64.deb")
    if not os.path.exists(package):
        raise Failure(f"there is no {package}: make deb ARCH=arm64")
    subprocess.run(["dpkg-deb", "--extract", package, os.path.join(at, "package")], check=True)
    return "/lab/package/usr/bin"


def count(architecture, binaries):
    """The figures by name; none where the laboratory's files cannot be fetched.

    - binaries: where meterd and meterctl are; for arm64, the package's are taken.
    """
    work = default_work()
    try:
        kind = ARM64(fetch(work, "arm64")) if architecture == "arm64" else AMD64(fetch(work))
    except Unreachable:
        return {}
    except LaboratoryFault as fault:
        raise Failure(f"the laboratory: {fault}") from fault
    with tempfile.TemporaryDirectory(prefix="instructions-") as at:
        make_initramfs(kind, at)
        shutil.copy(os.path.join(HERE, "guest"), at)
        programs = take_package(at) if architecture == "arm64" else binaries
        with open(os.path.join(at, "arguments"), "w", encoding="utf-8") as file:
            file.write(f"programs='{programs}'\nseconds={COUNTED}\n")
        try:
            subprocess.run(["setpriv", "--pdeathsig", "TERM", *kind.counting("/lab/guest")], cwd=at, check=True, timeout=LIMIT)
            with open(os.path.join(at, "figures"), encoding="ascii") as file:
                found = figures({name: int(value) for name, value in map(str.split, file)})
        except (subprocess.SubprocessError, FileNotFoundError, KeyError) as error:
            with open(os.path.join(at, "serial.log"), errors="replace", encoding="utf-8") as file:
                raise Failure(f"the guest that counts failed: {error}\n{file.read()[-3000:]}") from error
    return {f"{architecture}_{name}": value for name, value in found.items()}


def figures(raw):
    """What is told of what the guest wrote: instructions in thousands."""
    found = {"instructions_start_k": raw["start_2_Hz"], "instructions_idle_k_a_second": raw["used_idle"] / COUNTED}
    for case in ("2_Hz", "10_Hz"):
        readings = raw[f"readings_{case}"] / (raw[f"asked_{case}"] / 100) * COUNTED
        found[f"instructions_{case}_k_a_reading"] = raw[f"used_{case}"] / readings
    return found
