"""Beside others that look for devices: theirs begins while meterd runs."""

import json
import os
import subprocess
import time

from checks import Skip, check
from fault_checks import connected
from harness import Failure, wait
from host_checks import BluetoothDaemon

MINUTES = 10


def begins(bench, command):
    """Seconds until bluetoothd has begun to discover for bluetoothctl."""
    began = time.monotonic()
    bench.bluetoothd.tell(command, "Discovery started", 20, error=Failure)
    seconds = time.monotonic() - began
    bench.bluetoothd.tell("scan off", "Discovery stopped")
    return seconds


@check("bluetoothd")
def others_discover_while_meterd_runs(bench):
    """With a meter linked, StartDiscovery succeeds within seconds: of a bluetoothd that has just started, and in a round of ours."""
    connected(bench)
    bench.bluetoothd = bench.bluetoothd or BluetoothDaemon(bench.results)
    took = [begins(bench, "scan on")]
    # A person looks, so that a round of ours runs.
    wait("meterd looks", lambda: bench.program.get("/v1/scan") is not None and
         bench.program.adapter(bench.adapter_address)["state"] == "searching", 30)
    took.append(begins(bench, "scan le"))
    if bench.program.state(bench.meters["um25c"]["address"]) != "data-available":
        raise Failure("the meter's link suffered")
    return ", ".join(f"{seconds:.1f} s" for seconds in took)


@check("habluetooth", usual=False)
def beside_home_assistants_scanner(bench):
    """Ten minutes with three meters: no reset of the adapter, no link lost, and its own search served."""
    folder = bench.arguments["habluetooth"]
    if not folder:
        raise Skip("its wheels were not fetched: name the part, not the check")
    program = bench.program
    addresses = [bench.meters[meter]["address"] for meter in ("um25c", "tc66c-b", "atorch")]
    for address in addresses:
        bench.heard(address)
        program.connect(address, "ble")
        bench.after(program.disconnect, address)
    bench.bluetoothd = bench.bluetoothd or BluetoothDaemon(bench.results)
    before = [program.meter(address)["counters"] for address in addresses]
    recoveries = program.adapter(bench.adapter_address)["recoveries"]
    listened, began = bench.host.ask("radio", index=0)["listened"], time.monotonic()
    script = os.path.join(os.path.dirname(__file__), "habluetooth_beside.py")
    with open(os.path.join(bench.results, "habluetooth.log"), "w") as log:
        said = subprocess.run(
            ["/usr/bin/python3", script, f"hci{bench.adapter.index}", bench.adapter_address, str(MINUTES * 60)],
            env=dict(os.environ, PYTHONPATH=folder), stdout=subprocess.PIPE, stderr=log, text=True,
            timeout=MINUTES * 60 + 120)
    if said.returncode:
        raise Failure(f"habluetooth ended with {said.returncode}: habluetooth.log")
    found = json.loads(said.stdout.splitlines()[-1])
    lost = sum(program.meter(address)["counters"]["disconnects"] - counters["disconnects"]
               for address, counters in zip(addresses, before, strict=True))
    looked_after = program.adapter(bench.adapter_address)["recoveries"] - recoveries
    share = (bench.host.ask("radio", index=0)["listened"] - listened) / (time.monotonic() - began)
    words = (f"{found['resets']} resets, {found['failures']} failed starts of {found['starts']}, {found['reports']} reports of"
             f" {found['devices']} devices; {lost} links lost; {share:.0%} of the air with both; {looked_after} remedies")
    if found["resets"] or lost or looked_after or not found["reports"]:
        raise Failure(words)
    return words
