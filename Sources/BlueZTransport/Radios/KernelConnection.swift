import BluetoothCore
import Domain
import Glibc
import LinuxIO
import Logging

/// The kernel's management channel and rfkill, reopened together after a loss. Use only on the event loop.
final class KernelConnection: @unchecked Sendable {
    private let configuration: Radios.Configuration
    private let loop: IOLoop
    private let logger: Logger
    private var channel: ManagementChannel?
    private var rfkill: RfkillWatch?
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

    var openTime: MonotonicTime? { isOpen ? nil : reopensAt }

    var traced: [ManagementTrace.Entry] { trace.entries }

    func block(of adapter: String) -> RadioBlock { rfkill?.block(of: adapter) ?? RadioBlock() }

    // MARK: Life

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

    func failed(_ problem: Errno) {
        reopensAt = loop.now + configuration.reopenInterval
        guard problem != lastProblem else { return }
        lastProblem = problem
        let isAbsent = problem.code == EAFNOSUPPORT || problem.code == EPROTONOSUPPORT
        logger.log(
            level: isAbsent ? .info : .warning,
            isAbsent ? "kernel has no Bluetooth" : "Bluetooth management channel not opened",
            metadata: ["cause": "\(problem)"])
    }

    func malformed(_ fault: ManagementFault) {
        faults += 1
        // Logs faults number 1, 2, 4, 8 and so on.
        guard faults & (faults - 1) == 0 else { return }
        logger.warning("malformed Bluetooth packet ignored", metadata: ["cause": "\(fault)", "count": "\(faults)"])
    }

    // MARK: Commands and events

    func send(_ command: ManagementCommand, to index: UInt16, patience: Duration, at now: MonotonicTime) {
        trace.record(.command(opcode: command.opcode), of: index, at: now)
        channel?.send(command, to: index, patience: patience)
    }

    func send(_ command: ManagementCommand, to index: UInt16) { channel?.send(command, to: index) }

    func tell(_ command: ManagementCommand, to index: UInt16) { channel?.tell(command, to: index) }

    func record(_ event: ManagementEvent, of index: UInt16, at now: MonotonicTime) {
        trace.record(event, of: index, at: now)
    }

    func catchUp() { channel?.catchUp() }

    func expire() { channel?.expire() }

    func forget(_ index: UInt16) { channel?.forget(index) }
}
