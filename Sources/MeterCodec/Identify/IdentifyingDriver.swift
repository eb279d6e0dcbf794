package import MeterModel

/// Finds out which meter is at the other end of a radio link, where neither its name nor its characteristics tell or
/// where they may lie (Docs/Protocols/Identification.md): it listens for one that pushes, then asks as each family is
/// asked, and the first good answer decides.
///
/// It reads nothing and commands nothing: all it ever hands out is `.identified`, upon which the caller goes on with
/// that model's own driver.
///
/// A question that one family understands must not be an order to another. F0 and the letters of `bgetva` mean nothing
/// to all others. But AA 81 00 F4, which asks a FNIRSI meter, ends in the byte that makes a UM meter clear its data
/// group, so it is only sent where no UM meter can be: behind characteristics that those do not have.
package struct IdentifyingDriver: MeterDriver {
    package let profile: MeterProfile
    /// Who may be there.
    package let families: Set<MeterFamily>
    private var step = 0
    private var decoders: [(family: MeterFamily, decoder: any FrameDecoder)] = []
    private var isIdentified = false
    /// Reports of an Atorch in a row whose check byte is unknown.
    private var unprovedReports = 0

    /// - Parameters:
    ///   - families: who may be there; those without a radio are skipped.
    ///   - guess: what the meter seems to be, for whoever asks the profile meanwhile.
    package init(among families: Set<MeterFamily>, guess: ModelName) {
        self.families = families.intersection(Self.askedInOrder)
        profile = MeterProfile(
            model: guess,
            // It has its own beat, whatever comes: each `poll` is a step.
            rhythm: .push(expected: Self.stepLength, keepAlive: Self.stepLength),
            answerTimeout: .seconds(3)
        )
        startOver()
    }

    /// For a link whose meter nobody knows, or whose meter does not answer as the model it seems to be.
    ///
    /// - Parameter suspected: what it seems to be, by its name or by what was remembered. Characteristics that it does
    ///   not share with a family rule that family out.
    /// - Returns: nil over a cable, where USB says what is there.
    package init?(over transport: LinkAddress.Transport, suspecting suspected: ModelName? = nil) {
        switch (transport, suspected?.family) {
        case (.serial, _), (.hid, _), (.bulk, _): return nil
        case (.spp, _): self.init(among: [.um, .atorch], guess: suspected ?? .um25c)
        case (.ble, .fnirsi): self.init(among: [.fnirsi, .tc66], guess: suspected ?? .fnb58)
        case (.ble, .um), (.ble, .atorch): self.init(among: [.um, .atorch, .tc66], guess: suspected ?? .um25c)
        case (.ble, _): self.init(among: [.um, .atorch, .tc66, .fnirsi], guess: suspected ?? .um25c)
        }
    }

    /// Nothing is sent before the first `poll`s have listened.
    package mutating func opening() -> [Outgoing] {
        startOver()
        return []
    }

    package mutating func poll() -> [UInt8] {
        defer { step += 1 }
        guard step >= Self.listeningSteps, !isIdentified, !round.isEmpty else { return [] }
        return round[(step - Self.listeningSteps) % round.count]
    }

    package mutating func receive(_ bytes: [UInt8], _ handle: (MeterEvent) -> Void) {
        guard !isIdentified else { return }
        for place in decoders.indices {
            decoders[place].decoder.append(bytes)
            while let next = decoders[place].decoder.next() {
                guard case .frame(let frame) = next, let model = judge(frame) else { continue }
                isIdentified = true
                return handle(.identified(model))
            }
        }
    }

    package func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        throw .unsupportedCommand(command.kind, model: profile.model)
    }

    package mutating func closing() -> [Outgoing] { [] }

    package mutating func discardPartial() -> Int {
        decoders.indices.reduce(0) { most, place in max(most, decoders[place].decoder.reset()) }
    }

    /// How long one step lasts. An answer of the slowest meter takes 0.8 s.
    private static let stepLength = Duration.seconds(1)
    /// An Atorch pushes a report a second: two of them may pass before anybody is asked.
    private static let listeningSteps = 2
    private static let askedInOrder: [MeterFamily] = [.atorch, .um, .tc66, .fnirsi]

    /// What is sent in one round of steps. After a question to a slow meter one step is left to its answer.
    private var round: [[UInt8]] {
        var steps: [[UInt8]] = []
        if families.contains(.um) { steps.append([0xF0]) }
        if families.contains(.tc66) { steps += [TC66Request.values.bytes(over: .ble), []] }
        if families.contains(.fnirsi), !families.contains(.um) { steps += [FNIRSIBLECommand.info.bytes, []] }
        return steps
    }

    private mutating func startOver() {
        step = 0
        isIdentified = false
        unprovedReports = 0
        decoders = Self.askedInOrder.filter(families.contains).compactMap { family in
            switch family {
            case .atorch: (family, AtorchDecoder())
            case .um: (family, UMDecoder())
            case .tc66: (family, TC66Decoder())
            case .fnirsi: (family, FNIRSIBLEDecoder())
            case .km003c: nil
            }
        }
    }

    /// Which meter sends such a frame; nil where it does not say enough.
    private mutating func judge(_ frame: Frame) -> ModelName? {
        switch frame {
        case .um(let block):
            return block.modelName
        case .tc66(.block):
            // It calls itself TC66 and has a radio.
            return .tc66c
        case .fnirsiBLE(let frame):
            return frame.modelOverRadio
        case .atorchReport(let report):
            // Without its check byte the shape alone speaks for it, which chance may have once.
            unprovedReports += 1
            return report.checkMatches || unprovedReports > 1 ? report.model : nil
        default:
            return nil
        }
    }
}

extension FNIRSIBLEFrame {
    /// What an info frame says over the radio; nil for another frame. 48 is an FNB48S, the one of that number whose
    /// frames are known, and may be one of its brothers, which are read alike.
    fileprivate var modelOverRadio: ModelName? {
        guard let code = modelCode else { return nil }
        switch code {
        case 58: return .fnb58
        case 48: return .fnb48s
        // Both by the maker's own program (CapnBry/fnb48-web).
        case 38: return .fnb38
        case 9: return .c1
        default: return nil
        }
    }
}
