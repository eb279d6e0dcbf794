package import Domain

/// Driver of an FL001 Super, which pushes reports. The driver never sends anything, because no request is known.
package struct FL001Driver: MeterDriver {
    package let profile: MeterProfile
    private var decoder = FL001Decoder()

    package init(model: ModelName) {
        profile = MeterProfile(
            model: model, rhythm: .push(expected: .milliseconds(FL001Report.interval_ms), keepAlive: nil),
            answerTimeout: .seconds(1))
    }

    package mutating func opening() -> [Outgoing] {
        decoder = FL001Decoder()
        return []
    }

    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        decoder.append(bytes)
        Self.drain(&decoder, handle)
    }

    package mutating func discardPartial() -> Int { decoder.reset() }
}
