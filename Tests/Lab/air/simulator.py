"""The project's simulators as processes: `meterctl simulate MODEL --over LINK --stdio --framed --bunched`: on its way through
guest and host a command may be late by more than the pause that a meter wants before it."""

import asyncio
import logging

log = logging.getLogger("simulator")


class Simulator:
    """One meter's inside. Each message, in and out, travels behind its length in two octets, the higher first."""

    def __init__(self, meterctl, model, over, arguments, said):
        self._command = [meterctl, "simulate", model, "--over", over, "--stdio", "--framed", "--bunched", *arguments]
        self._said = said
        self._waiting = []
        self._process = None
        self._ended = False
        self._task = asyncio.get_running_loop().create_task(self._run())

    def write(self, message):
        """The host's side of the conversation."""
        framed = len(message).to_bytes(2, "big") + message
        if self._process is None:
            self._waiting.append(framed)
        elif not self._process.stdin.is_closing():
            self._process.stdin.write(framed)

    def end(self):
        """Nobody talks to the meter any more."""
        self._ended = True
        if self._process and self._process.returncode is None:
            self._process.stdin.close()
            self._process.terminate()

    async def _run(self):
        process = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        self._process = process
        if self._ended:
            process.terminate()
        for framed in self._waiting:
            process.stdin.write(framed)
        try:
            while True:
                length = int.from_bytes(await process.stdout.readexactly(2), "big")
                message = await process.stdout.readexactly(length)
                if not self._ended:
                    self._said(message)
        except asyncio.IncompleteReadError:
            status = await process.wait()
            if not self._ended:
                log.error("%s ended with %d", " ".join(self._command), status)
