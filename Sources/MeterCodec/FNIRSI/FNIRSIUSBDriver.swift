package import Domain

/// Driver of FNIRSI's meters on USB (Docs/Protocols/FNIRSI.md#commands). `poll` renews the stream, which lasts one
/// second. No user command is known on USB.
package struct FNIRSIUSBDriver: MeterDriver {
    package let profile: MeterProfile
    package let quirks: FNIRSIQuirks
    private var decoder = FNIRSIUSBDecoder()
    package var isFiltering = true { didSet { if isFiltering != oldValue { forgetNeighbours() } } }
    private var silentKeepAlives = 0
    /// Whether samples arrived over this link, or a hello was sent.
    private var isGreeted = false
    /// Whether the next poll must send a start, after a hello.
    private var startsNext = false
    /// Number of polls since the last `start`, while the driver determines the keep-alive
    /// (`FNIRSIQuirks.findsKeepAlive`). Nil after half a second of silence, or if the keep-alive is known.
    private var turnsSinceStart: Int?

    /// - Parameters:
    ///   - model: from the USB IDs, because packets do not contain it.
    ///   - firmware: in hundredths, 68 for 0.68; nil if unknown.
    package init(model: ModelName, firmware: Int? = nil) {
        quirks = FNIRSIQuirks.of(model, firmware: firmware)
        profile = MeterProfile(
            model: model,
            rhythm: .push(expected: .milliseconds(40), keepAlive: quirks.keepAlivePeriod),
            answerTimeout: .seconds(1),
            commandSpacing: quirks.commandGap,
            filters: true
        )
        forgetNeighbours()
    }

    private mutating func forgetNeighbours() { decoder.filter = isFiltering ? FNIRSIGlitchFilter() : nil }

    /// Sends two starts, each after a pause of twice the shortest gap: another program may just have written, and
    /// commands too close together hang the meter until it is unplugged. Sends no hello, which may restart the meter
    /// according to another program's author (Docs/Protocols/FNIRSI.md#commands).
    package mutating func opening() -> [Outgoing] {
        silentKeepAlives = 0
        turnsSinceStart = quirks.findsKeepAlive ? 0 : nil
        forgetNeighbours()
        (isGreeted, startsNext) = (false, false)
        let commands = [FNIRSIUSBCommand.start, quirks.secondStart]
        return ([[]] + commands.map(\.bytes)).map { Outgoing($0, pause: quirks.commandGap * 2) }
    }

    /// Returns the keep-alive. After one second without a packet, restarts the stream, with a hello first if no sample
    /// has arrived yet.
    package mutating func poll() -> [UInt8] {
        guard !startsNext else { return startAnew() }
        silentKeepAlives += 1
        if let turns = turnsSinceStart { return renewed(after: turns + 1) }
        guard silentKeepAlives > quirks.silentKeepAlivesMax else { return quirks.keepAlive.bytes }
        guard !isGreeted else { return startAnew() }
        (isGreeted, startsNext) = (true, true)
        return FNIRSIUSBCommand.hello.bytes
    }

    private mutating func startAnew() -> [UInt8] {
        (silentKeepAlives, startsNext) = (0, false)
        forgetNeighbours()
        return FNIRSIUSBCommand.start.bytes
    }

    /// Returns a `start` each half second while packets arrive, then `keepAlive` after half a second of silence.
    private mutating func renewed(after turns: Int) -> [UInt8] {
        let isTurn = quirks.keepAlivePeriod * turns >= Self.patience
        if quirks.keepAlivePeriod * silentKeepAlives >= Self.patience {
            turnsSinceStart = nil
            silentKeepAlives = 0
            forgetNeighbours()
            return quirks.keepAlive.bytes
        }
        turnsSinceStart = isTurn ? 0 : turns
        return isTurn ? FNIRSIUSBCommand.start.bytes : []
    }

    private static let patience = Duration.milliseconds(500)

    /// Noise does not count as proof of a running stream.
    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        var heard = false
        var hasSamples = false
        decoder.append(bytes)
        Self.drain(&decoder) { event in
            switch event {
            case .frame(.fnirsiUSB(let packet)):
                heard = true
                if packet.sampleTicks != nil { hasSamples = true }
                if packet.replaced > 0 { handle(.filtered(samples: packet.replaced)) }
            case .frame: heard = true
            // A complete packet of implausible values, as after an unclean stop, counts as a packet.
            case .skipped(FNIRSIUSBPacket.length, .implausibleField): heard = true
            default: break
            }
            handle(event)
        }
        if heard { silentKeepAlives = 0 }
        if hasSamples { isGreeted = true }
    }

    /// Sends nothing, but waits to receive the last packets, without which the meter may freeze
    /// (Docs/Protocols/FNIRSI.md#commands).
    package mutating func closing() -> [Outgoing] { [Outgoing([], pause: .milliseconds(1100))] }

    package mutating func discardPartial() -> Int { decoder.reset() }
}
