"""The firmware of a made-up lamp. It writes its mode where the lamp's hardware, in this case a simulated one, reads it."""

import os
from pathlib import Path

MODE = Path(os.environ["LAMP"])


def switch(mode):
    MODE.write_text(mode)
