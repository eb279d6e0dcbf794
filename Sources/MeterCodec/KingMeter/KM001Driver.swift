package import Domain

/// Driver of a KM001 Pro, which sends 200 samples per request, or of an ACD15P, which sends one
/// (Docs/Protocols/KM001.md#conversation).
package struct KM001Driver: MeterDriver {
    package let profile: MeterProfile
    private let dialect: KM001Dialect
    private var decoder: KM001Decoder
    private var heard = false
    private var silentPolls = 0

    /// A KM001 Pro can also do 2 ms, but 10 ms is sufficient: 200 samples then last two seconds.
    package static let rate = KM001Request.Rate.every10ms

    package init(model: ModelName, dialect: KM001Dialect) {
        self.dialect = dialect
        decoder = KM001Decoder(dialect)
        let rhythm: MeterProfile.Rhythm =
            switch dialect {
            case .km001Pro: .push(expected: .milliseconds(10), keepAlive: .seconds(1))
            // No known program sends requests faster.
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

    /// Requests more samples before the last requested sample arrives. After two silent polls, sends a KM001 Pro the
    /// rate again, because the meter may have been switched off.
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
