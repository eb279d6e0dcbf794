import Domain

/// Makes the meter sample by its own clock and fetches the samples from its queue (Docs/Protocols/KM003C.md#the-queue).
///
/// ```
///   off ─▶ proving ─▶ starting ─▶ running ── another rate ─▶ leaving ─▶ starting
///              │          │          ├────── no rate ──────▶ leaving ─▶ off
///              ▼          ▼          └─ no samples, once ──▶ leaving ─▶ proving
///            failed ◀─────┴──────────── no samples again ─────── leaving
/// ```
///
/// Each turn is one request. "proving" is the authentication.
struct KM003CSampling: Sendable {
    enum Turn: Hashable, Sendable {
        /// Ordinary poll, while the meter does not sample by its own clock.
        case measure
        case prove([UInt8])
        case control(KM003CKind, parameter: UInt16)
        case fetch(KM003CAttributes)
    }

    private enum Phase: Sendable {
        case off
        case proving(Proof)
        case starting(KM003CRate, attempts: Int)
        case running(KM003CRate, Slots)
        case leaving([KM003CKind], then: Goal)
        case failed(String)
    }

    /// Next phase once the queue is stopped.
    private enum Goal: Sendable {
        case off
        case start(KM003CRate)
        case prove
        case fail(String)
    }

    private struct Proof: Sendable {
        var transfer: KM003CLogDownload
        /// Request to send after `pause` ordinary polls; nil while an answer is awaited.
        var request: [UInt8]?
        var pause = 0
    }

    private struct Slots: Sendable {
        var next = 0
        var fetchesWithoutSamples = 0
    }

    /// Wanted rate; nil for none. A new rate is tried even if the previous one failed.
    var wanted: KM003CRate? {
        didSet {
            guard wanted != oldValue else { return }
            hasRestarted = false
            if case .failed = phase { phase = .off }
        }
    }
    private var phase = Phase.off
    private var hasRestarted = false
    private let model: ModelName
    /// Attempts per step of the authentication: 1 on serial ports, where it has never been shown to work
    /// (Docs/Protocols/KM003C.md#link).
    private let proofAttempts: Int

    /// - Parameter isProved: whether authentication works over this kind of link.
    init(model: ModelName, isProved: Bool) {
        self.model = model
        proofAttempts = isProved ? 3 : 1
    }

    mutating func restart() {
        phase = .off
        hasRestarted = false
    }

    // MARK: What it comes to

    var runningRate: KM003CRate? { if case .running(let rate, _) = phase { rate } else { nil } }

    /// Whether the meter may be filling its queue.
    var isStarted: Bool {
        switch phase {
        case .starting(_, let attempts): attempts > 0
        case .running, .leaving: true
        case .off, .proving, .failed: false
        }
    }

    var report: MeterSampling {
        switch phase {
        case .off: MeterSampling()
        case .failed(let cause): MeterSampling(failure: cause)
        case .proving, .starting, .leaving: MeterSampling(requestInterval: Self.setUpInterval)
        case .running(let rate, _):
            MeterSampling(rate: rate.samplesPerSecond, requestInterval: rate.requestInterval)
        }
    }

    /// Time between requests of the authentication. Other programs leave 50 ms (`KM003CMemory.pause`).
    static let setUpInterval = Duration.milliseconds(100)
    private static let attemptsMax = 3

    // MARK: Turns

    mutating func turn(after lastID: UInt8) -> Turn {
        switch phase {
        case .off:
            guard wanted != nil else { return .measure }
            return beginProof(after: lastID)
        case .failed:
            return .measure
        case .proving(var proof):
            guard let request = proof.request, proof.pause == 0 else {
                proof.pause = max(0, proof.pause - 1)
                phase = .proving(proof)
                return .measure
            }
            proof.request = nil
            phase = .proving(proof)
            return .prove(request)
        case .starting(let rate, let attempts):
            guard attempts < Self.attemptsMax else { return fail("the meter does not answer when told to sample") }
            phase = .starting(rate, attempts: attempts + 1)
            return .control(.startGraph, parameter: UInt16(rate.rawValue))
        case .leaving(let steps, let goal):
            guard let step = steps.first else { return arrive(at: goal, after: lastID) }
            return .control(step, parameter: step == .pdMonitorOn ? 1 : 0)
        case .running(let rate, let slots):
            return runningTurn(rate, slots, after: lastID)
        }
    }

    private mutating func runningTurn(_ rate: KM003CRate, _ slots: Slots, after lastID: UInt8) -> Turn {
        guard wanted == rate else {
            phase = .leaving([.stopGraph], then: wanted.map { .start($0) } ?? .off)
            return turn(after: lastID)
        }
        guard slots.fetchesWithoutSamples < rate.emptyFetchesMax else {
            let goal = hasRestarted ? Goal.fail("the meter keeps no samples, although it was told to") : .prove
            hasRestarted = true
            phase = .leaving([.stopGraph, .disconnect, .connect, .pdMonitorOn], then: goal)
            return turn(after: lastID)
        }
        let attributes = rate.attributes(inSlot: slots.next)
        var slots = slots
        slots.next += 1
        if attributes.contains(.queue) { slots.fetchesWithoutSamples += 1 }
        phase = .running(rate, slots)
        return .fetch(attributes)
    }

    private mutating func beginProof(after lastID: UInt8) -> Turn {
        var transfer = KM003CLogDownload(accessTo: model, after: lastID, attempts: proofAttempts)
        let step = transfer.start()
        phase = .proving(Proof(transfer: transfer))
        take(step)
        return turn(after: lastID)
    }

    private mutating func arrive(at goal: Goal, after lastID: UInt8) -> Turn {
        switch goal {
        case .off: phase = .off
        case .start(let rate): phase = .starting(rate, attempts: 0)
        case .prove: return wanted == nil ? arrive(at: .off, after: lastID) : beginProof(after: lastID)
        case .fail(let cause): return fail(cause)
        }
        return turn(after: lastID)
    }

    private mutating func fail(_ cause: String) -> Turn {
        phase = .failed(cause)
        return .measure
    }

    // MARK: Answers

    var takesBytes: Bool { if case .proving(let proof) = phase { proof.request == nil } else { false } }

    var proofID: UInt8? { if case .proving(let proof) = phase { proof.transfer.lastID } else { nil } }

    /// Returns whether the bytes complete the answer to the last request.
    mutating func receive(_ bytes: [UInt8]) -> Bool {
        guard case .proving(var proof) = phase else { return false }
        let step = proof.transfer.receive(bytes)
        phase = .proving(proof)
        return take(step)
    }

    @discardableResult
    private mutating func take(_ step: TransferStep<KM003CLogDownload.Outcome>) -> Bool {
        guard case .proving(var proof) = phase else { return false }
        switch step {
        case .wait:
            return false
        case .send(let outgoing):
            proof.request = outgoing.flatMap(\.bytes)
            let pause = outgoing.reduce(.zero) { $0 + $1.pause }
            // Number of polls to skip: the pause in polls, rounded up, less one, because the caller waits one interval
            // anyway.
            proof.pause = max(0, Int(pause / Self.setUpInterval - 0.001))
            phase = .proving(proof)
        case .finished:
            phase = wanted.map { .starting($0, attempts: 0) } ?? .off
        case .failed(let failure):
            phase = .failed("\(failure)")
        }
        return true
    }

    mutating func controlAnswered(isAccepted: Bool) {
        switch phase {
        case .starting(let rate, _):
            phase = isAccepted ? .running(rate, Slots()) : .failed("the meter refuses to sample by its own clock")
        case .leaving(let steps, let goal):
            // A meter that is not sampling refuses to stop, so a refusal also means stopped.
            phase = .leaving(Array(steps.dropFirst()), then: goal)
        case .off, .proving, .running, .failed:
            break
        }
    }

    mutating func answerOverdue() {
        switch phase {
        case .proving(var proof) where proof.request == nil:
            let step = proof.transfer.answerOverdue()
            phase = .proving(proof)
            take(step)
        case .leaving(let steps, let goal):
            phase = .leaving(Array(steps.dropFirst()), then: goal)
        case .off, .proving, .starting, .running, .failed:
            break
        }
    }

    mutating func samplesCame() {
        guard case .running(let rate, var slots) = phase else { return }
        slots.fetchesWithoutSamples = 0
        phase = .running(rate, slots)
    }
}

extension KM003CRate {
    package init?(samplesPerSecond: Int) {
        guard let rate = Self.allCases.first(where: { $0.samplesPerSecond == samplesPerSecond }) else { return nil }
        self = rate
    }

    /// Interval between requests. The vendor's program empties the queue every 40 ms at 1000 samples a second. A header
    /// counts at most 63 samples, so at 20 ms every second request may be for other data
    /// (Docs/Protocols/KM003C.md#the-queue).
    var requestInterval: Duration { self == .thousand ? .milliseconds(20) : .milliseconds(100) }

    /// Requests mostly the queue. Five requests a second add the measurements, and five more are for USB PD alone.
    ///
    /// A queue that is longer than its header says, as in one capture, would hide a PD payload after it. At low rates
    /// the queue is always requested with measurements, because no capture shows an empty answer.
    fileprivate func attributes(inSlot slot: Int) -> KM003CAttributes {
        guard self == .thousand else { return slot.isMultiple(of: 2) ? [.adc, .queue] : .pd }
        return switch slot % 10 {
        case 4: [.adc, .queue]
        case 9: .pd
        default: .queue
        }
    }

    /// Number of successive requests without a sample, about 2 s, after which the meter counts as stopped.
    fileprivate var emptyFetchesMax: Int { self == .thousand ? 90 : 10 }
}
