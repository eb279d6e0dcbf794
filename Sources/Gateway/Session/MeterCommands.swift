package import Domain
import GatewayAPI
import Logging
import MeterCodec

final class MeterCommands {
    private let line: MeterLine
    private let states: MeterStates
    private let counting: EnergyTrack?
    private var queue = CommandQueue()
    private var readBacks = ReadBacks()

    init(over line: MeterLine, _ states: MeterStates, counting: EnergyTrack?) {
        self.line = line
        self.states = states
        self.counting = counting
    }

    private var id: MeterID { states.id }

    /// - Parameter wake: called once the command is queued.
    func perform(
        _ command: MeterCommand, by deadline: MonotonicTime?, isolation: isolated (any Actor)? = #isolation,
        wake: () -> Void
    ) async throws(GatewayError) {
        guard command.kind != .resetEnergy else { return try await resetEnergy(command) }
        guard line.profile?.commands.first(where: { $0.kind == command.kind })?.isReadBack == true else {
            return try await send(command, by: deadline, wake: wake)
        }
        var found: MeterCommand?
        for _ in 0..<ReadBacks.triesMax {
            let number = readBacks.expect(command)
            defer { readBacks.forget(number) }
            try await send(command, by: deadline, wake: wake)
            switch await readBack(number) {
            case .taken: return
            case .contradicted(let other): found = other
            case .unanswered: break
            case .linkLost:
                throw GatewayError(
                    .notConnected, "the link was lost after \(command) was sent, so its outcome is unknown",
                    next: "meterctl status \(id) shows the meter's state once it is back")
            }
        }
        let outcome = found.map { "the meter reports \($0)" } ?? "the meter did not confirm it"
        throw GatewayError(
            .refused, "\(command) was sent to \(id) \(ReadBacks.triesMax) times, but \(outcome)",
            next: "check the meter itself")
    }

    private func readBack(
        _ number: Int, isolation: isolated (any Actor)? = #isolation
    ) async -> ReadBacks.Verdict {
        let timer = line.timer(.readBack(number), at: states.now + ReadBacks.patience)
        defer { states.loop.cancel(timer) }
        return await withCheckedContinuation { readBacks.wait(number, $0) }
    }

    private func send(
        _ command: MeterCommand, by deadline: MonotonicTime?, isolation: isolated (any Actor)? = #isolation,
        wake: () -> Void
    ) async throws(GatewayError) {
        guard line.exchange != nil, let profile = line.profile else {
            throw GatewayError(
                .notConnected, "\(id) is \(states.machine.state.rawValue), so it takes no command",
                next: "meterctl connect \(id)")
        }
        guard line.allows(command) else { throw .jeopardy(id, "\(command) is not sent") }
        let bytes: [UInt8]
        do throws(CodecError) {
            bytes = try line.encode(command)
        } catch {
            throw GatewayError(.badRequest, "\(error)", next: profile.commandHelp)
        }
        guard !queue.isFull else {
            throw GatewayError(
                .refused, "\(queue.count) commands already wait for \(id)", next: "wait until they are sent")
        }
        let timer = deadline.map { line.timer(.commandDeadline, at: $0) }
        let wasSent = await withCheckedContinuation { continuation in
            queue.append(
                CommandQueue.Entry(command: command, bytes: bytes, deadline: deadline, sent: continuation))
            line.exchange?.commandQueued()
            wake()
        }
        if let timer { states.loop.cancel(timer) }
        guard wasSent else {
            if let deadline, states.now >= deadline {
                throw GatewayError(.timedOut, "\(command) expired while \(id) was busy", next: "try again")
            }
            guard line.allows(command) else { throw .jeopardy(id, "\(command) is not sent") }
            throw GatewayError(.notConnected, "the link was lost before \(command) was sent", next: "try again")
        }
    }

    /// Resets meterd's own count, not the meter's; works without a link.
    private func resetEnergy(
        _ command: MeterCommand, isolation: isolated (any Actor)? = #isolation
    ) async throws(GatewayError) {
        guard let profile = line.profile, let counting else {
            throw GatewayError(
                .refused, "\(id) has no energy count, as its model is unknown", next: "meterctl connect \(id)")
        }
        do throws(CodecError) {
            try profile.validate(command)
        } catch {
            throw GatewayError(.badRequest, "\(error)", next: profile.commandHelp)
        }
        try await counting.reset(at: states.loop.wallNow)
        states.mark()
        states.logger.info("energy count reset")
    }

    // MARK: Sending and confirmation

    /// Queues the settings not yet sent over this link, unless the lease is in jeopardy. A removed setting remains in
    /// force, because the meter's earlier value is unknown.
    func tell(_ settings: MeterSettings) {
        guard line.exchange != nil, !line.isInJeopardy, let profile = line.profile else { return }
        for command in settings.commands(for: profile) where !queue.wasTold(command) {
            do throws(CodecError) {
                queue.append(setting: command, try line.encode(command))
                line.exchange?.commandQueued()
            } catch {
                states.logger.warning("setting not sent to the meter", metadata: ["cause": "\(error)"])
            }
        }
    }

    func sendNext(at now: MonotonicTime) {
        guard let next = queue.next() else { return }
        guard line.allows(next.command), next.deadline.map({ now < $0 }) ?? true else { return queue.drop(next) }
        line.send(next.command, next.bytes)
        readBacks.sent(next.command)
        states.logger.info("command sent", metadata: ["command": "\(next.command)"])
        queue.sent(next)
    }

    func heard(_ command: MeterCommand) { readBacks.heard(command) }

    func readBackIsOver(_ number: Int) { readBacks.end(number, with: .unanswered) }

    func dropOverdue() { queue.dropOverdue(at: states.now) }

    func linkEnded() {
        queue.dropAll()
        readBacks.linkLost()
    }
}

extension DeviceSession {
    /// Whether the command's effect is certain once `perform` returns.
    func confirms(_ kind: MeterCommand.Kind) -> Bool {
        kind == .resetEnergy || profile?.commands.contains { $0.kind == kind && $0.isReadBack } == true
    }

    /// Returns once the command is sent, or confirmed if the model reports its settings.
    ///
    /// - Parameter deadline: latest time to send the command.
    package func perform(_ command: MeterCommand, by deadline: MonotonicTime? = nil) async throws(GatewayError) {
        try await talk.commands.perform(command, by: deadline) { wake() }
    }
}
