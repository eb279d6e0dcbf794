"""Captures of real meters' links, as ../shared/meters/traffic has them beside the project: read where they are, never part of
it. Each function gives what was on the link, octet by octet.
"""

import json
import os
import re
import struct

_BULK, _CONTROL = 3, 2


def folder(root):
    """Where the captures are; None on a machine without them."""
    path = os.path.join(root, "..", "shared", "meters", "traffic")
    return os.path.realpath(path) if os.path.isdir(path) else None


def rfcomm_frames(path):
    """What the meter of a btsnoop record of H4 packets sent on RFCOMM's data link 2: whole frames, with their check."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"btsnoop\0":
        raise ValueError(f"{path} is no btsnoop record")
    frames = []
    place = 16
    while place < len(data):
        _, length, flags, _ = struct.unpack_from(">IIII", data, place)
        packet = data[place + 24:place + 24 + length]
        place += 24 + length
        # Towards the host, ACL data, one L2CAP packet; RFCOMM's address octet 0x09 is data link 2 of the one that answers.
        if flags & 1 and packet[:1] == b"\x02" and len(packet) > 9 and packet[9] == 0x09:
            frames.append(packet[9:])
    return frames


def written_packets(path):
    """Octets written as 0x.. words, a packet a line."""
    with open(path) as file:
        return [bytes(int(word, 16) for word in line.split()) for line in file if line.strip()]


def split_report(path):
    """The report that came in two notifications, of a log that prints them (`Notification received: FF.55.…`)."""
    with open(path) as file:
        found = re.findall(r"Notification received: ([0-9A-F.]+) \(", file.read())
    return [bytes.fromhex(text.replace(".", "")) for text in found]


def attributes(path):
    """Handle, type and value of each attribute that gatttool listed, by handle. The type as it travels: two octets, or 16."""
    found = []
    kind = None
    base = "-0000-1000-8000-00805f9b34fb"
    with open(path, errors="replace") as file:
        for line in file:
            line = line.strip()
            if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", line):
                kind = (bytes.fromhex(line[4:8]) if line.startswith("0000") and line.endswith(base)
                        else bytes.fromhex(line.replace("-", "")))[::-1]
            elif match := re.fullmatch(r"0x([0-9a-f]{4})((?: [0-9a-f]{2})*)", line):
                if kind is not None:
                    found.append((int(match[1], 16), kind, bytes.fromhex(match[2])))
                kind = None
    return sorted(found)


def usb_transfers(path, device):
    """What a usbmon record (LINKTYPE_USB_LINUX_MMAPPED) has of one device: kind, endpoint, setup, data of each transfer that
    was done, in order. Of one towards the device the data are those that were submitted.
    """
    with open(path, "rb") as file:
        data = file.read()
    submitted = {}
    place = 0
    while place + 8 <= len(data):
        kind, length = struct.unpack_from("<II", data, place)
        if kind == 6:  # an enhanced packet block
            captured, = struct.unpack_from("<I", data, place + 20)
            packet = data[place + 28:place + 28 + captured]
            number, what, transfer, endpoint, address = struct.unpack_from("<QBBBB", packet)
            status, _, size = struct.unpack_from("<iII", packet, 28)
            if address == device:
                if what == ord("S"):
                    submitted[number] = packet[40:48], packet[64:64 + size]
                elif what == ord("C") and number in submitted:
                    setup, sent = submitted.pop(number)
                    if status == 0:
                        yield transfer, endpoint, setup, packet[64:64 + size] if endpoint & 0x80 else sent
        place += length


def usb_descriptors(path, device):
    """The device's and its configuration's descriptor, and its strings by number, as the host read them."""
    found, strings = {}, {}
    for transfer, _, setup, data in usb_transfers(path, device):
        if transfer != _CONTROL or setup[1] != 6 or not data:
            continue
        kind, number = setup[3], setup[2]
        if kind == 3:
            strings[number] = data
        elif len(data) > len(found.get(kind, b"")):
            found[kind] = data
    return found[1], found[2], strings


def usb_conversation(path, device, endpoint):
    """Questions and answers over a pair of bulk endpoints: what was sent, and what came before the next was sent."""
    talk = []
    for transfer, number, _, data in usb_transfers(path, device):
        if transfer != _BULK or number & 0x7F != endpoint:
            continue
        if not number & 0x80:
            talk.append((data, []))
        elif talk and data:
            talk[-1][1].append(data)
    return talk


def capture_frames(folder, name):
    """The messages of a capture beside the traffic (../captures), from the meter."""
    with open(os.path.join(folder, "..", "captures", f"{name}.json")) as file:
        return [bytes.fromhex(frame["hex"]) for frame in json.load(file)["frames"] if frame["dir"] == "device->host"]
