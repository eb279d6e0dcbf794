package import Domain

/// Driver of a ZY1280 or ZY1276, which sends a report every 250 ms and accepts no requests.
package struct ZY1280Driver: MeterDriver {
    package let profile: MeterProfile
    private var decoder = ZY1280Decoder()

    package init(model: ModelName) {
        profile = MeterProfile(
            model: model, rhythm: .push(expected: .milliseconds(250), keepAlive: nil), answerTimeout: .seconds(1),
            baudRate: 115_200)
    }

    package mutating func opening() -> [Outgoing] { [] }

    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        decoder.append(bytes)
        Self.drain(&decoder, handle)
    }

    package mutating func discardPartial() -> Int { decoder.reset() }
}
