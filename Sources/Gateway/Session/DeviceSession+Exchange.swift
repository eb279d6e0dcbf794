import ConnectionCore
import GatewayAPI
import Logging
import MeterCodec
package import MeterModel

/// Requests, commands, answers.
extension DeviceSession {
    /// A command on its way to the meter, and who waits for it to be sent; nil: nobody, it is a setting.
    struct QueuedCommand {
        var command: MeterCommand
        var bytes: [UInt8]
        var sent: CheckedContinuation<Bool, Never>?
    }

    /// More than these wait for nobody: a meter takes two a second at best.
    private static let commandsMax = 32

    /// Sends a command as soon as the line is free. Returns when it went out; meters of most families do not answer.
    package func perform(_ command: MeterCommand) async throws(GatewayError) {
        guard exchange != nil, var driver else {
            throw GatewayError(
                .notConnected, "\(id) is \(machine.state.rawValue), so it takes no command",
                next: "meterctl connect \(id)")
        }
        guard !isInJeopardy else { throw jeopardy(command) }
        let bytes: [UInt8]
        do throws(CodecError) {
            bytes = try driver.encode(command)
        } catch {
            throw GatewayError(.badRequest, "\(error)", next: commandHelp)
        }
        self.driver = driver
        guard commandQueue.count < Self.commandsMax else {
            throw GatewayError(
                .refused, "\(commandQueue.count) commands wait for \(id) already", next: "wait until they are sent")
        }
        let wasSent = await withCheckedContinuation { continuation in
            commandQueue.append(QueuedCommand(command: command, bytes: bytes, sent: continuation))
            exchange?.commandQueued()
            wake()
        }
        guard wasSent else {
            guard !isInJeopardy else { throw jeopardy(command) }
            throw GatewayError(.notConnected, "the link was lost before \(command) was sent", next: "try again")
        }
    }

    private var commandHelp: String {
        let rules = driver?.profile.commands ?? []
        guard !rules.isEmpty else { return "this model takes no commands over this link" }
        return "it knows "
            + rules.map { rule in
                rule.kind.rawValue + (rule.numbers.map { " \($0.lowerBound)-\($0.upperBound)" } ?? "")
            }.joined(separator: ", ")
    }

    /// Does whatever is due now.
    func takeTurns() {
        while let channel, exchange != nil, download == nil {
            let now = loop.now
            switch exchange?.turn(at: now) {
            case .sendRequest:
                send(driver?.poll() ?? [], over: channel)
                markCommunicating(at: now)
            case .sendCommand:
                guard !commandQueue.isEmpty else { continue }
                let queued = commandQueue.removeFirst()
                guard !isInJeopardy else {
                    noteDropped(queued.command)
                    queued.sent?.resume(returning: false)
                    continue
                }
                send(queued.bytes, over: channel)
                logger.info("command sent", metadata: ["command": "\(queued.command)"])
                noteSent(queued.command)
                queued.sent?.resume(returning: true)
            case .giveUpAnswer:
                counters.timeouts += 1
                counters.skipped_bytes += driver?.discardPartial() ?? 0
            case .wait, nil:
                return
            }
        }
    }

    func markCommunicating(at now: MonotonicTime) {
        note("request sent") { machine.requestSent(at: now) }
    }

    func received(_ bytes: [UInt8]) {
        let now = loop.now
        let wallNow = loop.wallNow
        if traffic.hasListeners { traffic.yield(TrafficRecord(time: now, direction: .inward, bytes: bytes)) }
        if !hasReadingOfLink { past.note(TrafficRecord(time: now, direction: .inward, bytes: bytes)) }
        if download != nil {
            downloadReceived(bytes)
            return arm()
        }
        guard var driver = self.driver.take() else { return }
        var found: ModelName?
        driver.receive(bytes) { event in
            if case .identified(let model) = event { found = model } else { take(event, at: now, wallNow) }
        }
        self.driver = driver
        if let found { identified(as: found) }
        takeTurns()
        arm()
    }

    private func take(_ event: MeterEvent, at now: MonotonicTime, _ wallNow: WallTime) {
        switch event {
        case .frame(let frame):
            exchange?.answered()
            if device == nil { learn(from: frame) }
            take(frame, at: now, wallNow)
        case .acknowledged:
            exchange?.answered()
        case .rejected:
            exchange?.answered()
            counters.rejected += 1
            if machine.state != .dataAvailable { lastError = "the meter refused what it was asked" }
        case .identified:
            break
        case .skipped(let count, let error):
            counters.skipped_bytes += count
            counters.resynchronisations += 1
            logger.debug("bytes skipped", metadata: ["count": "\(count)", "cause": "\(error)"])
        case .filtered(let samples):
            counters.filtered_samples = (counters.filtered_samples ?? 0) + samples
        }
    }

    /// A frame without a measurement, such as "ok", answers a request but is no data.
    private func take(_ frame: Frame, at now: MonotonicTime, _ wallNow: WallTime) {
        var hasData = false
        frame.forEachReading { reading in
            if !hasData {
                hasData = true
                note("valid frame") { machine.frameReceived(at: now) }
            }
            publish(TimedReading(wallTime: wallNow, time: now, reading: reading))
        }
    }

    /// No meter has more kinds of frames with readings in them.
    private static let partsMax = 8

    private func publish(_ reading: TimedReading) {
        counters.readings += 1
        latest = reading
        if let index = latestParts.firstIndex(where: { $0.reading.supported == reading.reading.supported }) {
            latestParts[index] = reading
        } else if latestParts.count < Self.partsMax {
            latestParts.append(reading)
        }
        if !hasReadingOfLink { past.forgetTraffic() }
        hasReadingOfLink = true
        silentLinks = 0
        track.append(reading.wallTime, reading.reading)
        recording?.append(reading)
        if readings.hasListeners { readings.yield(reading) }
    }

    /// Takes over what the meter says of itself; a model other than the one expected is told to a person, not hidden.
    private func learn(from frame: Frame) {
        device = frame.content.device
        if let device { tell(.device(device, of: id)) }
        guard let seen = device?.model, let model, seen.family == model.family, seen != model else { return }
        logger.warning(
            "the meter says it is another model",
            metadata: ["expected": "\(model.displayName)", "found": "\(seen.displayName)"])
    }
}
