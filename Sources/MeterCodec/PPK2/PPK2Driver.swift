package import Domain

/// Driver of a PPK2 as an ammeter (Docs/Protocols/PPK2.md#conversation).
///
/// The PPK2 sends 100,000 samples a second from the start request until the stop request. The driver combines them into
/// readings at the wanted rate; the default is ten a second. Without readings, it repeats all requests, one per poll.
package struct PPK2Driver: MeterDriver {
    package let profile: MeterProfile
    private var decoder: PPK2Decoder
    private var requests: ArraySlice<PPK2Request> = []
    private var silentPolls = 0
    private var isSampling = false

    private static let usualRate = 10
    /// Number of polls without a reading after which the conversation begins anew.
    private static let silenceMax = 3

    package init(model: ModelName) {
        profile = MeterProfile(
            model: model, rhythm: .push(expected: .milliseconds(100), keepAlive: .milliseconds(500)),
            answerTimeout: .seconds(1), rates: PPK2Decoder.rates)
        decoder = PPK2Decoder(rate: Self.usualRate)
    }

    package var wantedRate: Int? {
        get { decoder.rate }
        set { decoder.rate = newValue.flatMap { PPK2Decoder.rates.contains($0) ? $0 : nil } ?? Self.usualRate }
    }

    package var sampling: MeterSampling { MeterSampling(rate: isSampling ? decoder.rate : nil) }

    package mutating func opening() -> [Outgoing] {
        _ = decoder.reset()
        (requests, silentPolls, isSampling) = ([], 0, false)
        return PPK2Request.allCases.map { Outgoing($0.bytes, pause: $0.pause) }
    }

    package mutating func poll() -> [UInt8] {
        silentPolls += 1
        if requests.isEmpty, silentPolls > Self.silenceMax {
            requests = PPK2Request.allCases[...]
            isSampling = false
        }
        guard let request = requests.popFirst() else { return [] }
        silentPolls = 0
        return request.bytes
    }

    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        decoder.append(bytes)
        var hasReading = false
        Self.drain(&decoder) { event in
            if case .frame(let frame) = event, frame.sampleTicks != nil { hasReading = true }
            handle(event)
        }
        guard hasReading else { return }
        (requests, silentPolls, isSampling) = ([], 0, true)
    }

    /// Stops the samples. The measured device stays connected, because without the PPK2 in its path it has no supply.
    package mutating func closing() -> [Outgoing] {
        isSampling = false
        return [Outgoing(PPK2Request.stop.bytes, pause: PPK2Request.stop.pause)]
    }

    package mutating func discardPartial() -> Int { decoder.reset() }
}
