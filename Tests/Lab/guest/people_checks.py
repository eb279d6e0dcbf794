"""What a person reads. The outputs are kept whole, to be looked at: people.txt."""

import os

from checks import check
from fault_checks import connected
from harness import Failure, wait
from meter_checks import RADIO, plugged_meter


def keep(bench, title, *commands, program=None):
    """Puts what meterctl says into people.txt under a title, and returns it."""
    said = []
    with open(os.path.join(bench.results, "people.txt"), "a") as file:
        file.write(f"## {title}\n\n")
        for command in commands:
            words = command.split() if isinstance(command, str) else command
            said.append((program or bench.program).ctl(*words))
            file.write(f"$ meterctl {' '.join(words)}; echo $?\n{said[-1].out}{said[-1].err}{said[-1].status}\n\n")
    return said


@check("people")
def scan_status_and_doctor_read_well(bench):
    """With meters on the air and at the plugs: each is named in each, and doctor finds fault with what is missing only."""
    for meter in RADIO:
        bench.heard(bench.meters[meter]["address"])
    for plug, vendor in ((bench.km003c, "5fc9"), (bench.fnb58_plug, "2e3c")):
        plug.plug()
        bench.after(plug.pull)
        wait("the meter is seen", lambda vendor=vendor: plugged_meter(bench.program, vendor), 30)
    connected(bench)
    commands = ("scan --for 1s", "status", "doctor")
    said = dict(zip(commands, keep(bench, "meters on the air and at the plugs", *commands)))
    missing = [f"{bench.adapter_address} in doctor's"] if bench.adapter_address not in said["doctor"].out else []
    for identifier in [bench.meters[meter]["address"] for meter in RADIO] + [
            plugged_meter(bench.program, vendor)["id"] for vendor in ("5fc9", "2e3c")]:
        missing += [f"{identifier} in {words}" for words in ("scan --for 1s", "status")
                    if identifier not in said[words].out]
    problems = [line for line in said["doctor"].out.splitlines() if "problem" in line.lower()]
    if missing or said["scan --for 1s"].status or said["status"].status:
        raise Failure(f"not shown: {', '.join(missing)}; {[str(one) for one in said.values()]}")
    return f"{len(problems)} problems by doctor; all is in people.txt"
