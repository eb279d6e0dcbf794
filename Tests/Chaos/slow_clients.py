"""Clients of every copy that hold connections and say nothing, very little, or never read: all in one thread.

They come from this machine, without a token, and straight to the copies, past the proxies. A copy cuts each of them by its
deadlines; it comes again soon. What the judge asks of the hosts has to hold meanwhile.
"""

import asyncio
import collections
import random
import socket
import threading

# How many of each manner at each copy.
OF_EACH = 15
# A wait that no deadline of a copy is longer than; then the client gives up by itself.
HELD_SECONDS = 45
HEAD = b"POST /v1/hosts HTTP/1.1\r\nHost: cloud\r\nContent-Type: application/json\r\nContent-Length: 4096\r\n\r\n"
# The beginning of a real ClientHello, whose length says that 508 bytes follow.
TLS_HELLO = bytes.fromhex("16030102000100 01fc0303") + bytes(range(32))
TCP_REPAIR = 19


class SlowClients(threading.Thread):
    def __init__(self, ports, seed=0, of_each=OF_EACH):
        super().__init__(daemon=True)
        self.ports, self.of_each = ports, of_each
        self.random = random.Random(f"{seed} slow")
        # By what happened: opened, cut (by the copy), kept (until the client gave up), refused (no copy there).
        self.counts = collections.Counter()
        self.loop = asyncio.new_event_loop()
        self.everything = None

    def run(self):
        asyncio.set_event_loop(self.loop)
        manners = [self.silent, self.half_a_head, self.half_a_hello, self.letter_by_letter, self.half_a_body,
                   self.never_reads, self.vanishes]

        async def all_of_them():
            await asyncio.gather(*[
                self.again_and_again(manner, port) for port in self.ports for manner in manners
                for _ in range(self.of_each)])

        self.everything = self.loop.create_task(all_of_them())
        try:
            self.loop.run_until_complete(self.everything)
        except asyncio.CancelledError:
            pass
        finally:
            # The first that is cancelled ends the wait for all.
            others = asyncio.all_tasks(self.loop)
            for task in others:
                task.cancel()
            self.loop.run_until_complete(asyncio.gather(*others, return_exceptions=True))
            self.loop.close()

    def stop(self):
        """Harmless when it is over already, or never began."""
        if self.is_alive():
            self.loop.call_soon_threadsafe(lambda: self.everything and self.everything.cancel())
            self.join(10)

    @property
    def summary(self):
        return ", ".join(f"{number} {name}" for name, number in sorted(self.counts.items()))

    async def again_and_again(self, manner, port):
        await asyncio.sleep(self.random.uniform(0, 5))
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                self.counts["refused"] += 1
                await asyncio.sleep(2)
                continue
            self.counts["opened"] += 1
            try:
                await asyncio.wait_for(manner(reader, writer), HELD_SECONDS)
                self.counts["cut"] += 1
            except asyncio.TimeoutError:
                self.counts["kept"] += 1
            except OSError:
                self.counts["cut"] += 1
            finally:
                writer.transport.abort()
            await asyncio.sleep(self.random.uniform(0.5, 2))

    # Each ends when the copy has closed the connection.

    @staticmethod
    async def silent(reader, _):
        await reader.read()

    @staticmethod
    async def half_a_head(reader, writer):
        writer.write(HEAD[:40])
        await reader.read()

    @staticmethod
    async def half_a_hello(reader, writer):
        writer.write(TLS_HELLO)
        await reader.read()

    @staticmethod
    async def letter_by_letter(reader, writer):
        closed = asyncio.ensure_future(reader.read())
        try:
            for letter in HEAD[:-4] + b"\r\nX: " + b"x" * 1000:
                writer.write(bytes([letter]))
                await writer.drain()
                if (await asyncio.wait([closed], timeout=3))[0]:
                    return
        finally:
            closed.cancel()

    @staticmethod
    async def half_a_body(reader, writer):
        writer.write(HEAD + b'{"hostID": "')
        await reader.read()

    @staticmethod
    async def never_reads(reader, writer):
        # Asks on and on; what is answered stays in the buffers of the kernel until there is no more room.
        reader._transport.pause_reading()  # pylint: disable=protected-access
        while True:
            writer.write(b"GET /metrics HTTP/1.1\r\nHost: cloud\r\n\r\n" * 20)
            await writer.drain()
            await asyncio.sleep(3)

    async def vanishes(self, _, writer):
        """Is gone without a word, as by a power cut: the copy has half a connection, and nobody at its other end."""
        writer.write(HEAD[:40])
        try:
            writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
            self.counts["vanished"] += 1
        except PermissionError:
            # Only root may. It is one more that says half of a head then.
            pass
        writer.transport.abort()
        await asyncio.sleep(12)
