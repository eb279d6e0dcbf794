"""bleak-esphome, unmodified, in front of a simulated Bluetooth proxy: run in its venv, with the port and the key.

It does what Home Assistant does: habluetooth takes the place of bleak, bleak-esphome registers the proxy as a scanner, and
bleak-retry-connector connects."""

import asyncio
import sys

import bleak_esphome
import bleak_retry_connector
from aioesphomeapi import APIClient
from habluetooth import BluetoothManager

from client import KEY, LENGTH, MODEL, PORT, REQUEST, SOON, expect

# What `meterctl simulate --proxy` gives its meter.
METER = "02:00:00:00:E5:25"
LINE = "0000ffe1-0000-1000-8000-00805f9b34fb"


class Manager(BluetoothManager):
    def _discover_service_info(self, service_info):
        """Home Assistant looks for integrations here."""


async def until(words, look):
    for _ in range(SOON * 10):
        if found := look():
            return found
        await asyncio.sleep(0.1)
    return expect(words, False)


async def read_frame(manager, slots, ended):
    """Connects as an integration does, and returns the client once a frame was read."""
    device = await until("the meter is not heard", lambda: manager.async_ble_device_from_address(METER, True))
    client = await bleak_retry_connector.establish_connection(
        # habluetooth has put its own class there.
        bleak_retry_connector.BleakClientWithServiceCache, device, device.name, disconnected_callback=ended.append,
        max_attempts=1)
    expect(f"free slots: {slots.ble_connections_free}", slots.ble_connections_free == 2)
    found = [service.uuid[4:8] for service in client.services]
    expect(f"its services are {found}, its mtu is {client.mtu_size}", found == ["1800", "ffe0"] and client.mtu_size == 23)
    values = asyncio.Queue()
    await client.start_notify(LINE, lambda _, data: values.put_nowait(bytes(data)))
    await client.write_gatt_char(LINE, REQUEST, response=False)
    frame = b""
    while len(frame) < LENGTH:
        frame += await asyncio.wait_for(values.get(), SOON)
    expect(f"the frame is {frame[:4].hex()}…, {len(frame)} bytes", len(frame) == LENGTH and frame[:2] == MODEL)
    return client


async def main():
    api = APIClient("127.0.0.1", PORT, None, client_info="a test", noise_psk=KEY)
    await api.connect(login=True)
    manager = Manager()
    await manager.async_setup()
    proxy = bleak_esphome.connect_scanner(api, await api.device_info(), True)
    ends = [manager.async_register_scanner(proxy.scanner), proxy.scanner.async_setup()]
    slots, ended = proxy.bluetooth_device, []
    # The second link is made with the services that are known from the first.
    for count in (1, 2):
        client = await read_frame(manager, slots, ended)
        expect("the link ended by itself", len(ended) == count - 1)
        await client.disconnect()
        expect(f"{len(ended)} ends, {slots.ble_connections_free} free slots", len(ended) == count)
        await until("the slot does not come back", lambda: slots.ble_connections_free == 3)
    for end in ends:
        end()
    manager.async_stop()
    await api.disconnect()
    print(f"bleak-esphome reads a UM25C through the simulated proxy, {'sealed' if KEY else 'in plain text'}")


asyncio.run(main())
