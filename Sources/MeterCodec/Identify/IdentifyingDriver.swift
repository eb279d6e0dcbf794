package import Domain

/// Identifies the meter of a radio link whose name and characteristics do not show its model, or show a wrong one
/// (Docs/Protocols/Identification.md). First waits for reports of a meter that pushes, then sends each family's
/// identifying request (`RadioQuestion`). The first valid answer determines the model.
///
/// Its only event is `.identified`, after which the caller uses that model's driver. A request that is a command to
/// another family (`RadioQuestion.isOrderTo`) is sent only if characteristics exclude that family.
package struct IdentifyingDriver: MeterDriver {
    package let profile: MeterProfile
    package let families: Set<MeterFamily>
    private let questions: [RadioQuestion]
    private let round: [[UInt8]]
    private var step = 0
    private var listeners: [Listener] = []
    private var isIdentified = false

    private struct Listener {
        let question: RadioQuestion
        var decoder: any FrameDecoder
        var unproved = 0
    }

    /// - Parameters:
    ///   - families: possible families of the meter; those without a radio are skipped.
    ///   - guess: model in `profile` until the meter is identified.
    package init(among families: Set<MeterFamily>, guess: ModelName, in catalogue: MeterCatalogue = .standard) {
        let candidates = catalogue.families.compactMap { family in
            families.contains(family.family) ? family.radioQuestion.map { (family: family.family, question: $0) } : nil
        }
        let present = Set(candidates.map(\.family))
        self.families = present
        // Try families whose meters push first.
        let asked = candidates.map(\.question)
        questions = asked.filter(\.steps.isEmpty) + asked.filter { !$0.steps.isEmpty }
        round = questions.filter { $0.isOrderTo.isDisjoint(with: present) }.flatMap(\.steps)
        profile = MeterProfile(
            model: guess,
            // Both intervals are one step, so that `poll` is called in each step, even while bytes arrive.
            rhythm: .push(expected: Self.stepLength, keepAlive: Self.stepLength),
            answerTimeout: .seconds(3)
        )
        startOver()
    }

    /// Creates a driver for an unknown meter, or one that does not answer as the suspected model. Nil over a cable,
    /// where USB identifies the meter.
    ///
    /// - Parameter suspected: from the name or an earlier connection. Excludes families with other characteristics.
    package init?(
        over transport: LinkAddress.Transport, suspecting suspected: ModelName? = nil,
        in catalogue: MeterCatalogue = .standard
    ) {
        let guess = suspected ?? catalogue.commonest
        switch transport {
        case .serial, .hid, .bulk, .network, .computed: return nil
        case .spp: self.init(among: catalogue.families(over: .spp), guess: guess, in: catalogue)
        case .ble:
            let alike = suspected.map { catalogue.families(alike: $0.family) } ?? []
            self.init(among: alike.isEmpty ? catalogue.families(over: .ble) : alike, guess: guess, in: catalogue)
        }
    }

    /// Sends nothing: the driver first only receives.
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
        for place in listeners.indices {
            listeners[place].decoder.append(bytes)
            while let next = listeners[place].decoder.next() {
                guard case .frame(let frame) = next,
                    let model = listeners[place].question.judge(frame, &listeners[place].unproved)
                else { continue }
                isIdentified = true
                return handle(.identified(model))
            }
        }
    }

    package mutating func discardPartial() -> Int {
        listeners.indices.reduce(0) { most, place in max(most, listeners[place].decoder.reset()) }
    }

    /// Time for an answer: the slowest meter takes 0.8 s.
    private static let stepLength = Duration.seconds(1)
    /// Steps before the first request: time for two reports of an Atorch, which pushes one a second.
    private static let listeningSteps = 2

    private mutating func startOver() {
        step = 0
        isIdentified = false
        listeners = questions.map { Listener(question: $0, decoder: $0.makeDecoder()) }
    }
}
