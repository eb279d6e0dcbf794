import Cloud
import Domain
import SimulatedCloud

/// What the cloud's engine did, told to the judge at the moment it did it.
extension World {
    /// The lease as it is after a decision.
    func decided(_ record: LeaseRecord?, of meter: String) {
        guard let record else { return }
        let holder = record.holder?.session
        note("lease of \(meter): token \(record.token.rawValue), \(holder.map { "\($0)" } ?? "nobody")")
        defer { decisions[meter] = (record.token, holder) }
        guard let last = decisions[meter] else { return }
        if record.token < last.token {
            judge.object("\(meter): token \(record.token.rawValue) stands after \(last.token.rawValue)")
        }
        if record.token == last.token, let holder, let before = last.holder, holder != before {
            judge.object("\(meter): token \(record.token.rawValue) has another holder than before")
        }
    }

    /// One request, one token, however often it arrives.
    func granted(_ token: FencingToken, to request: RequestID) {
        if let before = grants[request], before != token {
            judge.object("one request was granted \(before.rawValue), and later \(token.rawValue)")
        }
        grants[request] = token
    }

    /// A merge at the cloud: a record only grows.
    func merged(_ sent: SyncRecord, _ outcome: RecordOutcome) {
        note("record \(sent.key.name): \(outcome.fate)")
        switch outcome.fate {
        case .changed, .unchanged: break
        case .clockSkew, .tooManyProperties, .quotaExceeded, .leaseHeld, .tooManyAliases: return
        }
        guard let record = outcome.record, record.merged(with: sent) != record else { return }
        judge.object("the cloud was told \(sent) and has \(record)")
    }

    /// A host loses the right to a meter.
    func withdrawn(_ why: String, from host: String) {
        guard isCalm, why.contains("could not be renewed") else { return }
        judge.object("\(host) lost a lease, though no more than one message in each heartbeat was lost")
    }
}
