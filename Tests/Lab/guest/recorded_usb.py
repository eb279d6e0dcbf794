"""A KM003C whose descriptors, strings and answers are those of a real one (usbmon, ../shared/meters/traffic)."""

import os
import sys

from usb_device import KM003C_REPORTS, USBDevice

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import traffic  # noqa: E402 - one folder up, shared with the air

# The address of the meter in the record, and the number of its bulk endpoints.
RECORD, ADDRESS, ENDPOINT = "orig_with_pd.13.pcapng", 13, 1


class RecordedKM003C:
    """Answers a question with what the real meter answered to the same one, in the record's order; the number of the question
    is put in its place, which is all that is changed. What the record's host never asked has no answer.
    """

    def __init__(self, folder):
        path = os.path.join(folder, RECORD)
        device, configuration, strings = traffic.usb_descriptors(path, ADDRESS)
        self.device = USBDevice.of_descriptors(device, configuration, strings, self._heard)
        self.device.reports = KM003C_REPORTS
        self.answers = {}
        for question, answers in traffic.usb_conversation(path, ADDRESS, ENDPOINT):
            if answers:
                self.answers.setdefault(self._key(question), []).append(answers)
        # Questions that have no answer in the record.
        self.unanswered = []
        self._places = {}

    @staticmethod
    def _key(question):
        return question[:1] + question[2:]

    def plug(self):
        """From the beginning of the record."""
        self._places.clear()
        self.device.plug()

    def rewind(self):
        """The record from its beginning."""
        self._places.clear()

    def pull(self):
        """From the socket."""
        self.device.pull()

    def _heard(self, number, data):
        if len(data) < 4:
            return
        key = self._key(data)
        if key not in self.answers:
            # An authentication holds random bytes: the one of the record stands for it.
            key = next((known for known in self.answers if len(known) > 4 and known[:1] == key[:1] == b"\x4c"), None)
        if key is None:
            self.unanswered.append(data)
            return
        known = self.answers[key]
        place = self._places.get(key, 0)
        # The last one again and again.
        self._places[key] = min(place + 1, len(known) - 1)
        for index, answer in enumerate(known[place]):
            # Of an answer in pieces only the first has a header.
            self.device.say(number, answer if index or data[0] == 0x4C else answer[:1] + data[1:2] + answer[2:])
