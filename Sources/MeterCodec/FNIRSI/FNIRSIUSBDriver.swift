package import Domain

/// The driver of FNIRSI's meters on USB (Docs/Protocols/FNIRSI.md#commands): the meter streams for a
/// second at a time, and `poll` renews that second. No command is known on USB.
package struct FNIRSIUSBDriver: MeterDriver {
    package let profile: MeterProfile
    package let quirks: FNIRSIQuirks
    private var decoder = FNIRSIUSBDecoder()
    package var isFiltering = true { didSet { if isFiltering != oldValue { forgetNeighbours() } } }
    private var silentKeepAlives = 0
    /// Whether samples came over this link, or a hello was sent because none did.
    private var isGreeted = false
    /// Whether a start follows the hello that was sent last.
    private var startsNext = false
    /// Where it is found out which keep-alive the meter takes (`FNIRSIQuirks.findsKeepAlive`): the number of turns since the
    /// last `start`. Nil once the meter was silent for half a second of those.
    private var turnsSinceStart: Int?

    /// - Parameters:
    ///   - model: from the USB ids, since packets do not tell it.
    ///   - firmware: in hundredths, 68 for 0.68, if known.
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

    /// The next sample is not a neighbour of the last one.
    private mutating func forgetNeighbours() { decoder.filter = isFiltering ? FNIRSIGlitchFilter() : nil }

    /// Two starts, separated by twice the shortest gap: waiting costs nothing, and a meter that hangs has to be revived by
    /// hand. Whoever had the meter before may just have written to it, so that the first waits as well. No hello: one reader
    /// warns that it may restart the meter, and the stream works without it (Docs/Protocols/FNIRSI.md#commands).
    package mutating func opening() -> [Outgoing] {
        silentKeepAlives = 0
        turnsSinceStart = quirks.findsKeepAlive ? 0 : nil
        forgetNeighbours()
        (isGreeted, startsNext) = (false, false)
        let commands = [FNIRSIUSBCommand.start, quirks.secondStart]
        return ([[]] + commands.map(\.bytes)).map { Outgoing($0, pause: quirks.commandGap * 2) }
    }

    /// The keep-alive. When one second's worth of them has brought nothing, the stream has ended and must be restarted; a meter
    /// that has sent no sample yet gets a hello before that.
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

    /// A `start` each half second as long as packets come, and nothing between. Half a second without one, and the meter is
    /// taken for one that wants `keepOn`.
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

    /// Only packets show that the stream goes on; noise does not.
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

    /// Sends nothing, but leaves time to read on for as long as the meter may stream: a meter whose last packets are
    /// not read may freeze (Docs/Protocols/FNIRSI.md#commands).
    package mutating func closing() -> [Outgoing] { [Outgoing([], pause: .milliseconds(1100))] }

    package mutating func discardPartial() -> Int { decoder.reset() }
}
