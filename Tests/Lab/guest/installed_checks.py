"""What a Debian machine has that installed the package: the unit, its rules, its root half. Made where systemd runs."""

import glob
import os
import platform
import subprocess

from adapter import SerialAdapter
from checks import Skip, check
from fault_checks import connected
from harness import Failure, wait
from installed import InstalledMeterd, keep_journal, package_is_installed, systemctl
from meter_checks import at_its_plug, over_radio, udev_rules_tell_and_grant
from people_checks import keep

METER = "um25c"
# meterd tries what is gentler first, and a chip that does not answer makes each of the kernel's commands wait.
LADDER_SECONDS = 420


def unit(bench):
    """The installed meterd, beside Debian's bluetoothd as on any machine."""
    if not os.path.isdir("/run/systemd/system"):
        raise Skip("no systemd here")
    if not isinstance(bench._program, InstalledMeterd):
        subprocess.run(["systemctl", "unmask", "bluetooth.service"], check=True)
        subprocess.run(["systemctl", "start", "bluetooth.service"], check=True)
        bench.use(InstalledMeterd(bench.results))
    return bench.program


@check("installed", usual=False)
def the_package_is_installed(bench):
    """dpkg says so, the unit is enabled and runs, as its own user, and speaks to bluetoothd's machine."""
    program = unit(bench)
    version = package_is_installed("meter-gateway")
    if (enabled := systemctl("is-enabled", program.UNIT)) != "enabled":
        raise Failure(f"{program.UNIT} is {enabled}")
    user = subprocess.run(["ps", "-o", "user=", "-p", str(program.pid)], capture_output=True, text=True,
                          check=False).stdout.strip() if os.path.exists("/usr/bin/ps") else systemctl(
                              "show", "--property=User", "--value", program.UNIT)
    if user != "meterd":
        raise Failure(f"it runs as {user}")
    return f"{version}, {platform.machine()}, Linux {platform.release()}, {systemctl('is-active', 'bluetooth')} bluetoothd"


@check("installed", usual=False)
def the_unit_reads_over_le(bench):
    unit(bench)
    return over_radio(bench, METER)


@check("installed", usual=False)
def the_unit_reads_over_rfcomm(bench):
    unit(bench)
    return over_radio(bench, METER, "spp")


@check("installed", usual=False)
def the_unit_reads_a_serial_port(bench):
    unit(bench)
    return at_its_plug(bench, bench.tc66c, "28e9", "serial")


@check("installed", usual=False)
def the_unit_reads_a_report_node(bench):
    unit(bench)
    return at_its_plug(bench, bench.fnb58_plug, "2e3c", "hid")


@check("installed", usual=False)
def the_packages_rules_tell_and_grant(bench):
    """As with the project's rules, which the package brings."""
    unit(bench)
    return udev_rules_tell_and_grant(bench)


@check("installed", usual=False)
def doctor_finds_the_machine_well(bench):
    """Kept in people.txt with scan and status, and a bundle is written."""
    program = unit(bench)
    connected(bench)
    said = keep(bench, "the package's unit, a meter connected", "scan --for 1s", "status", "doctor")[-1]
    if bench.adapter_address not in said.out:
        raise Failure(f"the adapter is not in doctor's: {said}")
    program.must("doctor", "--bundle", os.path.join(bench.results, "bundle.json"))
    return f"exit {said.status}; all is in people.txt"


@check("installed", usual=False)
def a_chip_that_hung_is_bound_anew(bench):
    """It answers no command until its power is cut: root unbinds and binds it for meterd, and the meter has data again."""
    if not isinstance(bench.adapter, SerialAdapter):
        raise Skip("the adapter is not behind a serial port")
    program = unit(bench)
    states = connected(bench)
    before = bench.host.ask("radio", index=0)["power_cuts"]
    bench.host.ask("adapter", index=0, hung=True)
    bench.after(bench.host.ask, "adapter", index=0, hung=False)
    wait(lambda: f"the chip's power is cut; {program.get('/v1/status')['adapters']}",
         lambda: bench.host.ask("radio", index=0)["power_cuts"] > before, LADDER_SECONDS)
    states.until("data-available", seconds=120)
    found = keep(bench, "after a chip had hung", "doctor")[0]
    if "of the kernel unanswered" not in found.out:
        raise Failure(f"doctor does not name the kernel's lines: {found}")
    said = systemctl("show", "--property=Result", "--value", "meterd-rebind.service")
    lines = subprocess.run(["journalctl", "--quiet", "--output=cat", "--unit=meterd-rebind.service"], capture_output=True,
                           text=True, check=False).stdout.splitlines()
    keep_journal(bench.results)
    return f"{said}: {next((line for line in lines if 'is unbound' in line), lines[-1:])}; {' → '.join(states.seen)}"


@check("installed", usual=False)
def a_radio_that_is_switched_off_in_the_firmware(bench):
    """No adapter, and the line that Raspberry Pi documents: doctor names it and what to do."""
    if not isinstance(bench.adapter, SerialAdapter):
        raise Skip("the adapter is not behind a serial port")
    unit(bench)
    path = "/boot/firmware/config.txt"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write("dtoverlay=disable-bt\n")
    bench.after(os.unlink, path)
    bench.adapter.pull()
    bench.after(bench.adapter.plug)
    wait("the adapter is gone", lambda: not glob.glob("/sys/class/bluetooth/hci*"), 20)
    said = wait("doctor names the line", lambda: (said := bench.program.ctl("doctor")) and "disable-bt" in said.out and said, 30)
    keep(bench, "the radio is switched off in the firmware", "doctor")
    return next(line.strip() for line in said.out.splitlines() if "disable-bt" in line)


@check("installed", usual=False)
def the_unit_ends_well(bench):
    """systemctl stop: with 0, its socket is gone, and nothing in its journal is an error."""
    program = unit(bench)
    program.stop()
    if os.path.exists(program.socket):
        raise Failure("its socket is still there")
    keep_journal(bench.results)
    return program.last_lines(1)
