package import Domain
package import SimulatedCloud
import Synchronization

/// What all hosts of one zone saw, every call with its two moments on one clock.
package final class LeaseHistory: Sendable {
    /// Those of the zone.
    package let terms: LeaseTerms
    /// The zone's policy over time.
    package let policies: PolicyHistory
    /// The clock of every moment here. It must run as the cloud's own does.
    package let now: @Sendable () -> MonotonicTime
    /// Most leases that the zone may ever have; nil where hosts do not come near it.
    package let leaseLimit: Int?
    private let operations = Mutex<[LeaseOperation]>([])
    private let ledger = Mutex(CommandLedger())
    private let surprises = Mutex<[String]>([])

    private let tell: @Sendable (LeaseOperation) -> Void
    private let surprise: @Sendable (String) -> Void
    private let tellEvent: @Sendable (CommandLedger.Event) -> Void

    /// - Parameters:
    ///   - policies: nil: that of the terms, all the time.
    ///   - leaseLimit: see there.
    ///   - tell: is told of each call as soon as it is over.
    ///   - tellEvent: the same of each event about a command.
    ///   - surprise: is told of each answer that no fault explains.
    package init(
        terms: LeaseTerms, policies: PolicyHistory? = nil, leaseLimit: Int? = nil,
        now: @escaping @Sendable () -> MonotonicTime, tell: @escaping @Sendable (LeaseOperation) -> Void = { _ in },
        tellEvent: @escaping @Sendable (CommandLedger.Event) -> Void = { _ in },
        surprise: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.leaseLimit = leaseLimit
        self.tellEvent = tellEvent
        self.terms = terms
        self.policies = policies ?? PolicyHistory(terms.policy)
        self.now = now
        self.tell = tell
        self.surprise = surprise
    }

    /// A call that is over now.
    package func add(
        _ request: LeaseOperation.Request, of meter: MeterID, since calledAt: MonotonicTime,
        _ outcome: LeaseOperation.Outcome
    ) {
        let operation = LeaseOperation(
            meter: meter.description, request: request, outcome: outcome, calledAt: calledAt, returnedAt: now())
        operations.withLock { $0.append(operation) }
        tell(operation)
    }

    /// What was recorded elsewhere.
    package func add(_ recorded: [LeaseOperation]) { operations.withLock { $0 += recorded } }

    /// What a holder did for another host, or an author heard.
    package func add(_ event: CommandLedger.Event) {
        ledger.withLock { $0.add(event) }
        tellEvent(event)
    }

    /// An answer that no fault of the network explains.
    package func addSurprise(_ words: String) {
        surprises.withLock { $0.append(words) }
        surprise(words)
    }

    package var firstSurprise: String? { surprises.withLock { $0.first } }
    package var count: Int { operations.withLock { $0.count } }
    package var all: [LeaseOperation] { operations.withLock { $0 } }
    package var figures: HistoryFigures { HistoryFigures(all, ledger.withLock { $0 }) }

    /// Whether no order of its calls explains it.
    package var isRefuted: Bool {
        if case .notLinearizable = checker.check(all) { true } else { false }
    }

    private var checker: LinearizabilityChecker { LinearizabilityChecker(terms: terms, policies: policies) }

    /// What may have changed a lease about then, to look for the cause.
    private func changes(
        of meter: String, near operation: LeaseOperation?, but shown: some Sequence<LeaseOperation>
    ) -> [LeaseOperation] {
        guard let operation else { return [] }
        let shown = Set(shown)
        return all.filter { other in
            other.meter == meter && other.request != .read && !shown.contains(other)
                && other.returnedAt >= operation.calledAt - .seconds(5)
                && other.calledAt <= operation.returnedAt + .seconds(5)
        }.prefix(12).sorted { $0.calledAt < $1.calledAt }
    }

    /// What is wrong apart from the order of calls, which takes long to find.
    package var attackComplaint: String? {
        firstSurprise.map { "an answer that should not be: \($0)" } ?? ledger.withLock { $0.complaint }
            ?? limitComplaint()
    }

    /// - Returns: what is wrong with it; nil for a history that calls one at a time explain.
    package func complaint() -> String? {
        if let found = attackComplaint { return found }
        switch checker.check(all) {
        case .linearizable: return nil
        case .undecided(let meter): return "undecided: too many orders to try for \(meter)"
        case .notLinearizable(let found):
            let (placed, stuck) = (found.lastPlaced.suffix(6), found.stuck.prefix(4))
            let lines =
                placed.map { "after \($0.words)" } + stuck.map { "none of \($0.words)" }
                + changes(of: found.meter, near: stuck.first, but: placed + stuck).map { "beside \($0.words)" }
            return "no order explains \(found.meter), left as \(unqualified(found.register)):\n  "
                + lines.joined(separator: "\n  ")
        }
    }
}

extension LeaseHistory {
    /// Only creating a lease is refused for want of room, and no more are created than the zone and one host may have.
    private func limitComplaint() -> String? {
        let all = all
        var since: [String: MonotonicTime] = [:]
        var creators: [String: HostID] = [:]
        for operation in all {
            guard case .acquire(let acquire) = operation.request, case .granted(let token) = operation.outcome else {
                continue
            }
            since[operation.meter] = min(since[operation.meter] ?? operation.returnedAt, operation.returnedAt)
            // The first token of a lease. Where nobody heard of it, its creator is not known.
            if token.rawValue == 1 { creators[operation.meter] = acquire.host }
        }
        for operation in all {
            guard case .refused(.exhausted, _) = operation.outcome,
                let known = since[operation.meter], known < operation.calledAt
            else { continue }
            return "a lease that there was, was refused for want of room: \(operation.meter), \(operation.words)"
        }
        guard let leaseLimit else { return nil }
        guard since.count <= leaseLimit else { return "\(since.count) leases were created, of at most \(leaseLimit)" }
        let share = max(1, leaseLimit / 4)
        let counts = Dictionary(creators.values.map { ($0, 1) }, uniquingKeysWith: +)
        return counts.first { $0.value > share }.map { "\($0.key) created \($0.value) leases, of at most \(share)" }
    }
}

extension LeaseOperation {
    /// One line.
    fileprivate var words: String {
        func seconds(_ time: MonotonicTime) -> Double { Double(time.sinceOrigin.milliseconds) / 1000 }
        return "\(seconds(calledAt))-\(seconds(returnedAt)) s: \(unqualified(request)) -> \(unqualified(outcome))"
    }
}

/// As Swift prints it, without the names of modules and outer types.
private func unqualified(_ value: some Any) -> String {
    "\(value)".replacing(/\b(?:[A-Z][A-Za-z]*\.)+/, with: "")
}

/// How much a history has of what the rules are about: a run that met too little proves nothing.
package struct HistoryFigures: Sendable, CustomStringConvertible {
    /// Calls with an answer.
    package var answered = 0
    /// Calls of which nobody knows whether they took effect.
    package var unknown = 0
    package var renewals = 0
    package var releases = 0
    /// Grants at once, over a holder that had not released.
    package var takeovers = 0
    /// Take-overs that told the holder to stop first.
    package var revocations = 0
    /// Grants to the next session of the holding host.
    package var successions = 0
    /// Grants after a holder that neither released nor was taken over: its time was over.
    package var expiries = 0
    /// Leases that were not created, for want of room.
    package var exhaustions = 0
    /// Commands that were done.
    package var commands = 0
    /// Repeats that heard so, and those of them that came after a change of hands.
    package var repeats = 0
    package var lateRepeats = 0

    package init() {}

    package init(_ history: [LeaseOperation], _ ledger: CommandLedger = CommandLedger()) {
        (commands, repeats, lateRepeats) = (ledger.count, ledger.repeats, ledger.lateRepeats)
        for operation in history {
            if case .refused(.exhausted, _) = operation.outcome { exhaustions += 1 }
            if operation.outcome == .unknown { unknown += 1 } else { answered += 1 }
            if operation.outcome == .renewed { renewals += 1 }
            if case .release = operation.request, operation.outcome == .done { releases += 1 }
            if case .acquire(let acquire) = operation.request, acquire.takeover != nil,
                case .refused(.revoking, _) = operation.outcome
            {
                revocations += 1
            }
        }
        for operations in Dictionary(grouping: history, by: \.meter).values { addGrants(of: operations) }
    }

    private struct Grant {
        var acquire: LeaseOperation.Acquire
        var token: FencingToken
        var returnedAt: MonotonicTime
    }

    private struct Run: Hashable {
        var session: SessionID
        var token: FencingToken
    }

    /// Looks at each two grants with tokens that follow each other: what lay between them is known.
    private mutating func addGrants(of operations: [LeaseOperation]) {
        var grants: [FencingToken: Grant] = [:]
        var firstReleases: [Run: MonotonicTime] = [:]
        for operation in operations {
            switch (operation.request, operation.outcome) {
            case (.acquire(let acquire), .granted(let token)):
                // The first is the one that changed the holder; later ones repeat it.
                guard grants[token] == nil else { break }
                grants[token] = Grant(acquire: acquire, token: token, returnedAt: operation.returnedAt)
            case (.release(let session, let token), _):
                let run = Run(session: session, token: token)
                firstReleases[run] = min(firstReleases[run] ?? operation.calledAt, operation.calledAt)
            default: break
            }
        }
        for grant in grants.values {
            guard let before = grants[FencingToken(rawValue: grant.token.rawValue - 1)] else { continue }
            let releasedAt = firstReleases[Run(session: before.acquire.session, token: before.token)]
            if let releasedAt, releasedAt < grant.returnedAt { continue }
            if grant.acquire.previousSession == before.acquire.session {
                successions += 1
            } else if grant.acquire.takeover == before.token {
                takeovers += 1
            } else {
                expiries += 1
            }
        }
    }

    package static func + (lhs: Self, rhs: Self) -> Self {
        var sum = lhs
        sum.answered += rhs.answered
        sum.unknown += rhs.unknown
        sum.renewals += rhs.renewals
        sum.releases += rhs.releases
        sum.takeovers += rhs.takeovers
        sum.revocations += rhs.revocations
        sum.successions += rhs.successions
        sum.expiries += rhs.expiries
        sum.exhaustions += rhs.exhaustions
        sum.commands += rhs.commands
        sum.repeats += rhs.repeats
        sum.lateRepeats += rhs.lateRepeats
        return sum
    }

    /// Whether there is at least as much of everything here as there.
    package func reaches(_ least: HistoryFigures) -> Bool {
        answered >= least.answered && unknown >= least.unknown && renewals >= least.renewals
            && releases >= least.releases && takeovers >= least.takeovers && revocations >= least.revocations
            && successions >= least.successions && expiries >= least.expiries && exhaustions >= least.exhaustions
            && commands >= least.commands && repeats >= least.repeats && lateRepeats >= least.lateRepeats
    }

    package var description: String {
        "\(answered) answers, \(unknown) unknown outcomes, \(renewals) renewals, \(releases) releases, "
            + "\(takeovers) take-overs, \(revocations) revocations, \(successions) successions, \(expiries) expiries, "
            + "\(exhaustions) leases without room, \(commands) commands, \(repeats) repeats, \(lateRepeats) of them late"
    }
}
