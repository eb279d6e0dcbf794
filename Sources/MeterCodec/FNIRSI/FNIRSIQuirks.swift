package import MeterModel

/// What a FNIRSI meter on USB needs to keep streaming, by model and firmware (Docs/Protocols/FNIRSI.md#commands): the
/// table to extend when another one misbehaves.
package struct FNIRSIQuirks: Hashable, Sendable {
    /// What follows the first `start` at the opening.
    package var secondStart: FNIRSIUSBCommand
    /// What keeps the stream alive.
    package var keepAlive: FNIRSIUSBCommand
    /// How often. A lease lasts one second.
    package var keepAlivePeriod: Duration
    /// The least time between two commands; closer ones can hang the meter.
    package var commandGap: Duration = .milliseconds(25)

    /// How many keep-alives may go out without a packet coming back before the stream counts as ended: a lease's worth.
    package var silentKeepAlivesMax: Int {
        Int(clamping: max(1, Duration.seconds(1).milliseconds / max(1, keepAlivePeriod.milliseconds)))
    }

    /// - Parameter firmware: in hundredths, 68 for 0.68; nil where it is not known.
    package static func of(_ model: ModelName, firmware: Int? = nil) -> FNIRSIQuirks {
        switch (model, firmware) {
        case (.fnb58, 68): eager
        // An FNB-C2 takes the greeting of an FNB58 (a bench tool's fnb_power_logger.py, repository not named by its index).
        case (.fnb58, _), (.fnb48s, _), (.fnbC2, _): relaxed
        default: eager
        }
    }

    /// FNB58 and FNB48S: a `start` twice in each lease. It also revives a stream whose lease ran out in a late
    /// scheduler's hands, which `keepOn` would not; hence not `keepOn` once a second, which readers also use.
    private static let relaxed = FNIRSIQuirks(
        secondStart: .start, keepAlive: .start, keepAlivePeriod: .milliseconds(500))

    /// FNB48, C1 and an FNB58 with firmware 0.68: a `keepOn` with each packet. The reader this comes from is set to
    /// 3 ms and waits for a packet before each write, which makes it once in 40 ms; 3 ms apart they would break
    /// `commandGap`.
    private static let eager = FNIRSIQuirks(
        secondStart: .keepOn, keepAlive: .keepOn, keepAlivePeriod: .milliseconds(40))
}
