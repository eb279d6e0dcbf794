"""What the Python tests have in common: waiting with an end (waiting), programs that are started and ended (programs),
those of this project (daemons), and what they say of a meter that is watched (readings). Only the standard library is used: it also runs in the laboratory's guest."""

from .daemons import BIN, METER, ROOT, Demo, LocalConnection, Metercloud, Meterd, command_line
from .programs import Program, Running, Said, free_ports, print_logs, run, spawn, stop_all
from .readings import changes, readings, widest_gap
from .waiting import SOON, Ended, Failure, expect, seconds_until, wait

__all__ = [
    "BIN", "METER", "ROOT", "SOON", "Demo", "Ended", "Failure", "LocalConnection", "Metercloud", "Meterd", "Program",
    "Running", "Said", "changes", "command_line", "expect", "free_ports", "print_logs", "readings", "run", "seconds_until",
    "spawn", "stop_all", "wait", "widest_gap",
]
