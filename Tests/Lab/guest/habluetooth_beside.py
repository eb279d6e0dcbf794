#!/usr/bin/python3
"""habluetooth as Home Assistant uses it, on one adapter, for some seconds; then what it met as JSON on stdout.

usage: habluetooth_beside.py ADAPTER ADDRESS SECONDS
"""

import asyncio
import json
import logging
import sys

import habluetooth
from habluetooth import BluetoothManager, BluetoothScanningMode, HaScanner, scanner_bleak, set_manager

ADAPTER, ADDRESS, SECONDS = sys.argv[1], sys.argv[2], float(sys.argv[3])
# Between two starts, seconds: Home Assistant starts a scanner anew when an integration is set up anew.
RESTART = 60
found = {"version": habluetooth.__version__, "resets": 0, "starts": 0, "failures": 0, "reports": 0, "devices": 0}


async def reset(adapter, address, gone_silent):
    """In place of what would end all links."""
    logging.error("reset of %s wanted, silent: %s", adapter, gone_silent)
    found["resets"] += 1
    return False


async def main():
    scanner_bleak.async_reset_adapter = reset
    manager = BluetoothManager()
    set_manager(manager)
    await manager.async_setup()
    devices = set()
    end = asyncio.get_running_loop().time() + SECONDS
    while asyncio.get_running_loop().time() < end:
        scanner = HaScanner(BluetoothScanningMode.ACTIVE, ADAPTER, ADDRESS)
        scanner.async_setup()
        found["starts"] += 1
        try:
            await scanner.async_start()
        except scanner_bleak.ScannerStartError as error:
            logging.error("not started: %s", error)
            found["failures"] += 1
            await asyncio.sleep(5)
            continue
        await asyncio.sleep(min(RESTART, max(0, end - asyncio.get_running_loop().time())))
        found["reports"] += len(scanner.discovered_devices)
        devices |= {device.address for device in scanner.discovered_devices}
        await scanner.async_stop()
    found["devices"] = len(devices)
    print(json.dumps(found), flush=True)

logging.basicConfig(level=logging.DEBUG, stream=sys.stderr, format="%(asctime)s %(name)s: %(message)s")
asyncio.run(main())
