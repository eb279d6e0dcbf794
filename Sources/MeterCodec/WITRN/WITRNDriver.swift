package import Domain

/// Driver of a WITRN meter, which sends a report every 10 ms while a program reads it.
///
/// The driver never sends anything: reports to the meter can also erase and write the firmware
/// (azwhikaru/witrn_protocol README.md, lliooly/witrn-k2-updater-re docs/protocol.md). After one malformed report a K2
/// ignores its output endpoint until plugged in again (KHWLGH/WITRN-RS crates/witrn-hid/src/info.rs).
package struct WITRNDriver: MeterDriver {
    package let profile: MeterProfile
    private var decoder = WITRNDecoder()

    /// - Parameter model: from the USB ids; reports do not contain it.
    package init(model: ModelName) {
        profile = MeterProfile(
            model: model, rhythm: .push(expected: .milliseconds(Int64(WITRNReport.interval_ms)), keepAlive: nil),
            answerTimeout: .seconds(1))
    }

    /// Sends nothing. Starts a new decoder, so that no CC message gets the clock value of the preceding link.
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
