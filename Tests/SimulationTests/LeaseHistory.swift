import Domain
import SimulatedCloud

/// Builds histories of one meter as a person would tell them: seconds, hosts by letter, tokens by number.
struct LeaseHistory {
    private(set) var operations: [LeaseOperation] = []
    var meter = "AABBCCDDEEFF"

    mutating func add(
        _ times: ClosedRange<Double>, _ request: LeaseOperation.Request, _ outcome: LeaseOperation.Outcome
    ) {
        operations.append(
            LeaseOperation(
                meter: meter, request: request, outcome: outcome, calledAt: Self.at(times.lowerBound),
                returnedAt: Self.at(times.upperBound)))
    }

    mutating func acquire(
        _ host: UInt64, _ times: ClosedRange<Double>, _ outcome: LeaseOperation.Outcome, run: UInt64 = 1,
        after previous: UInt64? = nil, request: UInt64? = nil, takeover: UInt64? = nil
    ) {
        let acquire = LeaseOperation.Acquire(
            requestID: RequestID(high: 0, low: request ?? UInt64(operations.count + 1000)),
            host: Self.host(host), session: Self.session(host, run),
            previousSession: previous.map { Self.session(host, $0) },
            takeover: takeover.map { FencingToken(rawValue: $0) })
        add(times, .acquire(acquire), outcome)
    }

    mutating func renew(
        _ host: UInt64, _ token: UInt64, _ times: ClosedRange<Double>, _ outcome: LeaseOperation.Outcome = .renewed,
        run: UInt64 = 1
    ) {
        add(times, .renew(session: Self.session(host, run), token: FencingToken(rawValue: token)), outcome)
    }

    mutating func release(
        _ host: UInt64, _ token: UInt64, _ times: ClosedRange<Double>, _ outcome: LeaseOperation.Outcome = .done,
        run: UInt64 = 1
    ) {
        add(times, .release(session: Self.session(host, run), token: FencingToken(rawValue: token)), outcome)
    }

    mutating func read(_ times: ClosedRange<Double>, _ sight: LeaseOperation.Sight) {
        add(times, .read, .seen(sight))
    }

    static func host(_ number: UInt64) -> HostID { HostID(high: 0, low: number) }
    static func session(_ host: UInt64, _ run: UInt64) -> SessionID { SessionID(high: host, low: run) }
    static func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(sinceOrigin: .seconds(seconds)) }
}

extension LeaseOperation.Outcome {
    static func granted(_ token: UInt64) -> Self { .granted(FencingToken(rawValue: token)) }
    static func refused(by host: UInt64, _ token: UInt64) -> Self {
        .refused(.held, .of(host, token))
    }
}

extension LeaseOperation.Sight {
    static func of(_ host: UInt64?, _ token: UInt64?) -> Self {
        Self(holder: host.map(LeaseHistory.host), token: token.map(FencingToken.init(rawValue:)))
    }
}

extension LinearizabilityChecker.Verdict {
    var isRefusal: Bool {
        if case .notLinearizable = self { true } else { false }
    }
}
