import BluetoothCore
import Domain
import Glibc
import LinuxIO
import Logging

/// The kernel's word on Bluetooth: its management channel and rfkill, opened together, and again after a loss. To be
/// used only on the loop.
final class KernelConnection: @unchecked Sendable {
    // Unchecked: loop only.

    private let configuration: Radios.Configuration
    private let loop: IOLoop
    private let logger: Logger
    private var channel: ManagementChannel?
    private var rfkill: RfkillWatch?
    /// The trace for a maintainer.
    private var trace = ManagementTrace()
    private var reopensAt: MonotonicTime?
    private var lastProblem: Errno?
    private var faults = 0

    init(configuration: Radios.Configuration, loop: IOLoop, logger: Logger) {
        self.configuration = configuration
        self.loop = loop
        self.logger = logger
    }

    var isOpen: Bool { channel != nil }

    /// When to open it again. Nil while it is open.
    var openTime: MonotonicTime? { isOpen ? nil : reopensAt }

    /// The last commands and events, the oldest first.
    var traced: [ManagementTrace.Entry] { trace.entries }

    /// What rfkill says about an adapter.
    func block(of adapter: String) -> RadioBlock { rfkill?.block(of: adapter) ?? RadioBlock() }

    // MARK: Life

    /// - Parameter blockChanged: rfkill's word on an adapter.
    func open(
        _ listener: ManagementChannel.Listener,
        blockChanged: @escaping @Sendable (_ adapter: String, RadioBlock) -> Void
    ) {
        do throws(Errno) {
            let channel = ManagementChannel(socket: try configuration.openSocket(), loop: loop, listener: listener)
            try channel.begin()
            self.channel = channel
            lastProblem = nil
            let rfkill = RfkillWatch(files: configuration.files, loop: loop, report: blockChanged)
            rfkill.begin()
            self.rfkill = rfkill
            channel.send(.readIndexList, to: ManagementPacket.noIndex)
        } catch {
            failed(error)
        }
    }

    func close() {
        channel?.close()
        channel = nil
        rfkill?.close()
        rfkill = nil
    }

    /// It cannot be opened, or is lost. Logged once for as long as it lasts; a machine without Bluetooth is not at
    /// fault.
    func failed(_ problem: Errno) {
        reopensAt = loop.now + configuration.reopenInterval
        guard problem != lastProblem else { return }
        lastProblem = problem
        let isAbsent = problem.code == EAFNOSUPPORT || problem.code == EPROTONOSUPPORT
        logger.log(
            level: isAbsent ? .info : .warning,
            isAbsent ? "no Bluetooth in this kernel" : "Bluetooth management channel not open",
            metadata: ["cause": "\(problem)"])
    }

    /// Bytes came that are not a packet.
    func malformed(_ fault: ManagementFault) {
        faults += 1
        // Logs the first, then ever fewer.
        guard faults & (faults - 1) == 0 else { return }
        logger.warning("malformed Bluetooth packet", metadata: ["cause": "\(fault)", "count": "\(faults)"])
    }

    // MARK: Commands and events

    /// Sends a command of an adapter's machine, and remembers it.
    ///
    /// - Parameter patience: how long later commands for this adapter wait for its answer.
    func send(_ command: ManagementCommand, to index: UInt16, patience: Duration, at now: MonotonicTime) {
        trace.record(.command(opcode: command.opcode), of: index, at: now)
        channel?.send(command, to: index, patience: patience)
    }

    /// Sends a command about a device.
    func send(_ command: ManagementCommand, to index: UInt16) { channel?.send(command, to: index) }

    /// Sends a command that is not to wait for others.
    func tell(_ command: ManagementCommand, to index: UInt16) { channel?.tell(command, to: index) }

    /// Remembers an event.
    func record(_ event: ManagementEvent, of index: UInt16, at now: MonotonicTime) {
        trace.record(event, of: index, at: now)
    }

    /// Reads what has arrived already, for a caller that must see it before its consequences.
    func catchUp() { channel?.catchUp() }

    /// Gives up commands not answered in time, so that those behind them are sent.
    func expire() { channel?.expire() }

    /// Drops everything that waits for an adapter, because it is gone.
    func forget(_ index: UInt16) { channel?.forget(index) }
}
