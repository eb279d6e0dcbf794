"""TCP proxies between the parts of a cluster, all in one thread: what flows from one part to another can be held, slowed
and broken."""

import asyncio
import random
import re
import threading


class Flow:
    """How bytes go from one part to another."""

    def __init__(self):
        # Held: nothing arrives until it is healed, and then everything does, as after a partition TCP sends it again.
        self.held = 0
        self.delay = 0.0
        # Bytes a second; None: no limit.
        self.bandwidth = None
        # The chance that the connection breaks, each time that something is passed on.
        self.loss = 0.0


class Net:
    """All proxies. Parts are named; `rules` says how it goes from one name to another."""

    def __init__(self, seed):
        self.flows = {}
        self.random = random.Random(seed)
        self.loop = asyncio.new_event_loop()
        self.changed = None
        self.counts = {"connections": 0, "broken": 0, "bytes": 0}
        ready = threading.Event()
        threading.Thread(target=self._run, args=(ready,), daemon=True).start()
        ready.wait()

    def _run(self, ready):
        asyncio.set_event_loop(self.loop)
        self.changed = asyncio.Condition()
        self.loop.call_soon(ready.set)
        self.loop.run_forever()

    def flow(self, source, sink):
        return self.flows.setdefault((source, sink), Flow())

    def change(self, pairs, **values):
        """For each (source, sink); `held` is a difference, as partitions may overlap."""

        async def apply():
            async with self.changed:
                for source, sink in pairs:
                    flow = self.flow(source, sink)
                    for name, value in values.items():
                        setattr(flow, name, flow.held + value if name == "held" else value)
                self.changed.notify_all()

        asyncio.run_coroutine_threadsafe(apply(), self.loop).result(10)

    def heal(self):
        """Everything, as if nothing had been."""
        for flow in self.flows.values():
            flow.delay, flow.bandwidth, flow.loss = 0.0, None, 0.0
        self.change([pair for pair, flow in self.flows.items() if flow.held > 0], held=-1)

    def proxy(self, client, server, port, listen=0, names=None):
        """A proxy for what `client` sends to `server`, which listens on `port`.

        - names: where several clients share it: from the words of a request to the client's name.
        Returns its port.
        """

        async def start():
            async def accepted(reader, writer):
                await self._serve(reader, writer, client, server, port, names)

            return await asyncio.start_server(accepted, "127.0.0.1", listen, backlog=256)

        started = asyncio.run_coroutine_threadsafe(start(), self.loop).result(10)
        return started.sockets[0].getsockname()[1]

    async def _serve(self, near, near_writer, client, server, port, names):
        self.counts["connections"] += 1
        name = [client]
        try:
            await self._wait_for(name[0], server)
            far, far_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            near_writer.close()
            return
        writers = (near_writer, far_writer)
        up = asyncio.create_task(self._pump(near, far_writer, name, server, True, names, writers))
        down = asyncio.create_task(self._pump(far, near_writer, name, server, False, None, writers))
        await asyncio.wait([up, down])

    async def _wait_for(self, source, sink):
        if self.flow(source, sink).held <= 0:
            return
        async with self.changed:
            await self.changed.wait_for(lambda: self.flow(source, sink).held <= 0)

    async def _pump(self, reader, writer, name, server, is_up, names, writers):
        try:
            while data := await reader.read(65536):
                if names:
                    name[0] = names(data) or name[0]
                source, sink = (name[0], server) if is_up else (server, name[0])
                flow = self.flow(source, sink)
                self.counts["bytes"] += len(data)
                if flow.delay:
                    await asyncio.sleep(flow.delay * self.random.uniform(0.5, 1.5))
                if flow.bandwidth:
                    await asyncio.sleep(len(data) / flow.bandwidth)
                if flow.loss and self.random.random() < flow.loss:
                    self.counts["broken"] += 1
                    break
                if flow.held > 0:
                    await self._wait_for(source, sink)
                writer.write(data)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        for end in writers:
            try:
                end.close()
            except (OSError, RuntimeError):
                pass


def raft_sender(members):
    """Members of etcd share the peer address of each of them: a request of theirs names the sender by its id."""
    pattern = re.compile(rb"X-Server-From: ([0-9a-f]+)", re.IGNORECASE)

    def name(data):
        found = pattern.search(data)
        return members.get(found.group(1).decode()) if found else None

    return name
