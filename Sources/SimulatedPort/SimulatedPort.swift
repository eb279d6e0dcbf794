package import Domain
package import LinuxIO
package import MeterSimulator

/// A simulated meter behind a pseudo-terminal. A program that opens `path` sees a meter on a serial port.
///
/// Its executor is the loop, so channels and timers call it without a thread switch. The loop retains a plugged-in port
/// until `stop`.
package actor SimulatedPort {
    private let loop: IOLoop
    private let link: String?
    private var meter: any SimulatedMeter
    private var line = Line.unplugged
    private var output = Output()
    private var poweredOn: MonotonicTime
    private var due: (timer: LoopTimer, time: Duration)?
    private let buffer = ReadBuffer()

    private enum Line {
        case unplugged
        case waiting(PseudoTerminal, LoopTimer)
        case connected(PseudoTerminal)
    }

    /// Interval of checks whether a program has opened the port. Until one has, epoll always reports the
    /// pseudo-terminal as ready.
    private static let peerInterval = Duration.milliseconds(50)

    /// - Parameter link: path of a symbolic link to the port, whose own name the kernel chooses.
    package init(meter: any SimulatedMeter, loop: IOLoop, link: String? = nil) {
        self.meter = meter
        self.loop = loop
        self.link = link
        poweredOn = loop.now
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    package var model: ModelName { meter.model }

    /// Path of the port; nil while unplugged.
    package var path: String? {
        switch line {
        case .unplugged: nil
        case .waiting(let terminal, _), .connected(let terminal): terminal.path
        }
    }

    // MARK: What a person could do to it

    package func start() throws(Errno) {
        switchOn()
        try plug()
    }

    package func stop() {
        unplug()
        cancelDue()
        meter.powerCycle()
    }

    /// Creates the port, possibly under a new name, unless it exists.
    package func plug() throws(Errno) {
        guard case .unplugged = line else { return }
        awaitPeer(try PseudoTerminal(link: link))
    }

    /// Removes the port, even while a program has it open. The meter is still on.
    package func unplug() {
        switch line {
        case .unplugged: return
        case .waiting(let terminal, let timer):
            loop.cancel(timer)
            terminal.close()
        case .connected(let terminal):
            loop.unregister(terminal.master)
            terminal.close()
        }
        line = .unplugged
    }

    /// Switches the meter off and on. The port remains, as if USB were powered separately.
    package func powerCycle() {
        meter.powerCycle()
        output.discardAll()
        switchOn()
    }

    package func setFaults(_ faults: SimulatorFaults) {
        meter.faults = faults
    }

    // MARK: The peer

    private func awaitPeer(_ terminal: PseudoTerminal) {
        let timer = loop.schedule(at: loop.now + Self.peerInterval) {
            self.assumeIsolated { $0.lookForPeer() }
        }
        line = .waiting(terminal, timer)
    }

    private func lookForPeer() {
        guard case .waiting(let terminal, _) = line else { return }
        guard terminal.hasPeer else { return awaitPeer(terminal) }
        output = Output()
        line = .connected(terminal)
        do {
            try loop.register(terminal.master, .readable) { readiness in
                self.assumeIsolated { $0.ready(readiness) }
            }
        } catch {
            // The kernel lacks memory, so check again later.
            awaitPeer(terminal)
        }
    }

    private func ready(_ readiness: Readiness) {
        guard case .connected(let terminal) = line else { return }
        if readiness.contains(.readable) { readOnce(terminal) }
        if readiness.contains(.writable) { flush() }
        // Unread bytes may remain after the other program has closed the port, so read them first.
        if readiness.contains(.hangup), !readiness.contains(.readable) { peerLeft(terminal) }
    }

    private func readOnce(_ terminal: PseudoTerminal) {
        do {
            guard let bytes = try buffer.read(terminal.master) else { return }
            send(meter.receive(bytes, at: meterTime))
            setDue()
        } catch {
            // EIO means that no program has the port open.
            peerLeft(terminal)
        }
    }

    private func peerLeft(_ terminal: PseudoTerminal) {
        guard case .connected = line else { return }
        loop.unregister(terminal.master)
        awaitPeer(terminal)
    }

    // MARK: The meter

    private var meterTime: Duration { loop.now - poweredOn }

    private func switchOn() {
        poweredOn = loop.now
        cancelDue()
        setDue()
    }

    private func cancelDue() {
        if let due { loop.cancel(due.timer) }
        due = nil
    }

    private func setDue() {
        let next = meter.nextDue
        guard next != due?.time else { return }
        cancelDue()
        guard let next else { return }
        let timer = loop.schedule(at: poweredOn + next) {
            self.assumeIsolated { $0.meterIsDue() }
        }
        due = (timer, next)
    }

    private func meterIsDue() {
        due = nil
        send(meter.due(at: meterTime))
        setDue()
    }

    /// Sends the meter's writes to the program that has the port open. Without one, they are lost, as on an unconnected
    /// cable.
    private func send(_ writes: [[UInt8]]) {
        guard case .connected = line else { return }
        for bytes in writes { output.append(bytes) }
        if !output.isWaiting { flush() }
    }

    private func flush() {
        guard case .connected(let terminal) = line else { return }
        let wasWaiting = output.isWaiting
        do {
            try output.write(to: terminal.master)
            guard output.isWaiting != wasWaiting else { return }
            try loop.modify(terminal.master, output.isWaiting ? [.readable, .writable] : .readable)
        } catch {
            peerLeft(terminal)
        }
    }
}
