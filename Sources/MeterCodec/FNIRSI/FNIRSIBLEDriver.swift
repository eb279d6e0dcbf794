package import Domain

/// Driver of an FNB48S, FNB58 or C1 over Bluetooth LE (Docs/Protocols/FNIRSI.md#bluetooth-le). Requests the model,
/// starts the stream, and restarts it after a silence. Supports no commands, because none is certain.
package struct FNIRSIBLEDriver: MeterDriver {
    package let profile: MeterProfile
    private var decoder = FNIRSIBLEDecoder()
    private var heardSincePoll = false

    package init(model: ModelName) {
        profile = MeterProfile(
            model: model,
            rhythm: .push(expected: .milliseconds(100), keepAlive: .milliseconds(2500)),
            answerTimeout: .seconds(3),
            commandSpacing: .milliseconds(100)
        )
    }

    package mutating func opening() -> [Outgoing] {
        heardSincePoll = false
        return [
            Outgoing(FNIRSIBLECommand.info.bytes, pause: .milliseconds(500)),
            Outgoing(FNIRSIBLECommand.start.bytes),
        ]
    }

    /// Sends the start command if no frame arrived since the last poll.
    package mutating func poll() -> [UInt8] {
        defer { heardSincePoll = false }
        return heardSincePoll ? [] : FNIRSIBLECommand.start.bytes
    }

    /// Noise does not count as proof of a running stream.
    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        var heard = false
        decoder.append(bytes)
        Self.drain(&decoder) { event in
            if case .frame = event { heard = true }
            handle(event)
        }
        if heard { heardSincePoll = true }
    }

    package mutating func closing() -> [Outgoing] { [Outgoing(FNIRSIBLECommand.stop.bytes)] }

    package mutating func discardPartial() -> Int { decoder.reset() }
}
