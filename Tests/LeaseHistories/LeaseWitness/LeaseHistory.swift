package import LeaseCore
package import MeterModel
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
    private let operations = Mutex<[LeaseOperation]>([])
    private let surprises = Mutex<[String]>([])

    private let tell: @Sendable (LeaseOperation) -> Void
    private let surprise: @Sendable (String) -> Void

    /// - Parameters:
    ///   - policies: nil: that of the terms, all the time.
    ///   - tell: is told of each call as soon as it is over.
    ///   - surprise: is told of each answer that no fault explains.
    package init(
        terms: LeaseTerms, policies: PolicyHistory? = nil, now: @escaping @Sendable () -> MonotonicTime,
        tell: @escaping @Sendable (LeaseOperation) -> Void = { _ in },
        surprise: @escaping @Sendable (String) -> Void = { _ in }
    ) {
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

    /// An answer that no fault of the network explains.
    package func addSurprise(_ words: String) {
        surprises.withLock { $0.append(words) }
        surprise(words)
    }

    package var firstSurprise: String? { surprises.withLock { $0.first } }
    package var count: Int { operations.withLock { $0.count } }
    package var all: [LeaseOperation] { operations.withLock { $0 } }
    package var figures: HistoryFigures { HistoryFigures(all) }

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

    /// - Returns: what is wrong with it; nil for a history that calls one at a time explain.
    package func complaint() -> String? {
        if let surprise = firstSurprise { return "an answer that should not be: \(surprise)" }
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

    package init() {}

    package init(_ history: [LeaseOperation]) {
        for operation in history {
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
        return sum
    }

    /// Whether there is at least as much of everything here as there.
    package func reaches(_ least: HistoryFigures) -> Bool {
        answered >= least.answered && unknown >= least.unknown && renewals >= least.renewals
            && releases >= least.releases && takeovers >= least.takeovers && revocations >= least.revocations
            && successions >= least.successions && expiries >= least.expiries
    }

    package var description: String {
        "\(answered) answers, \(unknown) unknown outcomes, \(renewals) renewals, \(releases) releases, "
            + "\(takeovers) take-overs, \(revocations) revocations, \(successions) successions, \(expiries) expiries"
    }
}
