package import Domain

/// Driver of a WITRN meter, which pushes a report every 10 ms while a program reads it.
///
/// The driver never sends anything. Other programs use the same kind of report to erase and write the meter's firmware
/// (azwhikaru/witrn_protocol README.md, lliooly/witrn-k2-updater-re docs/protocol.md). After one malformed report a K2
/// stops serving its output endpoint until it is plugged in again (KHWLGH/WITRN-RS crates/witrn-hid/src/info.rs).
package struct WITRNDriver: MeterDriver {
    package let profile: MeterProfile
    private var decoder = WITRNDecoder()

    /// - Parameter model: model from the USB ids, because reports do not contain it.
    package init(model: ModelName) {
        profile = MeterProfile(
            model: model, rhythm: .push(expected: .milliseconds(Int64(WITRNReport.interval_ms)), keepAlive: nil),
            answerTimeout: .seconds(1))
    }

    /// Sends nothing. Starts a new decoder, so that no message gets the time of a measurement of the last link.
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
