package import Domain

/// Driver of a PPK2 (Docs/Protocols/PPK2.md#conversation).
///
/// The PPK2 sends 100,000 samples a second from the start request until the stop request. The driver combines them into
/// readings at the wanted rate; the default is ten a second. It begins as an ammeter; only the command `source-voltage`
/// makes it a source. Without readings, it repeats the requests, one per poll; a source is then switched off and stays off.
package struct PPK2Driver: MeterDriver {
    package let profile: MeterProfile
    private var decoder: PPK2Decoder
    private var requests: ArraySlice<PPK2Request> = []
    private var silentPolls = 0
    private var isSampling = false
    /// True from the first request of the supply. `requests` then switch it on, and samples do not cancel them.
    package private(set) var isSupplying = false
    /// Whether the PPK2 was made a source over this link.
    private var wasSource = false
    /// Number of polls until the next of the pending `requests`.
    private var pause = 0

    private static let usualRate = 10
    private static let pollInterval = Duration.milliseconds(100)
    /// Number of polls without a reading after which the conversation begins anew.
    private static let silenceMax = 15

    /// - Parameter voltageMax: greatest voltage that the user allows, in millivolts; nil for no supply.
    package init(model: ModelName, voltageMax: Int? = nil) {
        let voltages = PPK2Request.voltages
        let source = voltageMax.map { [MeterProfile.CommandRule(.sourceVoltage, voltages.lowerBound...$0)] }
        profile = MeterProfile(
            model: model, rhythm: .push(expected: .milliseconds(100), keepAlive: Self.pollInterval),
            answerTimeout: .seconds(1), commands: (source ?? []) + [.init(.sourceOff)], rates: PPK2Decoder.rates)
        decoder = PPK2Decoder(rate: Self.usualRate)
    }

    package var wantedRate: Int? {
        get { decoder.rate }
        set { decoder.rate = newValue.flatMap { PPK2Decoder.rates.contains($0) ? $0 : nil } ?? Self.usualRate }
    }

    package var sampling: MeterSampling { MeterSampling(rate: isSampling ? decoder.rate : nil) }

    package mutating func opening() -> [Outgoing] {
        _ = decoder.reset()
        (requests, silentPolls, pause, isSampling) = ([], 0, 0, false)
        (isSupplying, wasSource) = (false, false)
        return PPK2Request.ammeterConversation.map { Outgoing($0.bytes, pause: $0.pause) }
    }

    package mutating func poll() -> [UInt8] {
        silentPolls += 1
        if requests.isEmpty, silentPolls > Self.silenceMax {
            let conversation = wasSource ? PPK2Request.endOfSource : PPK2Request.ammeterConversation
            (requests, isSampling, isSupplying, decoder.source_mV) = (conversation[...], false, false, nil)
        }
        if pause > 0, !requests.isEmpty {
            pause -= 1
            return []
        }
        guard let request = requests.popFirst() else { return [] }
        silentPolls = 0
        pause = Int((request.pause.milliseconds - 1) / Self.pollInterval.milliseconds)
        if case .regulator(let millivolts) = request { decoder.source_mV = millivolts }
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
        (silentPolls, isSampling) = (0, true)
        if !isSupplying { requests = [] }
    }

    // MARK: Source

    /// The bytes do not depend on the mode, which may change before they are sent.
    package func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        if command.kind == .sourceVoltage, !profile.commands.contains(where: { $0.kind == .sourceVoltage }) {
            throw .noVoltageLimit
        }
        try profile.validate(command)
        guard case .sourceVoltage = command.kind, let millivolts = command.number else {
            return PPK2Request.disconnectDevice.bytes
        }
        return PPK2Request.regulator(millivolts).bytes
    }

    package mutating func sent(_ command: MeterCommand) {
        pause = 0
        guard command.kind == .sourceVoltage, let millivolts = command.number else {
            (requests, isSupplying, decoder.source_mV) = ([], false, nil)
            return
        }
        if isSupplying, requests.isEmpty {
            decoder.source_mV = millivolts
        } else {
            requests = PPK2Request.sourceConversation(millivolts)[...]
        }
        (isSupplying, wasSource) = (true, true)
    }

    package mutating func endSupply() -> [UInt8] {
        sent(MeterCommand(.sourceOff))
        return PPK2Request.disconnectDevice.bytes
    }

    /// Stops the samples, and the supply. An ammeter's device stays connected, because without the PPK2 in its path it
    /// has no supply.
    package mutating func closing() -> [Outgoing] {
        isSampling = false
        let requests: [PPK2Request] = wasSource ? [.disconnectDevice, .stop] : [.stop]
        _ = endSupply()
        return requests.map { Outgoing($0.bytes, pause: $0.pause) }
    }

    package mutating func discardPartial() -> Int { decoder.reset() }
}
