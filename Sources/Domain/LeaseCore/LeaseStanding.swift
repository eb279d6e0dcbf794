/// A lease as one request finds it. A meter has one lease, under whichever of its ids the request came; this adds what
/// is needed to judge requests made under another id.
package struct LeaseStanding: Hashable, Sendable {
    /// The history of the id in the request, from before it became an alias of the meter.
    package struct Alias: Hashable, Sendable {
        /// Tokens up to this one were granted under that id, or before the meter had it as an alias: none of them is a
        /// grant of this lease, even if the number is the same.
        package var tokensBefore: FencingToken
        /// The lease of that id alone. Nobody holds it, and it does not change while the id is an alias.
        package var record: LeaseRecord?

        package init(tokensBefore: FencingToken, record: LeaseRecord?) {
            self.tokensBefore = tokensBefore
            self.record = record
        }
    }

    /// The id under which the meter is leased.
    package var meter: String
    /// The lease, if there ever was one.
    package var record: LeaseRecord?
    /// The next grant's token exceeds this one. A present holder keeps its own, even a smaller one.
    package var floor: FencingToken
    /// Set if the request named an alias of the meter.
    package var alias: Alias?

    package init(
        meter: String, record: LeaseRecord?, floor: FencingToken = FencingToken(rawValue: 0), alias: Alias? = nil
    ) {
        self.meter = meter
        self.record = record
        self.floor = floor
        self.alias = alias
    }

    /// Whether a token cannot mean this lease, because it is older than the alias in the request.
    fileprivate func isFromBefore(_ token: FencingToken) -> Bool { alias.map { token <= $0.tokensBefore } ?? false }
}

// The rules for a lease that may be asked for under several ids (Docs/Decisions/0014-takeovers-and-aliases.md).
extension LeaseRules {
    package static func acquire(
        _ request: LeaseAcquire, of lease: LeaseStanding, in circumstances: LeaseCircumstances
    ) -> LeaseDecision<LeaseAnswer> {
        var (request, circumstances) = (request, circumstances)
        circumstances.grantsAbove = max(circumstances.grantsAbove, lease.floor)
        // Nobody keeps a token from before the alias: it would be lost again with its first renewal.
        if let before = lease.alias?.tokensBefore, before < .max {
            circumstances.tokenFloor = max(circumstances.tokenFloor, FencingToken(rawValue: before.rawValue + 1))
        }
        let (record, now) = (lease.record, circumstances.now)
        if lease.alias?.record?.token(grantedTo: request.requestID) != nil {
            // The request was granted under its own id before that became an alias: it is not decided anew.
            let wait = record?.untilOver(at: now) ?? .zero
            return refuse(record?.holder == nil ? .released : .held, record, after: wait)
        }
        // A target that was granted under the former id does not refer to anybody here.
        if let target = request.takeover, lease.isFromBefore(target) { request.takeover = nil }
        if let record, let holder = record.holder, holder.isRun(of: request), lease.isFromBefore(record.token),
            !record.isOver(at: now)
        {
            // This run already has the meter under another id, with a token that means nothing under this one.
            return refuse(.held, record, after: record.untilOver(at: now))
        }
        return acquire(request, of: record, in: circumstances)
    }

    package static func renew(
        _ token: FencingToken, session: SessionID, of lease: LeaseStanding, under policy: LeasePolicy,
        at now: MonotonicTime
    ) -> LeaseDecision<LeaseRenewal> {
        guard !lease.isFromBefore(token) else {
            return LeaseDecision(record: nil, answer: .lost(.released, lease.record))
        }
        return renew(token, session: session, of: lease.record, under: policy, at: now)
    }

    package static func release(
        _ token: FencingToken, session: SessionID, of lease: LeaseStanding
    ) -> LeaseDecision<LeaseChange> {
        guard !lease.isFromBefore(token) else {
            return LeaseDecision(record: nil, answer: .unchanged(lease.record))
        }
        return release(token, session: session, of: lease.record)
    }

    package static func revoke(_ lease: LeaseStanding) -> LeaseDecision<LeaseChange> { revoke(lease.record) }
}
