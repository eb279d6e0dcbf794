import Domain
package import LinuxIO
import MeterSimulator

/// A simulated Bluetooth proxy on a TCP port. Looks like an ESP32 with ESPHome.
package actor SimulatedProxyPort {
    private let loop: IOLoop
    private var proxy: SimulatedProxy
    private var listener: FileDescriptor?
    private var clients: [SimulatedProxy.Client: Connection] = [:]
    private let start: MonotonicTime
    private var alarm: Alarm
    private let buffer = ReadBuffer()

    private struct Connection {
        let socket: FileDescriptor
        var output = Output()
    }

    package init(_ proxy: SimulatedProxy, loop: IOLoop) {
        self.proxy = proxy
        self.loop = loop
        start = loop.now
        alarm = Alarm(on: loop)
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// - Parameter port: 0 for any free port.
    /// - Returns: the port in use.
    package func serve(at host: String, port: Int) throws -> Int {
        let listener = try TCPSocket.listen(at: host, port: port)
        self.listener = listener
        try loop.register(listener, .readable) { _ in self.assumeIsolated { $0.accept() } }
        return TCPSocket.port(of: listener) ?? port
    }

    package func stop() {
        alarm.cancel()
        for client in Array(clients.keys) { close(client) }
        if let listener {
            loop.unregister(listener)
            listener.close()
        }
        listener = nil
    }

    package func reboot() { perform(proxy.reboot()) }

    package func setFaults(_ faults: Set<SimulatedProxy.Fault>) { proxy.options.faults = faults }

    private func accept() {
        guard let listener, let socket = try? TCPSocket.accept(from: listener) else { return }
        // A predictable seed is enough: a simulated node has no secrets.
        var noise = SplitMix64(seed: UInt64(bitPattern: loop.now.sinceOrigin.nanoseconds))
        let client = proxy.accepted(ephemeral: noise.bytes(32))
        do {
            try loop.register(socket, .readable) { readiness in self.assumeIsolated { $0.ready(client, readiness) } }
            clients[client] = Connection(socket: socket)
        } catch {
            // The kernel lacks memory for this connection, so treat the client as disconnected.
            proxy.ended(client)
        }
    }

    private func ready(_ client: SimulatedProxy.Client, _ readiness: Readiness) {
        guard let socket = clients[client]?.socket else { return }
        if readiness.contains(.writable) { flush(client) }
        do {
            guard let bytes = try buffer.readUntilEnd(socket) else { return }
            guard !bytes.isEmpty else { return left(client) }
            perform(proxy.received(bytes, from: client, at: loop.now - start))
        } catch {
            left(client)
        }
    }

    private func left(_ client: SimulatedProxy.Client) {
        proxy.ended(client)
        close(client)
    }

    private func close(_ client: SimulatedProxy.Client) {
        guard let connection = clients.removeValue(forKey: client) else { return }
        loop.unregister(connection.socket)
        connection.socket.close()
    }

    private func perform(_ outputs: [SimulatedProxy.Output]) {
        for output in outputs {
            switch output {
            case .close(let client): close(client)
            case .send(let client, let bytes):
                clients[client]?.output.append(bytes)
                flush(client)
            }
        }
        alarm.set(to: proxy.nextDue.map { start + $0 }) { self.assumeIsolated { $0.rang() } }
    }

    private func rang() {
        alarm.rang()
        perform(proxy.due(at: loop.now - start))
    }

    private func flush(_ client: SimulatedProxy.Client) {
        guard var connection = clients[client] else { return }
        let wasWaiting = connection.output.isWaiting
        do {
            try connection.output.write(to: connection.socket)
            clients[client] = connection
            guard connection.output.isWaiting != wasWaiting else { return }
            try loop.modify(connection.socket, connection.output.isWaiting ? [.readable, .writable] : .readable)
        } catch {
            left(client)
        }
    }
}
