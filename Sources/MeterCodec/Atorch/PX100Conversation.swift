import Domain

/// Decides what a load is asked next, and which of its answers are believed.
///
/// ```
///   free ── next ──▶ asked ── answer ─────────────▶ free
///    ▲                 │ none for `patience` steps
///    └──── pausing ◀───┘ or an answer that cannot be believed yet, or one that nobody asked for
/// ```
///
/// An answer says neither what it answers nor whether it is whole. So one thing is asked at a time; after a lost answer the
/// line is left alone, so that a late one is not taken for the next; and an answer counts if it is near the last one, near
/// what the load's report says, or near what the same question gave once more.
struct PX100Conversation: Sendable {
    /// So many steps an answer may take: 1 s, as KrystianD/dl24-electronic-load waits. A DL24P took 29 to 104 ms
    /// (andrewchuev/reslab-dl24-monitor).
    static let patience = 5
    /// So many steps nothing is asked when answers and questions may have come apart.
    static let pauseLength = 2
    /// How often a question is put before the next one has its turn.
    static let triesMax = 3
    /// After so many lost answers and none in between, a load that sends reports is taken for one that answers nothing.
    static let lostMax = 5
    /// After so many reports such a load is asked again.
    static let reportsPerProbe = 30

    /// What is asked once a second.
    static let eachRound: [PX100Query] = [.isOn, .voltage, .current]
    /// Two of these are asked after them in turn, so each every 3.5 s.
    static let inTurn: [PX100Query] = [.charge, .energy, .time, .temperature, .setCurrent, .cutoff, .timer]
    private static let inTurnPerRound = 2

    private(set) var queries = DL24State.Queries.asked
    private(set) var asked: PX100Query?
    /// What to ask again, and how often it was asked.
    private var again: (query: PX100Query, tries: Int)?
    private var waited = 0
    private var pause = 0
    /// Answers lost since the last one, and reports since then.
    private var lost = 0
    private var reports = 0
    /// What is asked before anything else, as it was just set.
    private var wanted: [PX100Query] = []
    private var place = 0
    private var turn = 0
    private var believed: [PX100Query: UInt32] = [:]
    /// An answer that was not believed when it came.
    private var doubted: [PX100Query: UInt32] = [:]

    /// The answers that would agree with the load's last report.
    private var reported: [PX100Query: ClosedRange<Int>] = [:]

    enum Judgement: Equatable {
        case believed
        /// It is asked again.
        case doubted
        /// It is not asked again: the last value stays.
        case dropped
    }

    /// Called every step.
    ///
    /// - Returns: what to ask now, if anything.
    mutating func next() -> PX100Query? {
        if asked != nil {
            waited += 1
            guard waited >= Self.patience else { return nil }
            answerLost()
        }
        guard pause == 0 else {
            pause -= 1
            return nil
        }
        guard let query = choose() else { return nil }
        (asked, waited) = (query, 0)
        return query
    }

    private mutating func choose() -> PX100Query? {
        if queries == .silent {
            guard reports >= Self.reportsPerProbe else { return nil }
            reports = 0
            return .isOn
        }
        if let again { return again.query }
        if !wanted.isEmpty { return wanted.removeFirst() }
        defer { place = (place + 1) % (Self.eachRound.count + Self.inTurnPerRound) }
        if place < Self.eachRound.count { return Self.eachRound[place] }
        defer { turn = (turn + 1) % Self.inTurn.count }
        return Self.inTurn[turn]
    }

    /// The load answered what is asked.
    mutating func answered(_ raw: UInt32) -> Judgement {
        guard let query = asked.take() else {
            unaskedCame()
            return .dropped
        }
        (queries, lost) = (.answered, 0)
        let references = [believed[query], doubted[query]].compactMap { $0 }
        if reported[query]?.contains(query.counted(raw)) ?? false
            || references.contains(where: { query.isNear(raw, $0) })
        {
            believed[query] = raw
            doubted[query] = nil
            again = nil
            return .believed
        }
        let tries = again.map { $0.tries + 1 } ?? 1
        // Without anything to compare it with, asking once more is enough.
        if !references.isEmpty { pause = Self.pauseLength }
        doubted[query] = raw
        guard tries < Self.triesMax else {
            again = nil
            return .dropped
        }
        again = (query, tries)
        return .doubted
    }

    /// An answer came that nobody waits for: it may be the late one to a question that was given up.
    mutating func unaskedCame() { pause = Self.pauseLength }

    /// The answer is overdue.
    mutating func answerLost() {
        guard let query = asked.take() else { return }
        lost += 1
        pause = Self.pauseLength
        if lost >= Self.lostMax, reports > 0 {
            (queries, again, reports) = (.silent, nil, 0)
            return
        }
        let tries = again.map { $0.tries + 1 } ?? 1
        again = tries < Self.triesMax ? (query, tries) : nil
    }

    mutating func came(_ report: AtorchReport) {
        reports += 1
        for query in PX100Query.allCases { reported[query] = query.range(in: report) }
    }

    /// The load was told something: its answer to this is expected to be so, and is asked for first.
    mutating func expect(_ query: PX100Query, _ raw: UInt32) {
        doubted[query] = raw
        if !wanted.contains(query) { wanted.append(query) }
    }

    /// The counters were told to begin at zero.
    mutating func expectZero() {
        for query in [PX100Query.charge, .energy, .time] { doubted[query] = 0 }
    }
}

extension PX100Query {
    /// Whether two answers, some seconds apart, are alike enough to vouch for each other.
    package func isNear(_ first: UInt32, _ second: UInt32) -> Bool {
        let (low, high) = (min(first, second), max(first, second))
        switch self {
        case .isOn, .setCurrent, .cutoff, .timer: return low == high
        case .voltage: return high - low <= max(50, high / 32)
        case .current: return high - low <= max(20, high / 32)
        // What the largest of these loads counts in 10 s, 40 A or 600 W, and then some.
        case .charge: return high - low <= 150
        case .energy: return high - low <= 2000
        case .time: return PX100.seconds(high) - PX100.seconds(low) <= 10
        case .temperature: return high - low <= 3
        }
    }

    /// An answer as a number that grows with what it says: a time in seconds, anything else as it is.
    func counted(_ raw: UInt32) -> Int { self == .time ? Int(PX100.seconds(raw)) : Int(raw) }

    /// The answers, counted, that agree with a report, which is a second old at most and rounds down.
    package func range(in report: AtorchReport) -> ClosedRange<Int>? {
        let reading = report.reading
        func range(_ quantity: Quantity, scale: Double, step: Int) -> ClosedRange<Int>? {
            // No field of a report is above 10^12 of what is counted here.
            guard let value = reading[quantity] else { return nil }
            let raw = Int((value * scale).rounded())
            let slack =
                switch self {
                case .voltage: max(50, raw / 32)
                case .current: max(20, raw / 32)
                case .charge: 20
                case .energy: 500
                default: 2
                }
            return raw - slack...raw + step + slack
        }
        switch self {
        case .voltage: return range(.voltage, scale: 1000, step: 100)
        case .current: return range(.current, scale: 1000, step: 1)
        case .charge: return range(.charge, scale: 1, step: 10)
        case .energy: return range(.energy, scale: 1000, step: 10_000)
        case .temperature: return range(.temperature, scale: 1, step: 1)
        case .time: return report.duration.map { $0 - 2...$0 + 3 }
        case .isOn, .setCurrent, .cutoff, .timer: return nil
        }
    }
}
