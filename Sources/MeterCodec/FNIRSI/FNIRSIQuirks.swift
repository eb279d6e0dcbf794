package import Domain

/// Commands and times that keep a FNIRSI meter on USB streaming, by model and firmware
/// (Docs/Protocols/FNIRSI.md#commands). Extend this table for further models with special needs.
package struct FNIRSIQuirks: Hashable, Sendable {
    /// Command after the first `start` when the link opens.
    var secondStart: FNIRSIUSBCommand
    package var keepAlive: FNIRSIUSBCommand
    /// Time between keep-alives. A keep-alive makes the meter stream for one second.
    package var keepAlivePeriod: Duration
    /// Whether the driver finds out which keep-alive the meter needs: it first sends `start` and, after a silence,
    /// `keepAlive`.
    var findsKeepAlive = false
    /// Shortest time between two commands. Commands at shorter intervals can hang the meter.
    package var commandGap: Duration = .milliseconds(25)

    /// Number of keep-alives in one second. After this number without a packet, the stream counts as ended.
    var silentKeepAlivesMax: Int {
        Int(clamping: max(1, Duration.seconds(1).milliseconds / max(1, keepAlivePeriod.milliseconds)))
    }

    /// Returns the quirks of a model.
    ///
    /// - Parameter firmware: in hundredths, 68 for 0.68; nil if unknown.
    package static func of(_ model: ModelName, firmware: Int? = nil) -> FNIRSIQuirks {
        switch (model, firmware) {
        case (.fnb58, 68): eager
        // An FNB-C2 accepts the same first commands as an FNB58 (a bench tool's fnb_power_logger.py, repository not
        // named by its index).
        case (.fnb58, _), (.fnb48s, _), (.fnbC2, _), (.fnac28, _): relaxed
        case (.c1, _): either
        default: eager
        }
    }

    /// FNB58 and FNB48S: a `start` twice in each second of streaming. Other programs send `keepOn` once a second. That
    /// command would not restart a stream that ended because the scheduler was late.
    private static let relaxed = FNIRSIQuirks(
        secondStart: .start, keepAlive: .start, keepAlivePeriod: .milliseconds(500))

    /// C1 or FNAC-28, which have the same USB IDs (baryluk/fnirsi-usb-power-data-logger issue 27). An FNAC-28 accepts
    /// the commands of an FNB58, but most programs use `keepOn` for a C1. So the driver finds out which keep-alive the
    /// meter needs.
    private static let either = FNIRSIQuirks(
        secondStart: .start, keepAlive: .keepOn, keepAlivePeriod: .milliseconds(40), findsKeepAlive: true)

    /// FNB48 and an FNB58 with firmware 0.68: a `keepOn` for each packet, once every 40 ms. The program that this rule
    /// comes from has an interval of 3 ms, but waits for a packet before each write. Commands really sent 3 ms apart
    /// would violate `commandGap`.
    private static let eager = FNIRSIQuirks(
        secondStart: .keepOn, keepAlive: .keepOn, keepAlivePeriod: .milliseconds(40))
}
