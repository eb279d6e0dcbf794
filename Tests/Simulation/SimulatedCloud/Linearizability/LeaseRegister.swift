package import Domain

/// The sequential lease that a history is held against: which operation may follow which, and what it leaves.
///
/// It accepts every history that the rules of Docs/Leases.md allow, and as few others as it can:
/// - one holder at a time; each change of holder or session has a token greater than any before;
/// - a grant to another session needs a release, its own `previousSession` as the holder on the same host, a take-over
///   under `keep` that is aimed at the present grant, or that time to live and lock-delay could have passed since the
///   last grant or renewal; a lease that was granted or renewed under `strict` stays so until its next acquire;
/// - a renewal is good for the holding session and token only, never after a release or a revocation;
/// - a release is terminal, and of no effect for anybody but the holder;
/// - an answer that shows the lease shows it as it is at that point.
///
/// Time is exact although nobody knows when a call took effect: the register carries the earliest moment that the
/// operations so far allow, an expiry pushes it forward, and a call must not return before it. Every rule here is a
/// least time *after* an earlier operation, so the earliest moments are the best choice, and no history is refused that
/// some choice of moments explains. What would need a latest time is not judged: a refusal because of a holder whose
/// time is over is allowed, since a restarted server counts every lease as renewed; so are `reserved`, `restoring` and
/// `exhausted`.
package struct LeaseRegister: Hashable, Sendable {
    /// The token as far as the answers so far tell it: an acquire without answer was granted with a token nobody saw.
    package enum Token: Hashable, Sendable {
        case exactly(FencingToken)
        case above(FencingToken)

        fileprivate var floor: FencingToken {
            switch self {
            case .exactly(let token), .above(let token): token
            }
        }

        /// What is known of it once an answer called it `token`; nil if it cannot be that.
        fileprivate func pinned(to token: FencingToken) -> Token? {
            switch self {
            case .exactly(let known): known == token ? self : nil
            case .above(let floor): floor < token ? .exactly(token) : nil
            }
        }
    }

    package struct Holder: Hashable, Sendable {
        package var host: HostID
        package var session: SessionID
        /// The earliest moment of its last grant or renewal.
        package var renewedAt: MonotonicTime
        package var isRevoked: Bool
        /// Granted or renewed when the zone was `strict` for certain.
        package var isStrict: Bool
    }

    package private(set) var holder: Holder?
    /// nil: never given out.
    package private(set) var token: Token?
    /// No later operation took effect before it.
    package private(set) var earliest: MonotonicTime

    package init() {
        holder = nil
        token = nil
        earliest = MonotonicTime(sinceOrigin: .nanoseconds(Int64.min))
    }

    /// What the register may be after an operation that took effect here; nil if it cannot have.
    ///
    /// An operation with an unknown outcome that would change nothing gives nil too: that it never took effect says the
    /// same. A take-over without an answer may also have had the effect that `afterGrant` or `afterRevocation` tells.
    ///
    /// - Parameter policy: the zone's when it took effect; nil: may be either. The terms' own unless given.
    package func after(
        _ operation: LeaseOperation, terms: LeaseTerms, slack: Duration, under policy: LeasePolicy?
    ) -> LeaseRegister? {
        var next = self
        next.earliest = max(earliest, operation.calledAt)
        let isKnown = operation.outcome != .unknown
        let rules = Rules(terms: terms, slack: slack, policy: policy)
        switch operation.request {
        case .acquire(let acquire):
            guard next.acquire(acquire, operation.outcome, rules) else { return nil }
        case .renew(let session, let token):
            guard next.renew(session, token, operation.outcome, rules) else { return nil }
        case .release(let session, let token):
            let released = next.release(session, token)
            guard isKnown ? operation.outcome == .done : released else { return nil }
        case .revoke:
            let revoked = next.revoke()
            guard isKnown ? operation.outcome == .done : revoked else { return nil }
        case .read:
            guard case .seen(let sight) = operation.outcome, next.shows(sight) else { return nil }
        }
        return isKnown && next.earliest > operation.returnedAt ? nil : next
    }

    /// As above, in a zone whose policy never changes.
    package func after(_ operation: LeaseOperation, terms: LeaseTerms, slack: Duration) -> LeaseRegister? {
        after(operation, terms: terms, slack: slack, under: terms.policy)
    }

    /// A take-over without an answer that did not revoke the lease, as `after` under `strict` has it: it came once the
    /// holder's time was over, and was granted. Nil under any other policy, where `after` grants it.
    package func afterGrant(
        _ operation: LeaseOperation, terms: LeaseTerms, slack: Duration, under policy: LeasePolicy?
    ) -> LeaseRegister? {
        guard policy == .strict, let acquire = unansweredTakeover(operation), holder?.isRevoked == false else {
            return nil
        }
        var next = self
        next.earliest = max(earliest, operation.calledAt)
        next.give(to: acquire, Rules(terms: terms, slack: slack, policy: policy))
        next.token = .above(token?.floor ?? FencingToken(rawValue: 0))
        return next
    }

    /// A take-over without an answer that revoked the lease, in a zone whose policy may have been either. Nil under a
    /// policy that is known, which `after` goes by.
    package func afterRevocation(_ operation: LeaseOperation, under policy: LeasePolicy?) -> LeaseRegister? {
        guard policy == nil, let acquire = unansweredTakeover(operation) else { return nil }
        var next = self
        next.earliest = max(earliest, operation.calledAt)
        return next.aims(acquire) && next.revoke() ? next : nil
    }

    private func unansweredTakeover(_ operation: LeaseOperation) -> LeaseOperation.Acquire? {
        guard operation.outcome == .unknown, case .acquire(let acquire) = operation.request,
            acquire.takeover != nil, !isHeld(by: acquire)
        else { return nil }
        return acquire
    }

    private struct Rules {
        var terms: LeaseTerms
        var slack: Duration
        /// nil: either.
        var policy: LeasePolicy?
    }

    // MARK: One operation each; false: it cannot have had this outcome here

    private mutating func acquire(
        _ acquire: LeaseOperation.Acquire, _ outcome: LeaseOperation.Outcome, _ rules: Rules
    ) -> Bool {
        switch outcome {
        case .granted(let granted):
            if isHeld(by: acquire), holder?.isRevoked == false {
                // The holding session again, or the repetition of its request: the token stays.
                guard let same = token?.pinned(to: granted) else { return false }
                token = same
                holder?.isStrict = rules.policy == .strict
                return true
            }
            guard granted > (token?.floor ?? FencingToken(rawValue: 0)) else { return false }
            give(to: acquire, rules)
            token = .exactly(granted)
            return true
        case .refused(let reason, let sight):
            return refuse(acquire, reason) && (sight.map { shows($0) } ?? true)
        case .unknown:
            if isHeld(by: acquire), let holder, !holder.isRevoked {
                // All that it can have changed is that a laxer policy is in force again.
                guard holder.isStrict, rules.policy != .strict else { return false }
                self.holder?.isStrict = false
                return true
            }
            if rules.policy == .strict, holder?.isRevoked == false, aims(acquire) { return revoke() }
            give(to: acquire, rules)
            token = .above(token?.floor ?? FencingToken(rawValue: 0))
            return true
        case .renewed, .lost, .done, .seen:
            return false
        }
    }

    private func isHeld(by acquire: LeaseOperation.Acquire) -> Bool {
        holder?.session == acquire.session && holder?.host == acquire.host
    }

    /// It is to take over the grant that there is.
    private mutating func aims(_ acquire: LeaseOperation.Acquire) -> Bool {
        guard let target = acquire.takeover, let same = token?.pinned(to: target) else { return false }
        token = same
        return true
    }

    /// A revoked holder was restarted, and left the meter to who waits for it.
    package mutating func leave(for acquire: LeaseOperation.Acquire, since calledAt: MonotonicTime) -> Bool {
        guard let holder, holder.isRevoked, isSuccessor(acquire, of: holder) else { return false }
        self.holder = nil
        earliest = max(earliest, calledAt)
        return true
    }

    private func isSuccessor(_ acquire: LeaseOperation.Acquire, of holder: Holder) -> Bool {
        holder.host == acquire.host && holder.session == acquire.previousSession
    }

    private mutating func give(to acquire: LeaseOperation.Acquire, _ rules: Rules) {
        if let holder, !mayFollow(holder, acquire, rules) {
            earliest = max(earliest, holder.renewedAt + rules.terms.over - rules.slack)
        }
        holder = Holder(
            host: acquire.host, session: acquire.session, renewedAt: earliest, isRevoked: false,
            isStrict: rules.policy == .strict)
    }

    /// At once, without waiting for the end of the holder's time.
    private mutating func mayFollow(_ holder: Holder, _ acquire: LeaseOperation.Acquire, _ rules: Rules) -> Bool {
        if isSuccessor(acquire, of: holder) { return true }
        return !holder.isRevoked && !holder.isStrict && rules.policy != .strict && aims(acquire)
    }

    private mutating func refuse(
        _ acquire: LeaseOperation.Acquire, _ reason: LeaseAnswer.Refusal.Reason
    ) -> Bool {
        switch reason {
        case .held:
            guard let holder else { return false }
            return holder.isRevoked || !isHeld(by: acquire)
        case .revoking:
            guard let holder else { return false }
            return holder.isRevoked || (aims(acquire) && revoke())
        case .released:
            return holder == nil || holder?.host == acquire.host
        case .reserved:
            _ = leave(for: acquire, since: earliest)
            return true
        case .restoring, .exhausted:
            return true
        }
    }

    private mutating func renew(
        _ session: SessionID, _ renewed: FencingToken, _ outcome: LeaseOperation.Outcome, _ rules: Rules
    ) -> Bool {
        let isMine = holder?.session == session
        let mine = isMine ? token?.pinned(to: renewed) : nil
        switch outcome {
        case .renewed:
            guard let mine, holder?.isRevoked == false else { return false }
            token = mine
            holder?.renewedAt = earliest
            if rules.policy == .strict { holder?.isStrict = true }
            return true
        case .lost(.revoking):
            guard let mine, holder?.isRevoked == true else { return false }
            token = mine
            return true
        case .lost:
            // With a token nobody saw, an older one of the same session may well be lost.
            return mine == nil || token != mine
        case .granted, .refused, .done, .seen, .unknown:
            // Without an answer it only could have made the next grant later: leaving it out allows more.
            return false
        }
    }

    private mutating func release(_ session: SessionID, _ released: FencingToken) -> Bool {
        guard holder?.session == session, let mine = token?.pinned(to: released) else { return false }
        token = mine
        holder = nil
        return true
    }

    @discardableResult
    private mutating func revoke() -> Bool {
        guard holder?.isRevoked == false else { return false }
        holder?.isRevoked = true
        return true
    }

    private mutating func shows(_ sight: LeaseOperation.Sight) -> Bool {
        guard sight.holder == holder?.host else { return false }
        guard let seen = sight.token else { return token == nil }
        guard let known = token?.pinned(to: seen) else { return false }
        token = known
        return true
    }
}
