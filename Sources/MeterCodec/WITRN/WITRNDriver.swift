package import Domain

/// The driver of a WITRN meter, which pushes a report every 10 ms from the moment that somebody listens.
///
/// Nothing is ever sent: by the same report other programs erase and write the meter's firmware (azwhikaru/witrn_protocol
/// README.md, lliooly/witrn-k2-updater-re docs/protocol.md), and a K2 stops serving its output endpoint after one
/// malformed report until it is plugged in anew (KHWLGH/WITRN-RS crates/witrn-hid/src/info.rs).
package struct WITRNDriver: MeterDriver {
    package let profile: MeterProfile
    private var decoder = WITRNDecoder()

    /// - Parameter model: from the USB ids, since reports do not tell it.
    package init(model: ModelName) {
        profile = MeterProfile(
            model: model, rhythm: .push(expected: .milliseconds(Int64(WITRNReport.interval_ms)), keepAlive: nil),
            answerTimeout: .seconds(1))
    }

    /// Sends nothing. The decoder starts afresh: a message must not get the moment of a measurement of the last link.
    package mutating func opening() -> [Outgoing] {
        decoder = WITRNDecoder()
        return []
    }

    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        decoder.append(bytes)
        Self.drain(&decoder, handle)
    }

    package mutating func discardPartial() -> Int { decoder.reset() }
}
