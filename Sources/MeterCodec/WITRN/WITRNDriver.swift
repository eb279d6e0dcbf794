package import Domain

/// Driver of a WITRN meter, which pushes a report every 10 ms while somebody listens.
///
/// It never sends anything. By the same report other programs erase and write the meter's firmware
/// (azwhikaru/witrn_protocol README.md, lliooly/witrn-k2-updater-re docs/protocol.md). After one malformed report a K2
/// stops serving its output endpoint until it is plugged in again (KHWLGH/WITRN-RS crates/witrn-hid/src/info.rs).
package struct WITRNDriver: MeterDriver {
    package let profile: MeterProfile
    private var decoder = WITRNDecoder()

    /// - Parameter model: from the USB ids, since reports do not tell it.
    package init(model: ModelName) {
        profile = MeterProfile(
            model: model, rhythm: .push(expected: .milliseconds(Int64(WITRNReport.interval_ms)), keepAlive: nil),
            answerTimeout: .seconds(1))
    }

    /// Sends nothing. Starts a new decoder: a message must not get the time of a measurement of the last link.
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
