/// The authority's rules. Each method decides one request from its arguments alone. "Rule n" refers to
/// Docs/Leases.md#rules.
///
/// The caller must read the record and write the result in one transaction, or with a compare-and-swap.
package enum LeaseRules {
    /// Time for which an offered meter remains reserved.
    package static let reservation = Duration.seconds(10)

    /// Renews even an expired lease if no other host has acquired it since.
    ///
    /// - Parameter policy: the zone's policy. A stricter one applies from this renewal; a laxer one from the next
    ///   acquire, because the holder may receive it too late.
    package static func renew(
        _ token: FencingToken, session: SessionID, of record: LeaseRecord?, under policy: LeasePolicy,
        at now: MonotonicTime
    ) -> LeaseDecision<LeaseRenewal> {
        guard var record, token <= record.token else {
            return LeaseDecision(record: nil, answer: .lost(.unknown, record))
        }
        guard token == record.token else { return LeaseDecision(record: nil, answer: .lost(.takenOver, record)) }
        switch record.state {
        case .free:
            return LeaseDecision(record: nil, answer: .lost(.released, record))
        case .held(let holder) where holder.session == session:
            record.renew(at: now)
            record.terms = record.terms.under(policy)
            return LeaseDecision(record: record, answer: .renewed(record))
        case .revoking(let holder) where holder.session == session:
            return LeaseDecision(record: nil, answer: .lost(.revoking, record))
        case .held, .revoking:
            return LeaseDecision(record: nil, answer: .lost(.unknown, record))
        }
    }

    /// Releases a lease for its present holder only. Final for this token (rule 6).
    package static func release(
        _ token: FencingToken, session: SessionID, of record: LeaseRecord?
    ) -> LeaseDecision<LeaseChange> {
        guard var record, record.token == token, record.holder?.session == session else {
            return LeaseDecision(record: nil, answer: .unchanged(record))
        }
        record.state = .free
        return LeaseDecision(record: record, answer: .changed(record))
    }

    /// Ends the right to renew. The lease is free after the holder's release, or after time to live and lock-delay.
    package static func revoke(_ record: LeaseRecord?) -> LeaseDecision<LeaseChange> {
        guard var record, case .held(let holder) = record.state else {
            return LeaseDecision(record: nil, answer: .unchanged(record))
        }
        record.state = .revoking(holder)
        return LeaseDecision(record: record, answer: .changed(record))
    }
}

extension LeaseRecord {
    mutating func renew(at now: MonotonicTime) { renewedAt = max(renewedAt, now) }
}
