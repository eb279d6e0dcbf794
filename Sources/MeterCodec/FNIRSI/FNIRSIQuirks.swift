package import Domain

/// Commands and durations for a FNIRSI meter's sample stream on USB (Docs/Protocols/FNIRSI.md#commands).
package struct FNIRSIQuirks: Hashable, Sendable {
    /// Command after the first `start` on a new link.
    var secondStart: FNIRSIUSBCommand
    package var keepAlive: FNIRSIUSBCommand
    /// Interval between keep-alives. Each makes the meter stream for one second.
    package var keepAlivePeriod: Duration
    /// Whether the driver must find the right keep-alive: it sends `start` and, after a silence, `keepAlive`.
    var findsKeepAlive = false
    /// Shortest interval between commands; a shorter one can hang the meter.
    package var commandGap: Duration = .milliseconds(25)

    /// Number of keep-alives in one second. After this number without a packet, the stream counts as ended.
    var silentKeepAlivesMax: Int {
        Int(clamping: max(1, Duration.seconds(1).milliseconds / max(1, keepAlivePeriod.milliseconds)))
    }

    /// - Parameter firmware: in hundredths, 68 for 0.68; nil if unknown.
    package static func of(_ model: ModelName, firmware: Int? = nil) -> FNIRSIQuirks {
        switch (model, firmware) {
        case (.fnb58, 68): eager
        // An FNB-C2 accepts the same first commands as an FNB58 (fnb_power_logger.py, repository unknown).
        case (.fnb58, _), (.fnb48s, _), (.fnbC2, _), (.fnac28, _): relaxed
        case (.c1, _): either
        default: eager
        }
    }

    /// FNB58 and FNB48S: two `start` commands a second. The once-a-second `keepOn` of other programs would not restart
    /// a stream that ended because the scheduler was late.
    private static let relaxed = FNIRSIQuirks(
        secondStart: .start, keepAlive: .start, keepAlivePeriod: .milliseconds(500))

    /// C1 or FNAC-28, which have the same USB IDs (baryluk/fnirsi-usb-power-data-logger issue 27). An FNAC-28 accepts
    /// an FNB58's commands, but most programs use `keepOn` for a C1. So the driver determines the right keep-alive.
    private static let either = FNIRSIQuirks(
        secondStart: .start, keepAlive: .keepOn, keepAlivePeriod: .milliseconds(40), findsKeepAlive: true)

    /// FNB48 and an FNB58 with firmware 0.68: a `keepOn` for each packet, every 40 ms. The only public program with
    /// this rule uses 3 ms, but waits for a packet before each write. Real intervals of 3 ms would violate
    /// `commandGap`.
    private static let eager = FNIRSIQuirks(
        secondStart: .keepOn, keepAlive: .keepOn, keepAlivePeriod: .milliseconds(40))
}
