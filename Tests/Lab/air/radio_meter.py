"""A meter with a radio: Bumble on one of btvirt's controllers, and the project's simulator as its inside.

What the radio modules of real meters do (services, characteristics, which kind of write they take, pieces of 20 octets)
is here; every octet that says something about electricity comes from the simulator.
"""

import asyncio
import collections
import dataclasses
import logging
import time

from bumble import att, core, hci, rfcomm
from bumble.core import AdvertisingData
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.host import Host

from controller import Controller

log = logging.getLogger("meter")
Properties = Characteristic.Properties

SERIAL_PORT = core.UUID("1101")
# How the far end learns that a link is gone (Core Specification, volume 1, part F).
OUT_OF_RANGE, SWITCHED_OFF = 0x08, 0x15
# Octets of a name, of one in an advertisement, and of all that is in an inquiry's extended answer (volume 4, part E;
# volume 3, part C).
LONGEST_NAME, LONGEST_ADVERTISED, LONGEST_ANSWER = 248, 29, 240


@dataclasses.dataclass
class Layout:
    """The characteristics of one kind of radio module: service, characteristic, properties."""

    write: tuple
    notify: tuple
    # Writes of the other kind get no answer.
    only_with_response: bool = False
    more: tuple = ()


# Tables of services are from the meters' protocol pages in Docs.
TRANSPARENT = Layout(
    write=("FFE0", "FFE1", Properties.WRITE_WITHOUT_RESPONSE | Properties.NOTIFY),
    notify=("FFE0", "FFE1", Properties.WRITE_WITHOUT_RESPONSE | Properties.NOTIFY),
    more=(("FFE0", "FFE2", Properties.WRITE_WITHOUT_RESPONSE),),
)
TC66_RADIO_A = Layout(
    write=("FFE5", "FFE9", Properties.WRITE),
    notify=("FFE0", "FFE4", Properties.NOTIFY),
    only_with_response=True,
    more=(("FFC0", "FFC1", Properties.WRITE), ("FFC0", "FFC2", Properties.NOTIFY)),
)
TC66_RADIO_B = Layout(
    write=("FFE0", "FFE2", Properties.WRITE | Properties.WRITE_WITHOUT_RESPONSE),
    notify=("FFE0", "FFE1", Properties.READ | Properties.NOTIFY),
    more=(("180A", "2A29", Properties.READ),),
)
FNIRSI = Layout(
    write=("FFE5", "FFE9", Properties.WRITE | Properties.WRITE_WITHOUT_RESPONSE),
    notify=("FFE0", "FFE4", Properties.NOTIFY),
    more=(("180A", "2A29", Properties.READ), ("FFC0", "FFC1", Properties.WRITE), ("FF90", "FF91", Properties.READ)),
)
ATORCH = Layout(
    write=("FFE0", "FFE1", Properties.WRITE | Properties.WRITE_WITHOUT_RESPONSE | Properties.NOTIFY),
    notify=("FFE0", "FFE1", Properties.WRITE | Properties.WRITE_WITHOUT_RESPONSE | Properties.NOTIFY),
)


@dataclasses.dataclass
class Kind:
    """What is put on the air under one name of the laboratory's."""

    model: str
    advertised_name: str
    layout: Layout
    strength: int
    # The channel of its serial port over classic Bluetooth, where it has one.
    serial_channel: int | None = None


class RadioMeter:
    """One meter. Its faults are switched with `set`."""

    # Until a link is ended that is refused, seconds: a few of its intervals.
    REFUSAL = 0.1

    def __init__(self, name, kind, make_simulator):
        self.name = name
        self.kind = kind
        # As it is on the air: octets, for a stranger's need be no text.
        self.called = kind.advertised_name.encode()
        self._make_simulator = make_simulator
        self.simulators = {}
        self.simulator_arguments = ()
        self.address = None
        self.on_air = False
        # Takes a link and ends it at once, as a module does whose owner is elsewhere.
        self.refuses = False
        # Keeps its links and says nothing over them.
        self.hangs = False
        # Without Secure Simple Pairing it wants this PIN over classic Bluetooth; None: it wants none.
        self.pin = None
        # By the adapter that has it as well.
        self.keys = {}
        # What was asked and how it came out (pairing.py).
        self.pairing = collections.Counter()
        self.links = set()
        # Whose link came up or went, in order: seconds of this machine, "up" or "down", the adapter's address.
        self.history = []
        # What hosts wrote over LE, as hexadecimal, and how often.
        self.written = collections.Counter()
        self._server = None
        self._channels = set()

    # MARK: the radio

    async def start(self, controller_path):
        """Switches the radio on."""
        controller = await Controller().connect(controller_path)
        host = Host(controller, controller)
        self.device = Device(
            config=DeviceConfiguration(
                name=self.kind.advertised_name,
                classic_enabled=self.kind.serial_channel is not None,
                le_enabled=True,
                connectable=False,
                discoverable=False,
            ),
            host=host,
        )
        self._add_services()
        if self.kind.serial_channel is not None:
            self._add_serial_port(self.kind.serial_channel)
        self.device.on("connection", self._connected)
        self._outgoing = asyncio.Queue()
        self._notifying = asyncio.get_running_loop().create_task(self._notify())
        await self.device.power_on()
        self.address = str(self.device.public_address).split("/")[0]
        await self.set_on(True)

    async def set_on(self, on):
        """On the air, or gone from it like a meter whose supply is cut."""
        if on == self.on_air:
            return
        self.on_air = on
        if on and not self.pin:
            await self._advertise()
        elif not on:
            await self.device.stop_advertising()
        if self.kind.serial_channel is not None:
            await self.device.set_discoverable(on)
            await self.device.set_connectable(on)

    async def call(self, octets):
        """Gives it another name."""
        self.called = octets
        if self.kind.serial_channel is not None:
            local = hci.HCI_Write_Local_Name_Command(local_name=b"")
            local.parameters = octets.ljust(LONGEST_NAME, b"\0")[:LONGEST_NAME]
            await self.device.send_sync_command(local)
            # The answer to an inquiry says it too, where it has room; otherwise nothing, and it is asked for.
            field = bytes([1 + len(octets), AdvertisingData.COMPLETE_LOCAL_NAME]) + octets
            # Bumble writes it again whenever the device is made discoverable.
            self.device.inquiry_response = field if len(field) <= LONGEST_ANSWER else b""
            await self.device.send_sync_command(hci.HCI_Write_Extended_Inquiry_Response_Command(
                fec_required=0, extended_inquiry_response=self.device.inquiry_response))
        if self.on_air and not self.links:
            await self._advertise_again()

    async def lock(self, pin):
        """Wants this PIN from now on, knows no key, and has no LE, as meters of that age; empty: as newer devices do."""
        self.pin = pin or None
        if pin:
            await self.device.stop_advertising()
        elif self.on_air:
            await self._advertise()
        self.keys.clear()
        self.pairing.clear()
        await self.device.send_sync_command(
            hci.HCI_Write_Simple_Pairing_Mode_Command(simple_pairing_mode=0 if pin else 1))

    async def vanish(self, reason=OUT_OF_RANGE):
        """Off the air, and its links end the way they do when nothing is heard any more."""
        await self.set_on(False)
        await self.drop(reason)

    async def drop(self, reason=SWITCHED_OFF):
        """Ends its links and stays on the air."""
        for link in list(self.links):
            try:
                await link.disconnect(reason)
            except Exception as error:  # it may have ended at the same moment
                log.info("%s: %r", self.name, error)

    @property
    def advertises(self):
        """Whether a scanner may hear it: one that is connected does not advertise."""
        return self.on_air and not self.pin and not any(link.transport == core.PhysicalTransport.LE for link in self.links)

    async def _advertise(self):
        services = [core.UUID(service) for service in sorted({self.kind.layout.write[0], self.kind.layout.notify[0]})]
        advertisement = AdvertisingData([
            (AdvertisingData.FLAGS, bytes([0x06])),
            (AdvertisingData.INCOMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, b"".join(bytes(uuid) for uuid in services)),
        ])
        kind = AdvertisingData.COMPLETE_LOCAL_NAME
        if len(self.called) > LONGEST_ADVERTISED:
            kind = AdvertisingData.SHORTENED_LOCAL_NAME
        answer = AdvertisingData([(kind, self.called[:LONGEST_ADVERTISED])])
        await self.device.start_advertising(
            auto_restart=False,
            own_address_type=hci.OwnAddressType.PUBLIC,
            advertising_data=bytes(advertisement),
            scan_response_data=bytes(answer),
        )

    def _connected(self, link):
        log.info("%s: %s connects over %s", self.name, link.peer_address, link.transport.name)
        self.links.add(link)
        self._note("up", link)
        link.on("disconnection", lambda reason: self._disconnected(link, reason))
        if self.refuses:
            asyncio.get_running_loop().call_later(self.REFUSAL, lambda: asyncio.create_task(self.drop()))
        elif link.transport == core.PhysicalTransport.LE:
            # One that pushes starts by itself.
            self._simulator("ble")

    def _note(self, what, link):
        self.history.append((time.monotonic(), what, str(link.peer_address).split("/")[0]))

    def _disconnected(self, link, reason):
        log.info("%s: %s is gone, reason %#04x", self.name, link.peer_address, reason)
        self.links.discard(link)
        self._note("down", link)
        over = "ble" if link.transport == core.PhysicalTransport.LE else "spp"
        self._end(over)
        if over == "ble" and self.on_air:
            asyncio.get_running_loop().create_task(self._advertise_again())

    async def _advertise_again(self):
        await self.device.stop_advertising()
        if self.on_air and not self.pin:
            await self._advertise()

    # MARK: over LE

    def _add_services(self):
        layout = self.kind.layout
        services = {}
        for service, characteristic, properties in dict.fromkeys((layout.write, layout.notify, *layout.more)):
            value = CharacteristicValue(write=self._written) if (service, characteristic) == layout.write[:2] else b""
            made = Characteristic(
                core.UUID(characteristic), properties, Characteristic.READABLE | Characteristic.WRITEABLE, value)
            services.setdefault(service, []).append(made)
            if (service, characteristic) == layout.notify[:2]:
                self._notifier = made
            if (service, characteristic) == layout.write[:2]:
                self._writer = made
        for service, characteristics in services.items():
            self.device.add_service(Service(core.UUID(service), characteristics))

        server = self.device.gatt_server
        received = server.on_gatt_pdu

        def deaf_or_not(bearer, pdu):
            if self.hangs or self.refuses:
                return
            if (layout.only_with_response and isinstance(pdu, att.ATT_Write_Command)
                    and pdu.attribute_handle == self._writer.handle):
                log.info("%s: a write without response, which this radio does not hear", self.name)
                return
            received(bearer, pdu)

        server.on_gatt_pdu = deaf_or_not

    def _written(self, link, value):
        if not self.hangs:
            self.written[bytes(value).hex()] += 1
            self._simulator("ble").write(bytes(value))

    async def _notify(self):
        """What the simulator says goes out in its order, a message a notification."""
        while True:
            message = await self._outgoing.get()
            for link in list(self.links):
                if link.transport == core.PhysicalTransport.LE and not self.hangs:
                    await self.device.notify_subscriber(link, self._notifier, message[:link.att_mtu - 3])

    async def raw(self, pdu):
        """Sends octets as an ATT packet, whatever they are."""
        for link in list(self.links):
            if link.transport == core.PhysicalTransport.LE:
                self.device.host.send_l2cap_pdu(link.handle, att.ATT_CID, pdu)

    # MARK: over classic Bluetooth

    def _add_serial_port(self, channel):
        self.device.sdp_service_records = {0x10001: rfcomm.make_service_sdp_records(0x10001, channel, SERIAL_PORT)}
        self._server = rfcomm.Server(self.device)
        self._server.listen(self._opened, channel)

    def _opened(self, channel):
        log.info("%s: its serial port is open", self.name)
        self._channels.add(channel)
        channel.on("close", lambda: self._closed(channel))
        channel.sink = lambda data: None if self.hangs else self._simulator("spp").write(bytes(data))
        self._simulator("spp")

    def _closed(self, channel):
        self._channels.discard(channel)
        self._end("spp")

    # MARK: the inside

    def _simulator(self, over):
        """The simulator that speaks over this kind of link; it lives as long as the link."""
        if over not in self.simulators:
            self.simulators[over] = self._make_simulator(self, over)
        return self.simulators[over]

    def _end(self, over):
        simulator = self.simulators.pop(over, None)
        if simulator:
            simulator.end()

    def said(self, over, message):
        """A message of the simulator's goes out."""
        if self.hangs:
            return
        if over == "ble":
            self._outgoing.put_nowait(message)
        else:
            for channel in self._channels:
                channel.write(message)
