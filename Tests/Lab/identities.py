"""What published devices say of themselves: Tests/Identities, which has the sources. The laboratory's devices say it too, so
that the program is not tried against strings of its own tables."""

import json
import os

_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Identities", "meters.json")


def row(bus, meter, **wanted):
    """The first row of a meter, with these values where they are given."""
    with open(_FILE) as file:
        for one in json.load(file):
            wanted_here = {"bus": bus, "meter": meter, **wanted}
            if all(one.get(key) == value for key, value in wanted_here.items()):
                return one
    raise LookupError(f"no {meter} over {bus} in {_FILE}")


def usb(meter):
    """Vendor, product (None where nobody has published it), manufacturer's and product's text of a meter."""
    one = row("usb", meter)
    product = None if one["pid"] == "*" else int(one["pid"], 16)
    return int(one["vid"], 16), product, one["manufacturer"] or "", one["product"] or ""


def name(bus, meter, **wanted):
    """What a meter calls itself over the air."""
    return row(bus, meter, **wanted)["name"]
