import BluetoothCore
import CBluetooth
import Domain
import Gateway
import Glibc
import LinuxIO

/// The kernel's management channel. Sends one command at a time to each adapter. Use only on the event loop.
final class ManagementChannel: @unchecked Sendable {
    /// Input handlers. Device reports are by far the most frequent input, so they are not copied from the buffer.
    struct Listener: Sendable {
        var report: @Sendable (_ index: UInt16, DeviceReport, _ now: MonotonicTime) -> Void
        var event: @Sendable (_ index: UInt16, ManagementEvent, _ now: MonotonicTime) -> Void
        var fault: @Sendable (ManagementFault) -> Void
        var closed: @Sendable (Errno) -> Void
    }

    private let socket: FileDescriptor
    private let loop: IOLoop
    private let listener: Listener
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: ManagementPacket.lengthMax, alignment: 16)
    /// Queued commands by adapter index. Each queue's first command has been sent.
    private var queues: [UInt16: [Waiting]] = [:]
    private var isOpen = false

    private struct Waiting {
        var command: ManagementCommand
        var deadline: MonotonicTime?
    }

    /// Maximum number of packets per loop iteration, so that input from meters is not delayed.
    private static let packetsPerTurn = 64
    /// Maximum number of queued commands for an adapter: any received device may cause one, such as a name request.
    private static let waitingMax = 32

    init(socket: FileDescriptor, loop: IOLoop, listener: Listener) {
        self.socket = socket
        self.loop = loop
        self.listener = listener
    }

    deinit { buffer.deallocate() }

    static func openSocket() throws(Errno) -> FileDescriptor {
        FileDescriptor(owning: try Errno.check { cb_open_management() })
    }

    func begin() throws(Errno) {
        try loop.register(socket, .readable) { [weak self] in self?.ready($0) }
        isOpen = true
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        loop.unregister(socket)
        socket.close()
        queues = [:]
    }

    // MARK: Commands

    /// Queues a command for its adapter. Answers to a pairing device skip the queue: the device does not wait, and
    /// another program may answer first.
    ///
    /// - Parameter patience: maximum time that later commands to this adapter wait for the answer.
    func send(_ command: ManagementCommand, to index: UInt16, patience: Duration = .seconds(8)) {
        guard isOpen else { return }
        guard !command.isPairingAnswer else { return transmit(command, index) }
        expire(index)
        var queue = queues[index] ?? []
        guard queue.count < Self.waitingMax else { return }
        queue.append(Waiting(command: command))
        queues[index] = queue
        if queue.count == 1 { sendFirst(index, patience: patience) }
    }

    /// Sends a command ahead of the queue and ignores its answer. Only for a command that the kernel performs before
    /// the socket write returns. In the queue, it would wait for an adapter that does not answer.
    func tell(_ command: ManagementCommand, to index: UInt16) {
        guard isOpen else { return }
        _ = try? command.bytes(index: index).withUnsafeBytes { try socket.write($0) }
    }

    func expire() {
        for index in queues.keys { expire(index) }
    }

    func forget(_ index: UInt16) {
        queues[index] = nil
    }

    private func expire(_ index: UInt16) {
        guard let first = queues[index]?.first, let deadline = first.deadline, loop.now >= deadline else { return }
        removeFirst(index)
    }

    private func removeFirst(_ index: UInt16) {
        queues[index]?.removeFirst()
        if queues[index]?.isEmpty == true { queues[index] = nil }
        if queues[index] != nil { sendFirst(index) }
    }

    private func sendFirst(_ index: UInt16, patience: Duration = .seconds(8)) {
        guard let command = queues[index]?.first?.command else { return }
        queues[index]?[0].deadline = loop.now + patience
        transmit(command, index)
    }

    private func transmit(_ command: ManagementCommand, _ index: UInt16) {
        do {
            // The kernel accepts a datagram only as a whole. If the socket has no room, the command is lost, as if
            // unanswered.
            _ = try command.bytes(index: index).withUnsafeBytes { try socket.write($0) }
        } catch {
            lose(error as? Errno ?? Errno(EIO))
        }
    }

    // MARK: Incoming events

    /// Handles pending kernel events. Call this before handling a lost link that these events may explain.
    func catchUp() { ready(.readable) }

    private func ready(_ readiness: Readiness) {
        let now = loop.now
        for _ in 0..<Self.packetsPerTurn {
            guard isOpen else { return }
            do throws(Errno) {
                guard let count = try socket.read(into: buffer) else {
                    if readiness.isOver { lose(Errno(EPIPE)) }
                    return
                }
                guard count > 0 else { return lose(Errno(EPIPE)) }
                handle(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: now)
            } catch {
                return lose(error)
            }
        }
    }

    private func handle(_ bytes: UnsafeRawBufferPointer, at now: MonotonicTime) {
        do throws(ManagementFault) {
            let packet = try ManagementPacket(bytes)
            if let report = try DeviceReport(packet) {
                listener.report(packet.index, report, now)
                return
            }
            let event = try ManagementEvent(packet)
            switch event {
            case .commandComplete(let opcode, _, _), .commandStatus(let opcode, _): answered(opcode, packet.index)
            default: break
            }
            listener.event(packet.index, event, now)
        } catch {
            listener.fault(error)
        }
    }

    private func answered(_ opcode: UInt16, _ index: UInt16) {
        guard let first = queues[index]?.first, first.command.opcode == opcode else { return }
        removeFirst(index)
    }

    private func lose(_ reason: Errno) {
        guard isOpen else { return }
        close()
        let listener = listener
        // Deferred to the next loop iteration: the caller of `lose` must return before the listener acts.
        loop.execute { listener.closed(reason) }
    }
}
