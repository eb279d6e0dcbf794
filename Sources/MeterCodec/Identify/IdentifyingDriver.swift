package import MeterModel

/// Finds out which meter is at the other end of a radio link, where neither its name nor its characteristics tell or
/// where they may lie (Docs/Protocols/Identification.md): it listens for one that pushes, then asks as each family is
/// asked, and the first good answer decides.
///
/// It reads nothing and commands nothing: all it ever hands out is `.identified`, upon which the caller goes on with
/// that model's own driver.
///
/// A question that one family understands must not be an order to another: one that is (`RadioQuestion.isOrderTo`) is
/// only sent where no meter of the other can be, behind characteristics that those do not have.
package struct IdentifyingDriver: MeterDriver {
    package let profile: MeterProfile
    /// Who may be there.
    package let families: Set<MeterFamily>
    private let questions: [RadioQuestion]
    /// What is sent in one round of steps.
    private let round: [[UInt8]]
    private var step = 0
    private var listeners: [Listener] = []
    private var isIdentified = false

    /// Listens for one family.
    private struct Listener {
        let question: RadioQuestion
        var decoder: any FrameDecoder
        var unproved = 0
    }

    /// - Parameters:
    ///   - families: who may be there; those without a radio are skipped.
    ///   - guess: what the meter seems to be, for whoever asks the profile meanwhile.
    package init(among families: Set<MeterFamily>, guess: ModelName, in catalogue: MeterCatalogue = .standard) {
        let candidates = catalogue.families.compactMap { family in
            families.contains(family.family) ? family.radioQuestion.map { (family: family.family, question: $0) } : nil
        }
        let present = Set(candidates.map(\.family))
        self.families = present
        // Who pushes is listened for before who is asked.
        let asked = candidates.map(\.question)
        questions = asked.filter(\.steps.isEmpty) + asked.filter { !$0.steps.isEmpty }
        round = questions.filter { $0.isOrderTo.isDisjoint(with: present) }.flatMap(\.steps)
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
    package init?(
        over transport: LinkAddress.Transport, suspecting suspected: ModelName? = nil,
        in catalogue: MeterCatalogue = .standard
    ) {
        let guess = suspected ?? catalogue.commonest
        switch transport {
        case .serial, .hid, .bulk: return nil
        case .spp: self.init(among: catalogue.families(over: .spp), guess: guess, in: catalogue)
        case .ble:
            let alike = suspected.map { catalogue.families(alike: $0.family) } ?? []
            self.init(among: alike.isEmpty ? catalogue.families(over: .ble) : alike, guess: guess, in: catalogue)
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

    package func encode(_ command: MeterCommand) throws(CodecError) -> [UInt8] {
        throw .unsupportedCommand(command.kind, model: profile.model)
    }

    package mutating func closing() -> [Outgoing] { [] }

    package mutating func discardPartial() -> Int {
        listeners.indices.reduce(0) { most, place in max(most, listeners[place].decoder.reset()) }
    }

    /// How long one step lasts. An answer of the slowest meter takes 0.8 s.
    private static let stepLength = Duration.seconds(1)
    /// An Atorch pushes a report a second: two of them may pass before anybody is asked.
    private static let listeningSteps = 2

    private mutating func startOver() {
        step = 0
        isIdentified = false
        listeners = questions.map { Listener(question: $0, decoder: $0.makeDecoder()) }
    }
}
