/// A meter's lease, looked up under any of the meter's ids.
package struct LeaseSnapshot: Hashable, Sendable {
    /// Lease data of the requested id from before it became an alias.
    package struct Alias: Hashable, Sendable {
        /// Greatest token granted under either id before they were joined. A token up to this value never refers to the
        /// present lease, even if that lease has an equal one.
        package var tokensBefore: FencingToken
        /// Lease of the alias id alone. It has no holder and does not change while the id is an alias.
        package var record: LeaseRecord?

        package init(tokensBefore: FencingToken, record: LeaseRecord?) {
            self.tokensBefore = tokensBefore
            self.record = record
        }
    }

    package var meter: String
    /// Nil if the meter never had a lease.
    package var record: LeaseRecord?
    /// Token that the next grant must exceed. The present holder keeps even a smaller one.
    package var floor: FencingToken
    /// Nil unless the requested id is an alias.
    package var alias: Alias?

    package init(
        meter: String, record: LeaseRecord?, floor: FencingToken = FencingToken(rawValue: 0), alias: Alias? = nil
    ) {
        self.meter = meter
        self.record = record
        self.floor = floor
        self.alias = alias
    }

    /// Whether the token is older than the alias, so it cannot belong to this lease.
    fileprivate func isFromBefore(_ token: FencingToken) -> Bool { alias.map { token <= $0.tokensBefore } ?? false }
}

// Rules for a lease requested under several ids (Docs/Decisions/0014-takeovers-and-aliases.md).
extension LeaseRules {
    package static func acquire(
        _ request: LeaseAcquire, of lease: LeaseSnapshot, in circumstances: LeaseCircumstances
    ) -> LeaseDecision<LeaseAnswer> {
        var (request, circumstances) = (request, circumstances)
        circumstances.grantsAbove = max(circumstances.grantsAbove, lease.floor)
        // A token from before the alias would fail at its first renewal, so grant a newer one.
        if let before = lease.alias?.tokensBefore, before < .max {
            circumstances.tokenFloor = max(circumstances.tokenFloor, FencingToken(rawValue: before.rawValue + 1))
        }
        let (record, now) = (lease.record, circumstances.now)
        if lease.alias?.record?.token(grantedTo: request.requestID) != nil {
            // The request was granted before its id became an alias; do not decide it again.
            let wait = record?.untilOver(at: now) ?? .zero
            return refuse(record?.holder == nil ? .released : .held, record, after: wait)
        }
        // A take-over target from before the alias names no grant of this lease.
        if let target = request.takeover, lease.isFromBefore(target) { request.takeover = nil }
        if let record, let holder = record.holder, holder.isRun(of: request), lease.isFromBefore(record.token),
            !record.isOver(at: now)
        {
            // This session holds the lease under another id, with a token that is invalid under this one.
            return refuse(.held, record, after: record.untilOver(at: now))
        }
        return acquire(request, of: record, in: circumstances)
    }

    package static func renew(
        _ token: FencingToken, session: SessionID, of lease: LeaseSnapshot, under policy: LeasePolicy,
        at now: MonotonicTime
    ) -> LeaseDecision<LeaseRenewal> {
        guard !lease.isFromBefore(token) else {
            return LeaseDecision(record: nil, answer: .lost(.released, lease.record))
        }
        return renew(token, session: session, of: lease.record, under: policy, at: now)
    }

    package static func release(
        _ token: FencingToken, session: SessionID, of lease: LeaseSnapshot
    ) -> LeaseDecision<LeaseChange> {
        guard !lease.isFromBefore(token) else {
            return LeaseDecision(record: nil, answer: .unchanged(lease.record))
        }
        return release(token, session: session, of: lease.record)
    }

    package static func revoke(_ lease: LeaseSnapshot) -> LeaseDecision<LeaseChange> { revoke(lease.record) }
}
