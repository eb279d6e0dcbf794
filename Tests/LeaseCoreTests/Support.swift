import Domain

extension MonotonicTime {
    static func seconds(_ seconds: Double) -> Self { Self(sinceOrigin: .milliseconds(Int64(seconds * 1000))) }
}

extension UniqueID {
    /// A short name for a test: `.of(1)`.
    static func of(_ number: UInt64) -> Self { Self(high: 0x4000, low: number) }
}

extension FencingToken: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: UInt64) { self.init(rawValue: value) }
}

extension LeaseTerms {
    static func standard(_ policy: LeasePolicy) -> LeaseTerms {
        LeaseTerms(timeToLive: .seconds(120), lockDelay: .seconds(15), policy: policy)
    }
}

extension LeaseAcquire {
    /// The n-th request of a host's run.
    static func of(
        _ host: UInt64, session: UInt64? = nil, request: UInt64 = 1, previous: UInt64? = nil,
        timeToLive: Duration = .seconds(120), policy: LeasePolicy = .keep, takeover: FencingToken? = nil,
        floor: FencingToken? = nil
    ) -> LeaseAcquire {
        LeaseAcquire(
            requestID: .of(host * 1000 + request), host: .of(host), hostName: "pi\(host)",
            session: .of(session ?? host), previousSession: previous.map { .of($0) }, timeToLive: timeToLive,
            transport: .usb, policy: policy, takeover: takeover, tokenFloor: floor)
    }
}

extension MeterID {
    static let meter = MeterID.mac(MACAddress(bits: 0x0200_0000_250C))
}

/// One meter at the authority: its record, and the circumstances that its requests are decided in.
struct Authority {
    var record: LeaseRecord?
    var circumstances: LeaseCircumstances

    init(_ policy: LeasePolicy = .keep) {
        circumstances = LeaseCircumstances(
            now: .origin, wallNow: WallTime(millisecondsSince1970: 0), terms: .standard(policy))
    }

    mutating func acquire(_ request: LeaseAcquire, at now: MonotonicTime) -> LeaseAnswer {
        circumstances.now = now
        let decision = LeaseRules.acquire(request, of: record, in: circumstances)
        record = decision.record ?? record
        return decision.answer
    }

    mutating func renew(_ token: FencingToken, session: UInt64, at now: MonotonicTime) -> LeaseRenewal {
        let decision = LeaseRules.renew(
            token, session: .of(session), of: record, under: circumstances.terms.policy, at: now)
        record = decision.record ?? record
        return decision.answer
    }

    mutating func release(_ token: FencingToken, session: UInt64) -> LeaseChange {
        let decision = LeaseRules.release(token, session: .of(session), of: record)
        record = decision.record ?? record
        return decision.answer
    }

    mutating func revoke() -> LeaseChange {
        let decision = LeaseRules.revoke(record)
        record = decision.record ?? record
        return decision.answer
    }
}

extension LeaseAnswer {
    var token: FencingToken? { if case .granted(let record) = self { record.token } else { nil } }
    /// What tests compare: the token or the reason.
    enum Brief: Equatable {
        case granted(FencingToken)
        case refused(Refusal.Reason)
    }
    var brief: Brief {
        switch self {
        case .granted(let record): .granted(record.token)
        case .refused(let refusal): .refused(refusal.reason)
        }
    }
    var terms: LeaseTerms? { if case .granted(let record) = self { record.terms } else { nil } }
    var refusal: Refusal? { if case .refused(let refusal) = self { refusal } else { nil } }
}

extension LeaseRenewal {
    var loss: Loss? { if case .lost(let loss, _) = self { loss } else { nil } }
}
