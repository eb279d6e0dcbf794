package import Domain

/// One call on one meter's lease as a client saw it: what it asked, when, and what came back.
///
/// Both moments are on one clock, that of whoever recorded the history. The call took effect at some moment between
/// them, or, where the outcome is unknown, at any moment after the call, or never.
package struct LeaseOperation: Hashable, Sendable {
    package enum Request: Hashable, Sendable {
        case acquire(Acquire)
        case renew(session: SessionID, token: FencingToken)
        case release(session: SessionID, token: FencingToken)
        /// By an administrator: the holder is to stop.
        case revoke
        case read
    }

    package struct Acquire: Hashable, Sendable {
        package var requestID: RequestID
        package var host: HostID
        package var session: SessionID
        package var previousSession: SessionID?
        /// The grant that it is to take over.
        package var takeover: FencingToken?

        package init(
            requestID: RequestID, host: HostID, session: SessionID, previousSession: SessionID? = nil,
            takeover: FencingToken? = nil
        ) {
            self.requestID = requestID
            self.host = host
            self.session = session
            self.previousSession = previousSession
            self.takeover = takeover
        }
    }

    package enum Outcome: Hashable, Sendable {
        case granted(FencingToken)
        /// What the refusal said of the lease, nil where it said nothing.
        case refused(LeaseAnswer.Refusal.Reason, Sight?)
        case renewed
        case lost(LeaseRenewal.Loss)
        /// A release or a revocation was taken.
        case done
        case seen(Sight)
        /// Nobody knows whether it took effect: the time ran out, the connection broke, the server was killed.
        case unknown
    }

    /// What an answer showed of a lease.
    package struct Sight: Hashable, Sendable {
        /// nil: nobody has it.
        package var holder: HostID?
        /// nil: it was never given out.
        package var token: FencingToken?

        package init(holder: HostID?, token: FencingToken?) {
            self.holder = holder
            self.token = token
        }
    }

    package var meter: String
    package var request: Request
    package var outcome: Outcome
    package var calledAt: MonotonicTime
    /// Means nothing where the outcome is unknown.
    package var returnedAt: MonotonicTime

    package init(
        meter: String, request: Request, outcome: Outcome, calledAt: MonotonicTime, returnedAt: MonotonicTime
    ) {
        self.meter = meter
        self.request = request
        self.outcome = outcome
        self.calledAt = calledAt
        self.returnedAt = returnedAt
    }
}

/// For the person who reads a counterexample: hosts and sessions by their first digits.
extension LeaseOperation: CustomStringConvertible {
    package var description: String { "\(calledAt.sinceOrigin)...\(returnedAt.sinceOrigin): \(request): \(outcome)" }
}

extension LeaseOperation.Request: CustomStringConvertible {
    package var description: String {
        switch self {
        case .acquire(let acquire):
            "\(acquire.host.short)/\(acquire.session.short) acquires"
                + (acquire.takeover.map { " by taking over \($0.rawValue)" } ?? "")
                + (acquire.previousSession.map { " after \($0.short)" } ?? "")
        case .renew(let session, let token): "\(session.short) renews \(token.rawValue)"
        case .release(let session, let token): "\(session.short) releases \(token.rawValue)"
        case .revoke: "is revoked"
        case .read: "is read"
        }
    }
}

extension LeaseOperation.Outcome: CustomStringConvertible {
    package var description: String {
        switch self {
        case .granted(let token): "granted \(token.rawValue)"
        case .refused(let reason, let sight): "\(reason.rawValue)\(sight.map { ", seen \($0)" } ?? "")"
        case .renewed: "renewed"
        case .lost(let loss): "lost, \(loss.rawValue)"
        case .done: "done"
        case .seen(let sight): "\(sight)"
        case .unknown: "no answer"
        }
    }
}

extension LeaseOperation.Sight: CustomStringConvertible {
    package var description: String { "\(holder?.short ?? "nobody") \(token?.rawValue ?? 0)" }
}

extension CustomStringConvertible {
    fileprivate var short: Substring { description.prefix(4) }
}
