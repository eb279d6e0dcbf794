"""Meters whose every octet was recorded of a real one: RFCOMM's frames, notifications, an attribute table."""

import asyncio
import os
import sys

from bumble import att
from bumble.core import PhysicalTransport

from attribute_table import AttributeTable
from radio_meter import ATORCH, FNIRSI, Kind, RadioMeter

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import identities  # noqa: E402 - one folder up, shared with the guest
import traffic  # noqa: E402

# The characteristic over which a FNIRSI meter notifies, as it travels.
FNIRSI_SAYS = b"\xe4\xff"


class Player:
    """In the place of a simulator: says the first message again and again, and all of them once it is told to roll.

    A message is a list of pieces, which leave one after the other.
    """

    INTERVAL = 0.15

    def __init__(self, messages, said):
        self._messages = messages
        self._said = said
        self._next = None
        self._task = asyncio.get_running_loop().create_task(self._play())

    def roll(self):
        """From the beginning; the last message is repeated then."""
        self._next = 0

    def write(self, message):
        """It answers nothing: a recording has one side."""

    def end(self):
        """Nobody listens any more."""
        self._task.cancel()

    async def _play(self):
        while True:
            for piece in self._messages[self._next or 0]:
                self._said(piece)
            if self._next is not None:
                self._next = min(self._next + 1, len(self._messages) - 1)
            await asyncio.sleep(self.INTERVAL)


class RecordedMeter(RadioMeter):
    """A radio whose inside is a recording; with `table`, its attributes are recorded, too."""

    def __init__(self, name, kind, messages, table=None):
        super().__init__(name, kind, lambda meter, over: Player(messages, lambda piece: meter.said(over, piece)))
        self.messages = messages
        self._table = AttributeTable(table, lambda handle, value: None) if table else None

    def roll(self):
        """Plays the whole recording once."""
        for player in self.simulators.values():
            player.roll()

    def _add_services(self):
        if self._table is None:
            return super()._add_services()
        # Bumble's own server would number them anew.
        self.device.l2cap_channel_manager.register_fixed_channel(att.ATT_CID, self._heard)
        return None

    def _heard(self, handle, pdu):
        if answer := self._table.answer(bytes(pdu)):
            self.device.host.send_l2cap_pdu(handle, att.ATT_CID, answer)

    async def _notify(self):
        if self._table is None:
            return await super()._notify()
        place = self._table.value_handle(FNIRSI_SAYS)
        while True:
            message = await self._outgoing.get()
            for link in list(self.links):
                if link.transport == PhysicalTransport.LE and self._table.notifies(place):
                    self.device.host.send_l2cap_pdu(link.handle, att.ATT_CID,
                                                    b"\x1b" + place.to_bytes(2, "little") + message)

    def said(self, over, message):
        """Frames of RFCOMM go out as they were: Bumble would make its own."""
        if over == "ble":
            return super().said(over, message)
        for channel in self._channels:
            channel.multiplexer.l2cap_channel.write(message)
        return None


def make(name, root):
    """The meter of a recording; None on a machine that has no recordings."""
    folder = traffic.folder(root)
    if folder is None:
        return None
    def split(reports):
        # As a log of the same family has them (issue-logs.txt): 20 octets, then the rest.
        return [[report[:20], report[20:]] for report in reports]
    match name:
        case "ud18":
            frames = traffic.rfcomm_frames(os.path.join(folder, "UD18-SPP.pcap"))
            kind = Kind("atorch-usb", identities.name("classic", "UD18"), ATORCH, -55, serial_channel=1)
            return RecordedMeter(name, kind, [[frame] for frame in frames])
        case "dl24" | "dt3010":
            kind = Kind("atorch-dc", identities.name("ble", "DL24"), ATORCH, -60)
            return RecordedMeter(name, kind, split(traffic.written_packets(os.path.join(folder, f"atorch-{name}.txt"))))
        case "j7-c":
            kind = Kind("atorch-usb", identities.name("ble", "J7-C"), ATORCH, -60)
            return RecordedMeter(name, kind, split(traffic.written_packets(os.path.join(folder, "atorch-j7-c.txt"))))
        case "dc-split":
            kind = Kind("atorch-dc", identities.name("ble", "DL24"), ATORCH, -60)
            return RecordedMeter(name, kind, [traffic.split_report(os.path.join(folder, "issue-logs.txt"))])
        case "fnb58":
            table = traffic.attributes(os.path.join(folder, "fnb58_100_percent_working.log"))
            kind = Kind("fnb58", identities.name("ble", "FNB58"), FNIRSI, -58)
            return RecordedMeter(name, kind, [traffic.capture_frames(folder, "fnb58_ble_frames_osnwt")], table)
        case _:
            raise ValueError(f"no recording is called {name}")
