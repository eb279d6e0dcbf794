import Domain
import SimulatedCloud

/// A history of several clients on one meter, from an authority of twenty lines that is not the project's own, so that
/// the checker is not held against the rules it is to judge.
struct GeneratedHistory {
    enum Fault {
        case none
        /// The authority decides an acquire on what the lease was when the call arrived, not when it is written.
        case skipsCompare
        /// One answer is changed after the fact.
        case changedAnswer
    }

    private(set) var operations: [LeaseOperation] = []

    private struct Lease {
        var holder: (client: UInt64, renewedAt: Double)?
        var token: UInt64 = 0
    }

    private struct Pending {
        var client: UInt64
        var request: LeaseOperation.Request
        var calledAt: Double
        var effectAt: Double
        var returnedAt: Double
        /// As it was at the call, for the fault.
        var leaseAtCall: Lease
    }

    private var lease = Lease()
    private var held: [UInt64: UInt64] = [:]
    private var rng: SimulationRNG
    private let fault: Fault
    private let unknownPermille: UInt64

    init(
        seed: UInt64, operations count: Int, clients: Int, fault: Fault = .none, unknownPermille: UInt64 = 0,
        pace: ClosedRange<Int64> = 0...20_000
    ) {
        rng = SimulationRNG(seed: seed)
        self.fault = fault
        self.unknownPermille = unknownPermille
        var idleUntil = [Double](repeating: 0, count: clients)
        var pending: [Pending] = []
        while operations.count < count {
            let caller = idleUntil.indices.min { idleUntil[$0] < idleUntil[$1] } ?? 0
            let effect = pending.indices.min { pending[$0].effectAt < pending[$1].effectAt }
            if let effect, pending[effect].effectAt <= idleUntil[caller] {
                finish(pending.remove(at: effect))
                continue
            }
            let now = idleUntil[caller]
            let call = pend(UInt64(caller + 1), at: now)
            pending.append(call)
            idleUntil[caller] = call.returnedAt + seconds(pace)
        }
        if fault == .changedAnswer { changeAnAnswer() }
    }

    private mutating func pend(_ client: UInt64, at now: Double) -> Pending {
        let session = LeaseHistory.session(client, 1)
        let request: LeaseOperation.Request
        switch (rng.number(below: 6), held[client]) {
        case (0, _): request = .read
        case (1, let token?): request = .release(session: session, token: FencingToken(rawValue: token))
        case (_, let token?): request = .renew(session: session, token: FencingToken(rawValue: token))
        case (_, nil):
            let requestID = RequestID(high: client, low: rng.next())
            request = .acquire(.init(requestID: requestID, host: LeaseHistory.host(client), session: session))
        }
        let effectAt = now + seconds(1...3000)
        return Pending(
            client: client, request: request, calledAt: now, effectAt: effectAt,
            returnedAt: effectAt + seconds(1...3000), leaseAtCall: lease)
    }

    private mutating func finish(_ call: Pending) {
        let isLost = rng.happens(permille: unknownPermille)
        let isDone = !isLost || rng.happens(onceIn: 2)
        var outcome = LeaseOperation.Outcome.unknown
        if isDone { outcome = decide(call) }
        if isLost { outcome = .unknown }
        operations.append(
            LeaseOperation(
                meter: "AABBCCDDEEFF", request: call.request, outcome: outcome,
                calledAt: LeaseHistory.at(call.calledAt), returnedAt: LeaseHistory.at(call.returnedAt)))
    }

    private mutating func decide(_ call: Pending) -> LeaseOperation.Outcome {
        let isMine = lease.holder?.client == call.client
        switch call.request {
        case .acquire:
            let seen = fault == .skipsCompare ? call.leaseAtCall : lease
            if let holder = seen.holder, holder.client != call.client, call.effectAt - holder.renewedAt < 135 {
                return .refused(by: holder.client, seen.token)
            }
            if !isMine { lease.token = max(lease.token, seen.token) + 1 }
            lease.holder = (call.client, call.effectAt)
            held[call.client] = lease.token
            return .granted(lease.token)
        case .renew(_, let token):
            guard isMine, lease.token == token.rawValue else {
                held[call.client] = nil
                return .lost(lease.holder == nil ? .released : .takenOver)
            }
            lease.holder?.renewedAt = call.effectAt
            return .renewed
        case .release(_, let token):
            held[call.client] = nil
            if isMine, lease.token == token.rawValue { lease.holder = nil }
            return .done
        case .revoke, .read:
            return .seen(.of(lease.holder?.client, lease.token == 0 ? nil : lease.token))
        }
    }

    private mutating func changeAnAnswer() {
        let index = rng.number(below: operations.count)
        switch operations[index].outcome {
        case .granted(let token): operations[index].outcome = .granted(token.rawValue + 1)
        case .refused: operations[index].outcome = .granted(1 + UInt64(rng.number(below: 4)))
        case .renewed: operations[index].outcome = .lost(.takenOver)
        case .lost: operations[index].outcome = .renewed
        case .seen: operations[index].outcome = .seen(.of(UInt64(1 + rng.number(below: 3)), 1))
        case .done, .unknown: break
        }
    }

    private mutating func seconds(_ range: ClosedRange<Int64>) -> Double {
        Double(rng.milliseconds(range).milliseconds) / 1000
    }
}
