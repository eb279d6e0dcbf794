"""What is known of each capture: how it becomes bytes that `meterctl decode` takes, and what cannot be compared yet.

A capture that has no entry here is compared with no exception at all, so a new one shows up by itself.
"""

import json
import subprocess

# The one key that every TC66 has (AES-256-ECB without padding).
TC66_KEY = "5821fa5601b2f02687ff1204622a4fb086f40260816f9a0ba7f106619ab87288"


class Capture:
    """One file, its bytes as the decoder takes them, and what the source says of them."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.data = json.load(file)
        self.name = path.rsplit("/", 1)[-1].removesuffix(".json")
        self.note = NOTES.get(self.name, Note())
        self.expected = self.data.get("expected") or {}
        self.model = self.note.model or model_of(self.name)

    def bytes(self):
        """The messages in one stream, made whole where the source left a part out."""
        frames = self.data.get("frames")
        if self.note.only_from_meter and frames:
            frames = [frame for frame in frames if frame.get("dir") == "device->host"]
        text = self.data.get("hex") or "".join(frame["hex"] for frame in frames or [] if frame.get("hex"))
        return self.note.prepare(bytes.fromhex(text))


class Note:
    """What has to be known of one capture.

    prepare   makes of the bytes what a decoder takes
    arguments further arguments of `meterctl decode`
    later     why it cannot be decoded yet: what it shows is later work
    skipped   why some of its bytes are passed over, and how many
    disputed  expected keys that are wrong in the source, each with the reason
    unread    expected keys that the decoder does not print yet, each with the reason
    unstated  expected keys that say something else than a value of this message
    """

    def __init__(self, model=None, prepare=lambda raw: raw, arguments=(), later=None, skipped=None, disputed=None,
                 unread=None, unstated=None, only_from_meter=False):
        self.model = model
        self.prepare = prepare
        self.arguments = list(arguments)
        self.later = later
        self.skipped = skipped
        self.disputed = disputed or {}
        self.unread = unread or {}
        self.unstated = unstated or {}
        self.only_from_meter = only_from_meter


def model_of(name):
    models = {"px100": "dl24", "um": "um", "tc66": "tc66", "km003c": "km003c", "atorch_acd15p": "acd15p", "atorch": "atorch",
              "fnirsi_usb": "fnirsi-usb", "fn": "fnirsi-ble", "avhzy": "ct3", "kingmeter": "km001pro"}
    for start, model in models.items():
        if name.startswith(start):
            return model
    return None


def encrypt_tc66(plain):
    """A decrypted answer as it was on the wire."""
    command = ["openssl", "enc", "-aes-256-ecb", "-nopad", "-K", TC66_KEY]
    return subprocess.run(command, input=plain, capture_output=True, check=True).stdout


def with_magic(raw):
    """An Atorch report again with the FF 55 that its source left out, and with its check byte where that was, too."""
    report = b"\xff\x55" + raw
    while len(report) < 35:
        report += b"\0"
    return report if len(report) == 36 else report + bytes([sum(report[2:]) & 0xFF ^ 0x44])


def fnirsi_frame(frame_type):
    """Puts a payload back between its header and its check byte (low byte of CRC-16/XMODEM)."""

    def prepare(payload):
        frame = bytes([0xAA, frame_type, len(payload)]) + payload
        crc = 0
        for byte in frame:
            crc ^= byte << 8
            for _ in range(8):
                crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
        return frame + bytes([crc & 0xFF])

    return prepare


def km003c_payload(attribute):
    """Puts a payload back behind the headers of a message that holds it alone."""

    def prepare(payload):
        return bytes.fromhex("41070000") + (attribute | len(payload) << 22).to_bytes(4, "little") + payload

    return prepare


PD_WIRE = "wire bytes alone, which no command line takes; PDMessageTests read the like"
LOG = "samples out of a memory read, which KM003CLogDownload decrypts; no command line takes them"

NOTES = {
    # Forms that are known from here and not read yet; each goes when its decoder reads it.
    "atorch_dl24m_purple_syssi76": Note(only_from_meter=True),
    "atorch_ud18_lisp_report": Note(unread={"backlight": "no decoder reads the back light of a UD18 yet"}),
    "fnirsi_ble_built_examples": Note(only_from_meter=True, unstated=dict.fromkeys(
        ["07", "04", "08", "0a", "09", "05", "03", "86", "87", "88", "89", "8a"],
        "words; FNIRSIRealFramesTests compares the values")),
    "km003c_cdc_stream_vendor": Note(later="the vendor interface's stream, which no decoder reads yet"),
    "atorch_ac_frame_esphome": Note(
        disputed={"capacity_Ah_as_stated": "the field is watts: 230.8 V x 0.014 A x PF 0.133 = 0.43 W"}),
    "atorch_at24_dandrej": Note(prepare=with_magic),
    "atorch_dc_console_0": Note(
        disputed={"energy_Wh": "the source reads the charge's bytes; ESPHome's reading gives 320 Wh, which fits 12.36 Ah"}),
    # One of its zeros is missing besides: 32 bytes where its brothers have 33. It is put back in front of the price.
    "atorch_dt24tw_1_dandrej": Note(prepare=lambda raw: with_magic(raw[:15] + b"\0" + raw[15:])),
    "atorch_ud24_dandrej": Note(prepare=with_magic),
    "atorch_usb_console_0": Note(
        disputed={"charge_mAh_as_stated": "ten times too large, as the capture's own note shows"}),
    "atorch_usb_console_1": Note(
        disputed={"charge_mAh_as_stated": "ten times too large, as the capture's own note shows"}),
    "fnb48s_ble_type03_dandrej": Note(prepare=fnirsi_frame(0x03)),
    "fnb58_gatt_database_losonsky": Note(later="a list of GATT attributes, no messages"),
    "fnirsi_usb_logger_text_baryluk_issue4": Note(later="decoded text; the source has no bytes"),
    # The source gives 37 bytes and says that zeros follow, and that the last is usually 20.
    "kingmeter_km001pro_hid_fqueze": Note(prepare=lambda raw: raw.ljust(63, b"\0") + b"\x20"),
    "km003c_adc_adcqueue_50sps": Note(
        unread={"rate": "without the request nobody says the graph's rate; the sequence step, which is compared, tells"},
        unstated={"queue_unit": "compared through the four lines"}),
    "km003c_adcqueue_2sps": Note(
        unread={"rate": "without the request nobody says the graph's rate; the sequence step tells"}),
    "km003c_log_samples": Note(later=LOG),
    "km003c_pd_epr_chunks": Note(later=PD_WIRE),
    "km003c_settings_payload": Note(
        prepare=km003c_payload(0x008),
        unstated={"flags_a": "compared through its fields", "flags_b": "compared through its fields"}),
    "km003c_streaming_auth_request": Note(
        unread={"hardware_id_prefix": "what it carries is encrypted, and not shown",
                "device_id": "what it carries is encrypted, and not shown"}),
    "tc66c_ble_getva_jedie_decrypted": Note(prepare=encrypt_tc66),
    "um25c_block_pyummeter": Note(arguments=["--unchecked"]),
}

# Commands go the other way. They have no command line: unit tests compare the encoders with the same bytes.
COMMAND_TESTS = {
    "atorch_commands_console": "AtorchDriverTests",
    "atorch_commands_ud18_msillano": "AtorchDriverTests",
    "fnirsi_ble_commands": "FNIRSIBLEDriverTests",
    "fnirsi_usb_commands": "FNIRSIUSBDriverTests",
    "km003c_commands": "KM003CDriverTests",
    "tc66c_commands": "TC66DriverTests",
    "um_commands_pyummeter": "UMDriverTests",
}
