package import Domain

/// Decides whether a history of lease calls can be explained by calls that took effect one at a time, each between its
/// call and its return, against `LeaseRegister`.
///
/// The search is Wing and Gong's with Lowe's memory of configurations, per meter, as leases of different meters have
/// nothing to do with each other. Calls with an unknown outcome may be placed anywhere after their call or left out.
///
/// ```
/// let verdict = LinearizabilityChecker(terms: .standard).check(history)
/// #expect(verdict == .linearizable, "\(verdict)")
/// ```
package struct LinearizabilityChecker: Sendable {
    /// Those with which the leases of the history were granted.
    package var terms: LeaseTerms
    /// By how much the recorder's clock and the authority's may differ over one time to live and lock-delay.
    package var slack: Duration
    /// After this many configurations of one meter the search gives up.
    package var configurationsMax: Int
    /// The zone's policy over time. That of the terms alone where it never changes.
    package var policies: PolicyHistory

    /// - Parameter policies: nil: that of the terms, all the time.
    package init(
        terms: LeaseTerms, slack: Duration = .zero, configurationsMax: Int = 2_000_000, policies: PolicyHistory? = nil
    ) {
        self.terms = terms
        self.slack = slack
        self.configurationsMax = configurationsMax
        self.policies = policies ?? PolicyHistory(terms.policy)
    }

    package enum Verdict: Hashable, Sendable {
        case linearizable
        case notLinearizable(Counterexample)
        /// Too many configurations; nothing was proved.
        case undecided(meter: String)
    }

    /// How far the search came, for the person who has to find the fault.
    package struct Counterexample: Hashable, Sendable, CustomStringConvertible {
        package var meter: String
        /// The longest order that was found, its last operations.
        package var lastPlaced: [LeaseOperation]
        /// The operations of which one had to come next, and none could.
        package var stuck: [LeaseOperation]
        /// The lease before them.
        package var register: LeaseRegister

        package var description: String {
            """
            meter \(meter), after
              \(lastPlaced.map { "\($0)" }.joined(separator: "\n  "))
            the lease is \(register), and none of these can come next:
              \(stuck.map { "\($0)" }.joined(separator: "\n  "))
            """
        }
    }

    /// - Parameter history: in any order.
    package func check(_ history: [LeaseOperation]) -> Verdict {
        let meters = Dictionary(grouping: history, by: \.meter)
        for meter in meters.keys.sorted() {
            if let twice = decidedTwice(meters[meter] ?? []) { return .notLinearizable(twice) }
            var search = Search(meters[meter] ?? [], self)
            let verdict = search.run(meter: meter)
            if verdict != .linearizable { return verdict }
        }
        return .linearizable
    }

    /// A request that is repeated gets its answer again, and is never granted anew: one request, one token. Only the last
    /// `LeaseRecord.grantsMax` requests of a lease are remembered, so one is not judged that as many others may have
    /// pushed out meanwhile.
    private func decidedTwice(_ history: [LeaseOperation]) -> Counterexample? {
        var granted: [RequestID: (token: FencingToken, operation: LeaseOperation)] = [:]
        for operation in history {
            guard case .acquire(let acquire) = operation.request, case .granted(let token) = operation.outcome else {
                continue
            }
            if let first = granted[acquire.requestID], first.token != token,
                otherRequests(than: acquire, between: first.operation, and: operation, in: history)
                    < LeaseRecord.grantsMax
            {
                return Counterexample(
                    meter: operation.meter, lastPlaced: [first.operation], stuck: [operation],
                    register: LeaseRegister())
            }
            granted[acquire.requestID] = (token, operation)
        }
        return nil
    }

    /// How many other requests may have been granted between the two.
    private func otherRequests(
        than acquire: LeaseOperation.Acquire, between one: LeaseOperation, and other: LeaseOperation,
        in history: [LeaseOperation]
    ) -> Int {
        let (from, to) = (min(one.calledAt, other.calledAt), max(one.returnedAt, other.returnedAt))
        var requests: Set<RequestID> = []
        for operation in history {
            guard case .acquire(let rival) = operation.request, rival.requestID != acquire.requestID,
                operation.calledAt <= to
            else { continue }
            switch operation.outcome {
            case .granted where operation.returnedAt >= from: requests.insert(rival.requestID)
            case .unknown: requests.insert(rival.requestID)
            default: break
            }
        }
        return requests.count
    }
}

/// The search through one meter's history.
///
/// A configuration is which operations are placed, and the register they left. Of the operations with an answer all
/// before `base` are placed and some few behind it; those without an answer are counted apart, since they stay open to
/// the end and would hold `base` back.
private struct Search {
    private let known: [LeaseOperation]
    private let unknown: [LeaseOperation]
    /// For each of `known` and of `unknown` the zone's policy when it took effect; nil: either.
    private let knownPolicies: [LeasePolicy?]
    private let unknownPolicies: [LeasePolicy?]
    /// For each of `unknown` the one before it that asks for the same; nil: none.
    private let twin: [Int?]
    private let checker: LinearizabilityChecker
    /// By register and placed operations, the sets of unknown operations used on the way; a superset of one of them can
    /// do nothing more.
    private var seen: [Place: [[Int]]] = [:]
    private var configurations = 0
    private var path: [Step] = []
    /// Where the longest order ended, for the counterexample.
    private var longest: (count: Int, lastPlaced: [LeaseOperation], stuck: [LeaseOperation], register: LeaseRegister)?

    /// What an operation does to the register, whoever repeats it.
    private struct Effect: Hashable {
        var request: LeaseOperation.Request

        init(_ operation: LeaseOperation) {
            request = operation.request
            guard case .acquire(var acquire) = request else { return }
            acquire.requestID = RequestID(high: 0, low: 0)
            request = .acquire(acquire)
        }
    }

    private struct Place: Hashable {
        var base: Int
        /// Placed ones at or behind `base`, ascending. Never begins with `base`.
        var ahead: [Int]
        var register: LeaseRegister
    }

    private struct Step {
        var place: Place
        /// Unknown operations used, ascending.
        var used: [Int]
        /// Operations that may come next: those of `known` by index, those of `unknown` by their complement.
        var candidates: [Int]
        /// The first return among the known ones that are open.
        var firstReturn: MonotonicTime?
        var next = 0
        /// How this step was reached; nil for the first.
        var reachedBy: Int?
    }

    init(_ history: [LeaseOperation], _ checker: LinearizabilityChecker) {
        self.checker = checker
        known = history.filter { $0.outcome != .unknown }.sorted { $0.calledAt < $1.calledAt }
        unknown = history.filter { $0.outcome == .unknown && $0.hasEffectWithoutAnswer }
            .sorted { $0.calledAt < $1.calledAt }
        knownPolicies = known.map { checker.policies.policy(from: $0.calledAt, to: $0.returnedAt) }
        unknownPolicies = unknown.map { checker.policies.policy(from: $0.calledAt, to: nil) }
        var last: [Effect: Int] = [:]
        twin = unknown.enumerated().map { last.updateValue($0.offset, forKey: Effect($0.element)) }
    }

    mutating func run(meter: String) -> LinearizabilityChecker.Verdict {
        push(Place(base: 0, ahead: [], register: LeaseRegister()), used: [], after: nil)
        while var step = path.popLast() {
            if step.place.base == known.count { return .linearizable }
            guard step.next < step.candidates.count else {
                noteEnd(step)
                continue
            }
            let candidate = step.candidates[step.next]
            step.next += 1
            path.append(step)
            guard configurations < checker.configurationsMax else { return .undecided(meter: meter) }
            take(candidate, from: step)
        }
        guard let longest else { return .linearizable }
        return .notLinearizable(
            .init(
                meter: meter, lastPlaced: longest.lastPlaced, stuck: longest.stuck, register: longest.register))
    }

    private mutating func take(_ candidate: Int, from step: Step) {
        let operation = operation(candidate)
        let (register, policy) = (step.place.register, policy(of: candidate))
        if candidate < 0 {
            guard mayHaveHappened(operation, step) else { return }
            for other in otherEffects(of: operation, on: register, under: policy) {
                place(candidate, other, from: step)
            }
        }
        let next = register.after(operation, terms: checker.terms, slack: checker.slack, under: policy)
        if let next { place(candidate, next, from: step) }
    }

    /// Besides the one that `LeaseRegister.after` tells.
    private func otherEffects(
        of operation: LeaseOperation, on register: LeaseRegister, under policy: LeasePolicy?
    ) -> [LeaseRegister] {
        guard case .acquire(let acquire) = operation.request else { return [] }
        var effects: [LeaseRegister] = []
        // A restart without an answer: it was granted, or it left the meter to somebody else.
        var left = register
        if left.leave(for: acquire, since: operation.calledAt) { effects.append(left) }
        let granted = register.afterGrant(operation, terms: checker.terms, slack: checker.slack, under: policy)
        return effects + [granted, register.afterRevocation(operation, under: policy)].compactMap { $0 }
    }

    private func policy(of candidate: Int) -> LeasePolicy? {
        candidate < 0 ? unknownPolicies[~candidate] : knownPolicies[candidate]
    }

    private mutating func place(_ candidate: Int, _ register: LeaseRegister, from step: Step) {
        // Time has gone past the return of a call that stays open: nothing can come of it.
        if candidate < 0, let firstReturn = step.firstReturn, firstReturn < register.earliest { return }
        var place = step.place
        var used = step.used
        place.register = register
        if candidate < 0 {
            used.insert(~candidate, at: used.firstIndex { $0 > ~candidate } ?? used.endIndex)
        } else {
            place.ahead.insert(candidate, at: place.ahead.firstIndex { $0 > candidate } ?? place.ahead.endIndex)
            while place.ahead.first == place.base {
                place.ahead.removeFirst()
                place.base += 1
            }
        }
        push(place, used: used, after: candidate)
    }

    /// A quick look, as most calls without an answer are tried at most places and are impossible there.
    private func mayHaveHappened(_ operation: LeaseOperation, _ step: Step) -> Bool {
        guard let holder = step.place.register.holder else {
            if case .acquire = operation.request { return true } else { return false }
        }
        switch operation.request {
        case .acquire(let acquire):
            if acquire.takeover != nil || acquire.previousSession == holder.session { return true }
            if holder.session == acquire.session, holder.isStrict { return true }
            guard let firstReturn = step.firstReturn else { return true }
            return holder.renewedAt + checker.terms.over - checker.slack <= firstReturn
        case .release(let session, _): return session == holder.session
        case .revoke: return !holder.isRevoked
        case .renew, .read: return false
        }
    }

    private mutating func push(_ place: Place, used: [Int], after candidate: Int?) {
        let open = candidates(at: place, used)
        // As above, now without the call that was placed.
        if let firstReturn = open.firstReturn, firstReturn < place.register.earliest { return }
        let before = seen[place, default: []]
        guard !before.contains(where: { isSubset($0, of: used) }) else { return }
        seen[place] = before.filter { !isSubset(used, of: $0) } + [used]
        configurations += 1
        path.append(
            Step(
                place: place, used: used, candidates: open.indices, firstReturn: open.firstReturn,
                reachedBy: candidate))
    }

    /// Nothing more can follow this step.
    private mutating func noteEnd(_ step: Step) {
        guard path.count >= longest?.count ?? 0 else { return }
        let last = (path.suffix(8) + [step]).compactMap(\.reachedBy).map { operation($0) }
        let stuck = step.candidates.filter { $0 >= 0 }.map { known[$0] }
        longest = (path.count, last, stuck, step.place.register)
    }

    private func operation(_ candidate: Int) -> LeaseOperation {
        candidate < 0 ? unknown[~candidate] : known[candidate]
    }

    /// What may come next: what no other open operation returned before it was called. Those without an answer last,
    /// as most of them never took effect.
    private func candidates(at place: Place, _ used: [Int]) -> (indices: [Int], firstReturn: MonotonicTime?) {
        var found: [Int] = []
        var firstReturn: MonotonicTime?
        var ahead = place.ahead[...]
        for index in place.base..<known.count {
            if ahead.first == index {
                ahead.removeFirst()
                continue
            }
            if let firstReturn, known[index].calledAt > firstReturn { break }
            found.append(index)
            firstReturn = min(firstReturn ?? known[index].returnedAt, known[index].returnedAt)
        }
        guard let firstReturn else { return ([], nil) }
        found.removeAll { known[$0].calledAt > firstReturn }
        for index in unknown.indices {
            if unknown[index].calledAt > firstReturn { break }
            // Of those that ask for the same the first called is the most that can have happened.
            guard !used.contains(index), twin[index].map({ used.contains($0) }) ?? true else { continue }
            found.append(~index)
        }
        return (found, firstReturn)
    }

    private func isSubset(_ part: [Int], of whole: [Int]) -> Bool {
        guard part.count <= whole.count else { return false }
        var place = 0
        for element in part {
            while place < whole.count, whole[place] < element { place += 1 }
            guard place < whole.count, whole[place] == element else { return false }
            place += 1
        }
        return true
    }
}

extension LeaseOperation {
    /// Whether it can have changed anything that a later answer shows. A renewal without an answer can only have made
    /// later grants rarer, which explains nothing.
    fileprivate var hasEffectWithoutAnswer: Bool {
        switch request {
        case .acquire, .release, .revoke: true
        case .renew, .read: false
        }
    }
}
