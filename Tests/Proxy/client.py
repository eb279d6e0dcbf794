"""aioesphomeapi, unmodified, in front of a simulated node: run in its venv, with the port and the key. It reads the meter that a
Bluetooth proxy hears; with `hold` it keeps the proxy until it is ended, with `sensors` it reads a board's own."""

import asyncio
import base64
import os
import sys

from aioesphomeapi import APIClient
from aioesphomeapi.core import InvalidEncryptionKeyAPIError

PORT, KEY = int(sys.argv[1]), sys.argv[2] or None
# What `meterctl simulate --proxy` gives its meter.
METER = 0x02000000E525
# Docs/Protocols/UM.md#block: a request of one byte, and an answer of 130 that begins with the model.
REQUEST, LENGTH, MODEL = b"\xf0", 130, bytes.fromhex("09c9")
SOON = 20


def expect(words, holds):
    if not holds:
        sys.exit(f"finding: {words}")


def make(key=KEY):
    return APIClient("127.0.0.1", PORT, None, client_info="a test", noise_psk=key)


async def subscribed(client):
    """Subscribes, and returns what came of advertisements until one was the meter's; None where nothing comes."""
    heard = asyncio.get_running_loop().create_future()

    def take(batch):
        for one in batch.advertisements:
            if one.address == METER and not heard.done():
                heard.set_result(one)

    client.subscribe_bluetooth_le_raw_advertisements(take)
    try:
        return await asyncio.wait_for(heard, 5)
    except TimeoutError:
        return None


async def read_frame(client, services):
    line = {c.uuid[4:8]: c for s in services for c in s.characteristics}["ffe1"]
    expect("FFE1 has no descriptor to subscribe with", [d.uuid[4:8] for d in line.descriptors] == ["2902"])
    values = asyncio.Queue()
    await client.bluetooth_gatt_start_notify(METER, line.handle, lambda _, data: values.put_nowait(bytes(data)))
    await client.bluetooth_gatt_write(METER, line.handle, REQUEST, response=False)
    await asyncio.sleep(1)
    expect("it notifies before the descriptor is written", values.empty())
    await client.bluetooth_gatt_write_descriptor(METER, line.descriptors[0].handle, b"\x01\x00", wait_for_response=True)
    await client.bluetooth_gatt_write(METER, line.handle, REQUEST, response=True)
    frame = b""
    while len(frame) < LENGTH:
        frame += await asyncio.wait_for(values.get(), SOON)
    expect(f"the frame is {frame[:4].hex()}…, {len(frame)} bytes", len(frame) == LENGTH and frame[:2] == MODEL)


async def read_sensors(client):
    """Lists the board's sensors and hears each twice: what it remembers, and what it measures next."""
    entities, services = await client.list_entities_services()
    listed = {one.object_id: (type(one).__name__, one.unit_of_measurement, one.device_class) for one in entities}
    expected = {f"bus_{name}": ("SensorInfo", unit, name) for name, unit in (
        ("voltage", "V"), ("current", "mA"), ("power", "W"), ("energy", "kWh"), ("temperature", "°C"))}
    expect(f"it lists {listed} and {services}", (listed, services) == (expected, []))
    names = {one.key: one.object_id for one in entities}
    states, last, done = [], {}, asyncio.get_running_loop().create_future()

    def take(state):
        states.append(state)
        last[names[state.key]] = state
        if len(states) >= 3 * len(names) and not done.done():
            done.set_result(None)

    client.subscribe_states(take)
    await asyncio.wait_for(done, SOON)
    expect("its states are not in order", [names[s.key] for s in states] == list(names.values()) * 3)
    value = {name[4:]: state.state for name, state in last.items()}
    expect(f"it measures {value}", not any(s.missing_state for s in last.values())
           and abs(value["voltage"] * value["current"] / 1000 - value["power"]) < 0.01 and value["voltage"] > 4)


async def main():
    client = make()
    await client.connect(login=True)
    if "sensors" in sys.argv:
        await read_sensors(client)
        await client.disconnect()
        print(f"aioesphomeapi reads the sensors of the simulated board, {'sealed' if KEY else 'in plain text'}")
        return
    if "hold" in sys.argv:
        expect("the proxy is taken", await subscribed(client) is not None)
        print("holds the proxy", flush=True)
        await asyncio.Event().wait()
    info = await client.device_info()
    expect(f"its features are {info.bluetooth_proxy_feature_flags}", info.bluetooth_proxy_feature_flags == 255)
    heard = await subscribed(client)
    expect("the meter is not heard", heard is not None and b"UM25C" in heard.data and heard.rssi < 0)
    free = []
    client.subscribe_bluetooth_connections_free(lambda *counts: free.append(counts[0]))

    other = make()
    await other.connect(login=True)
    expect("a second client is told of meters", await subscribed(other) is None)
    await other.disconnect()

    ups = []
    cancel = await client.bluetooth_device_connect(
        METER, lambda is_up, mtu, error: ups.append((is_up, mtu)), timeout=SOON, feature_flags=255, has_cache=False,
        address_type=0)
    expect(f"the link is {ups}", ups == [(True, 23)])
    found = await client.bluetooth_gatt_get_services(METER)
    expect(f"it has {len(found.services)} services", [s.uuid[4:8] for s in found.services] == ["1800", "ffe0"])
    name = await client.bluetooth_gatt_read(METER, found.services[0].characteristics[0].handle)
    expect(f"it is called {name}", bytes(name) == b"UM25C")
    await read_frame(client, found.services)
    expect(f"free slots: {free}", free[-1] == 2)
    await client.bluetooth_device_disconnect(METER, timeout=SOON)
    cancel()
    await asyncio.sleep(0.5)
    expect(f"free slots: {free}", free[-1] == 3)
    await client.disconnect()
    if KEY:
        try:
            await make(base64.b64encode(os.urandom(32)).decode()).connect(login=True)
            sys.exit("finding: a wrong key is taken")
        except InvalidEncryptionKeyAPIError:
            pass
    print(f"aioesphomeapi reads a UM25C through the simulated proxy, {'sealed' if KEY else 'in plain text'}")


if __name__ == "__main__":
    asyncio.run(main())
