import Domain

/// Chooses the next query to a load, and judges the answers.
///
/// ```
///   free ── next ──▶ asked ── answer ─────────────▶ free
///    ▲                 │ none for `patience` steps
///    └──── pausing ◀───┘ or a doubted answer, or one without a query
/// ```
///
/// Answers have no checksum and do not name their query, so one query is sent at a time. During the pause, late answers
/// cannot be assigned to the next query. An answer counts if it is near the last answer, the load's report, or the
/// repeated query's answer.
struct PX100Conversation: Sendable {
    /// Steps until an answer counts as lost: 1 s, as in KrystianD/dl24-electronic-load. A DL24P needed 29 to 104 ms
    /// (andrewchuev/reslab-dl24-monitor).
    static let patience = 5
    /// Steps of the pause after a lost or doubtful answer.
    static let pauseLength = 2
    static let triesMax = 3
    /// Successive lost answers after which a load that sends reports counts as silent.
    static let lostMax = 5
    /// Number of reports after which a silent load is queried again.
    static let reportsPerProbe = 30

    /// Queries of each round, once a second.
    static let eachRound: [PX100Query] = [.isOn, .voltage, .current]
    /// Queries sent in turn, two in each round, so each is sent every 3.5 s.
    static let inTurn: [PX100Query] = [.charge, .energy, .time, .temperature, .setCurrent, .cutoff, .timer]
    private static let inTurnPerRound = 2

    private(set) var queries = DL24State.Queries.asked
    private(set) var asked: PX100Query?
    private var again: (query: PX100Query, tries: Int)?
    private var waited = 0
    private var pause = 0
    private var lost = 0
    private var reports = 0
    /// Queries to send first: an order has just set their values.
    private var wanted: [PX100Query] = []
    private var place = 0
    private var turn = 0
    private var believed: [PX100Query: UInt32] = [:]
    /// Raw values that the next answer may confirm: unaccepted answers, and values just set by an order.
    private var doubted: [PX100Query: UInt32] = [:]

    /// Values that agree with the load's last report.
    private var reported: [PX100Query: ClosedRange<Int>] = [:]

    enum Judgement: Equatable {
        case believed
        /// The answer is not confirmed yet, so the query is repeated.
        case doubted
        /// The answer is not accepted: the last accepted value remains, and the query is not repeated.
        case dropped
    }

    /// Returns the next query, if any. Call it in every step.
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
        // A query's first answer has no earlier one to compare with, so repeat the query without a pause.
        if !references.isEmpty { pause = Self.pauseLength }
        doubted[query] = raw
        guard tries < Self.triesMax else {
            again = nil
            return .dropped
        }
        again = (query, tries)
        return .doubted
    }

    /// Pauses, because the unexpected answer may be a late one to an abandoned query.
    mutating func unaskedCame() { pause = Self.pauseLength }

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

    /// Sends `query` first and expects this raw value, because an order has just set it.
    mutating func expect(_ query: PX100Query, _ raw: UInt32) {
        doubted[query] = raw
        if !wanted.contains(query) { wanted.append(query) }
    }

    mutating func expectZero() {
        for query in [PX100Query.charge, .energy, .time] { doubted[query] = 0 }
    }
}

extension PX100Query {
    /// Returns whether two answers, some seconds apart, confirm each other.
    package func isNear(_ first: UInt32, _ second: UInt32) -> Bool {
        let (low, high) = (min(first, second), max(first, second))
        switch self {
        case .isOn, .setCurrent, .cutoff, .timer: return low == high
        case .voltage: return high - low <= max(50, high / 32)
        case .current: return high - low <= max(20, high / 32)
        // The largest of these loads (40 A, 600 W) counts 111 mAh and 1667 mWh in 10 s.
        case .charge: return high - low <= 150
        case .energy: return high - low <= 2000
        case .time: return PX100.seconds(high) - PX100.seconds(low) <= 10
        case .temperature: return high - low <= 3
        }
    }

    /// Returns comparable numbers: times in seconds, all other answers unchanged.
    func counted(_ raw: UInt32) -> Int { self == .time ? Int(PX100.seconds(raw)) : Int(raw) }

    /// Returns the answers (as in `counted`) that agree with a report, which may be a second old and is rounded down.
    package func range(in report: AtorchReport) -> ClosedRange<Int>? {
        let reading = report.reading
        func range(_ quantity: Quantity, scale: Double, step: Int) -> ClosedRange<Int>? {
            // The conversion to Int cannot overflow: no field of a report exceeds 10^12 in these units.
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
