package import Domain

/// The driver of a KM001 Pro, which sends 200 samples for a request, or of an ACD15P, which sends one
/// (Docs/Protocols/KM001.md#conversation). Nothing stops it: what was asked for ends by itself.
package struct KM001Driver: MeterDriver {
    package let profile: MeterProfile
    private let dialect: KM001Dialect
    private var decoder: KM001Decoder
    /// Whether a sample came since the last `poll`.
    private var heard = false
    /// Polls in a row before which no sample came.
    private var silentPolls = 0

    /// The pace of a KM001 Pro. It can do 2 ms; every 10 suffice, and make 200 samples last two seconds.
    package static let rate = KM001Request.Rate.every10ms

    package init(model: ModelName, dialect: KM001Dialect) {
        self.dialect = dialect
        decoder = KM001Decoder(dialect)
        let rhythm: MeterProfile.Rhythm =
            switch dialect {
            case .km001Pro: .push(expected: .milliseconds(10), keepAlive: .seconds(1))
            // Nobody is known to have asked faster.
            case .acd15p: .poll(interval: .seconds(1), shortest: .seconds(1))
            }
        profile = MeterProfile(
            model: model, rhythm: rhythm, answerTimeout: .seconds(1))
    }

    package mutating func opening() -> [Outgoing] {
        decoder = KM001Decoder(dialect)
        (heard, silentPolls) = (false, 0)
        switch dialect {
        case .km001Pro: return [Outgoing(pace, pause: .milliseconds(50))]
        case .acd15p: return []
        }
    }

    private var pace: [UInt8] { KM001Request.rate(Self.rate).bytes(for: dialect) }

    /// More samples, before the last are sent. A KM001 Pro that was silent for two polls is told its pace again: it may
    /// have been switched off.
    package mutating func poll() -> [UInt8] {
        silentPolls = heard ? 0 : silentPolls + 1
        heard = false
        guard dialect == .km001Pro, silentPolls > 2 else { return KM001Request.samples.bytes(for: dialect) }
        silentPolls = 0
        return pace
    }

    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        let dialect = dialect
        var heard = false
        decoder.append(bytes)
        Self.drain(&decoder) { event in
            if case .frame(.packed(let frame)) = event, frame.withBytes({ KM001Report.dialect(of: $0) }) == dialect {
                heard = true
            }
            handle(event)
        }
        if heard { self.heard = true }
    }

    package mutating func discardPartial() -> Int { decoder.reset() }
}
