"""What the laboratory fetches once and keeps."""

import os
import subprocess

from machines import HERE

# What the scripts end with where Debian's mirror or PyPI cannot be reached, and have said so.
UNREACHABLE = 75


class LaboratoryFault(Exception):
    """Something of the laboratory's own does not work: no word about the program."""


class Unreachable(Exception):
    """Debian's mirror or PyPI cannot be reached."""


def default_work():
    """Where the fetched files are kept; it may be anyone's /var/tmp, so it carries the user."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return os.path.join(cache, "meter-laboratory") if cache else f"/var/tmp/meter-laboratory-{os.getuid()}"


def fetch(work, more=None):
    """Fetches what is missing: the folder of what every run needs, or of what is no part of the usual run, by the name of its
    script.
    """
    os.makedirs(work, mode=0o700, exist_ok=True)
    if os.stat(work).st_uid != os.getuid():
        raise LaboratoryFault(f"{work} belongs to somebody else")
    folder = os.path.join(work, more or "files")
    # One at a time: a second run waits for the first.
    status = subprocess.call(["flock", work, os.path.join(HERE, f"prepare-{more}" if more else "prepare"), folder])
    if status == UNREACHABLE:
        raise Unreachable
    if status != 0:
        raise LaboratoryFault("the preparation failed")
    return folder
