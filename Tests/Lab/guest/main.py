#!/usr/bin/python3
"""Runs the laboratory's checks in the guest. usage: main.py [PART or CHECK…]

Ends with 0 when all passed, 1 when one failed, 90 when the laboratory itself is at fault.
"""

import json
import os
import sys
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Support"))
from bench import Bench  # noqa: E402
from checks import Skip, chosen  # noqa: E402
from host import LaboratoryFault  # noqa: E402

# In this order they are made.
import control_checks  # noqa: E402,F401
import meter_checks  # noqa: E402,F401
import bulk_checks  # noqa: E402,F401
import replay_checks  # noqa: E402,F401
import fault_checks  # noqa: E402,F401
from harness import Failure  # noqa: E402
import pi_checks  # noqa: E402,F401
import people_checks  # noqa: E402,F401
import host_checks  # noqa: E402,F401
import pairing_checks  # noqa: E402,F401
import name_checks  # noqa: E402,F401
import relay_checks  # noqa: E402,F401
import two_host_checks  # noqa: E402,F401
import neighbour_checks  # noqa: E402,F401
import situation_checks  # noqa: E402,F401
import installed_checks  # noqa: E402,F401

RESULTS = "/lab"
PASSED, FAILED, LABORATORY = 0, 1, 90


def run(check, bench, late):
    """The outcome of one check, as a row of the summary."""
    began = time.monotonic()
    outcome, said = "passed", None
    try:
        if late:
            raise Failure("not made: the checks before it took all the time")
        said = check.function(bench)
    except Skip as skip:
        outcome, said = "skipped", str(skip)
    except Failure as failure:
        outcome, said = "failed", str(failure)
    except LaboratoryFault as fault:
        outcome, said = "laboratory", str(fault)
    except Exception as error:  # the check's own fault counts as a failure: nothing is hidden
        traceback.print_exc(file=sys.stdout)
        outcome, said = "failed", repr(error)
    finally:
        bench.tidy()
    row = {"part": check.part, "check": check.name, "outcome": outcome,
           "seconds": round(time.monotonic() - began, 1), "said": said}
    mark = {"passed": "ok  ", "failed": "FAIL", "skipped": "skip", "laboratory": "LAB "}[outcome]
    print(f"{mark} {check.part:9} {check.name:44} {row['seconds']:6.1f} s  {said or ''}", flush=True)
    return row


def main():
    rows = []
    status = PASSED
    began = time.monotonic()
    try:
        bench = Bench(RESULTS)
        for check in chosen(sys.argv[1:]):
            rows.append(run(check, bench, time.monotonic() - began > bench.arguments["limit"]))
            if rows[-1]["outcome"] == "laboratory":
                status = LABORATORY
                break
        bench.close()
    except LaboratoryFault as fault:
        print(f"LAB  {fault}")
        status = LABORATORY
    if status == PASSED and any(row["outcome"] == "failed" for row in rows):
        status = FAILED
    with open(os.path.join(RESULTS, "summary.json"), "w") as file:
        json.dump(rows, file, indent=2)
    # The failures once more: of a long log often only the end is kept.
    for row in rows:
        if row["outcome"] == "failed":
            print(f"failed: {row['part']}: {row['check']}: {row['said']}")
    counts = {outcome: sum(row["outcome"] == outcome for row in rows) for outcome in ("passed", "failed", "skipped")}
    print(f"laboratory: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"
          f" in {time.monotonic() - began:.0f} s of the guest")
    # It ends threads that wait for ever, and writes nothing that is left.
    sys.stdout.flush()
    os._exit(status)


main()
