package import MeterModel

/// Talks to an FNB48, FNB48S, FNB58 or C1 on USB (Docs/Protocols/FNIRSI.md#commands): the meter streams for a second at
/// a time, and `poll` renews that second.
package struct FNIRSIUSBDriver: MeterDriver {
    package let profile: MeterProfile
    package let quirks: FNIRSIQuirks
    private var decoder = FNIRSIUSBDecoder()
    /// nil for a model that needs none.
    private var filter: FNIRSIGlitchFilter?
    private var silentKeepAlives = 0

    /// - Parameters:
    ///   - model: from the USB ids; packets do not tell it.
    ///   - firmware: in hundredths, 68 for 0.68, where something told it.
    package init(model: ModelName, firmware: Int? = nil) {
        quirks = FNIRSIQuirks.of(model, firmware: firmware)
        filter = FNIRSIGlitchFilter(for: model)
        profile = MeterProfile(
            model: model,
            rhythm: .push(expected: .milliseconds(40), keepAlive: quirks.keepAlivePeriod),
            answerTimeout: .seconds(1),
            commandSpacing: quirks.commandGap
        )
    }

    /// Hello and two starts, with twice the least gap between: nothing is lost by waiting, and a hang needs a hand.
    package mutating func opening() -> [Outgoing] {
        silentKeepAlives = 0
        filter = FNIRSIGlitchFilter(for: profile.model)
        return [FNIRSIUSBCommand.hello, .start, quirks.secondStart].map { command in
            Outgoing(command.bytes, pause: quirks.commandGap * 2)
        }
    }

    /// The keep-alive. When a lease's worth of them brought nothing, the stream has ended and must be started anew.
    package mutating func poll() -> [UInt8] {
        silentKeepAlives += 1
        guard silentKeepAlives > quirks.silentKeepAlivesMax else { return quirks.keepAlive.bytes }
        silentKeepAlives = 0
        // What comes next is no neighbour of what came last.
        filter = FNIRSIGlitchFilter(for: profile.model)
        return FNIRSIUSBCommand.start.bytes
    }

    /// Packets alone show that the stream goes on; noise does not.
    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        var heard = false
        var filter = self.filter
        decoder.append(bytes)
        Self.drain(&decoder) { event in
            switch event {
            case .frame(.fnirsiUSB(let packet)):
                heard = true
                guard let (shown, replaced) = filter?.filter(packet) else { break }
                if replaced > 0 { handle(.filtered(samples: replaced)) }
                for packet in shown { handle(.frame(.fnirsiUSB(packet))) }
                return
            case .frame: heard = true
            // A whole packet of impossible values, as after an unclean stop, is a packet.
            case .skipped(FNIRSIUSBPacket.length, .implausibleField): heard = true
            default: break
            }
            handle(event)
        }
        self.filter = filter
        if heard { silentKeepAlives = 0 }
    }

    /// No command of the model is known on USB, so this refuses all.
    package func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        throw .unsupportedCommand(command.kind, model: profile.model)
    }

    /// Nothing to say, and a lease's length to read on: a meter whose last packets nobody takes may freeze
    /// (Docs/Protocols/FNIRSI.md#commands).
    package mutating func closing() -> [Outgoing] { [Outgoing([], pause: .milliseconds(1100))] }

    package mutating func discardPartial() -> Int { decoder.reset() }
}
