package import Cloud
package import Domain
import Synchronization

extension EtcdCloudEngine {
    package func decideLease<Answer: Sendable>(
        of meter: String, in zone: String,
        _ rule: @escaping @Sendable (LeaseSnapshot) -> LeaseDecision<Answer>
    ) async throws -> Answer {
        try await finish { [self] in
            try await check(zone)
            let result: Result<Answer, any Error> = await withCheckedContinuation { continuation in
                let job = LeaseJob(
                    meter: meter, heedsTime: true,
                    decide: { lease in
                        let decision = rule(lease)
                        return LeaseJob.Step(record: decision.record) {
                            continuation.resume(returning: .success(decision.answer))
                        }
                    },
                    fail: { continuation.resume(returning: .failure($0)) },
                    refuse: { continuation.resume(returning: .failure($0)) })
                leaseDesk.submit([job], in: zone)
            }
            return try result.get()
        }
    }

    package func renewLeases(
        _ leases: [(meter: String, token: FencingToken)], session: SessionID, in zone: String,
        under policy: LeasePolicy,
        at now: MonotonicTime
    ) async throws -> [LeaseRenewal] {
        try await finish { [self] in
            try await check(zone)
            guard !leases.isEmpty else { return [] }
            let result: Result<[LeaseRenewal], EtcdError> = await withCheckedContinuation { continuation in
                let answers = RenewalAnswers(count: leases.count, continuation: continuation)
                leaseDesk.submit(
                    leases.enumerated().map { index, lease in
                        LeaseJob(
                            meter: lease.meter, heedsTime: false,
                            decide: { standing in
                                let decision = LeaseRules.renew(
                                    lease.token, session: session, of: standing, under: policy, at: now)
                                return LeaseJob.Step(record: decision.record) {
                                    answers.add(.success(decision.answer), at: index)
                                }
                            },
                            fail: { answers.add(.failure($0), at: index) })
                    }, in: zone)
            }
            return try result.get()
        }
    }

    package func leases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)] {
        try await finish { [self] in
            try await check(zone)
            try await readLeases(in: zone)
            return leaseCache.all(in: zone)
        }
    }

    /// Returns held leases with their current holders. Renewals at other replicas may be missing.
    package func heldLeases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)] {
        try await finish { [self] in
            try await check(zone)
            let changed = try await reads.entry(keys.leaseGeneration(zone))?.revision ?? 0
            let known = leaseCache.readThrough(zone)
            if known == 0 || changed > known { try await readLeases(in: zone) }
            return leaseCache.all(in: zone).filter { $0.record.holder != nil }
        }
    }

    package func leaseCount(of zone: String) async throws -> Int {
        try await finish { [self] in
            try await check(zone)
            let counter = try LeaseCounters.count(try await reads.entry(keys.leaseCount(zone)))
            if let counter { return counter }
            return try await client.countLeases(in: zone, keys)
        }
    }

    package func standing(of meter: String, in zone: String) async throws -> LeaseSnapshot {
        try await decideLease(of: meter, in: zone) { LeaseDecision(record: nil, answer: $0) }
    }

    package func leaseLimits(at now: MonotonicTime) async throws -> LeaseLimits {
        let (found, isOver) = limits.withLock { limits -> (LeaseLimits, Bool) in
            guard let end = limits.grantsNothingNewBefore, end <= now else { return (limits, false) }
            limits.grantsNothingNewBefore = nil
            return (limits, true)
        }
        // Once a restore's ban on new leases is over, delete its key: the next replica to start must not repeat it.
        if isOver {
            try await finish { [self] in
                _ = try await client.commit(EtcdTransaction(success: [.delete(key: keys.restoring)]))
            }
        }
        return found
    }

    /// Reads the lease changes since the previous call.
    ///
    /// - Returns: leases whose holder or state another replica changed, each change once.
    @discardableResult
    func readLeases(in zone: String) async throws -> [(meter: String, record: LeaseRecord)] {
        let since = leaseCache.readThrough(zone) + 1
        let (leases, pulses) = (keys.leases(in: zone), keys.pulses(in: zone))
        var range = EtcdRange(prefix: leases)
        range.changedSince = since
        var entries: [EtcdEntry] = []
        let revision = try await client.readAll(range, isOfOneState: false) { entries.append($0) }
        range = EtcdRange(prefix: pulses)
        range.changedSince = since
        range.isKeysOnly = true
        var beats: [EtcdEntry] = []
        try await client.readAll(range, isOfOneState: false) { beats.append($0) }
        // Read the clock only after etcd's answer: an earlier time could precede a renewal, so the lease would expire
        // too early.
        let now = clock.now()
        var news: [(meter: String, record: LeaseRecord)] = []
        for entry in entries {
            guard let meter = StoreKeys.text(of: entry.key, after: leases) else { continue }
            if let record = try update(entry, of: MeterPlace(zone: zone, meter: meter), at: now) {
                news.append((meter, record))
            }
        }
        for beat in beats {
            guard let meter = StoreKeys.text(of: beat.key, after: pulses) else { continue }
            leaseCache.update(pulse: beat.revision, at: MeterPlace(zone: zone, meter: meter), now: now)
        }
        leaseCache.wasRead(zone, through: revision)
        return news
    }

    /// Caches a lease entry. Returns the lease if another replica changed its holder or state, and the cache lacked
    /// that change.
    func update(_ entry: EtcdEntry, of place: MeterPlace, at now: MonotonicTime) throws -> LeaseRecord? {
        let (seen, author) = try SeenLease.read(entry, pulse: 0, at: now)
        let (next, isNews) = leaseCache.update(seen, at: place, isOwn: author == writer)
        return isNews ? next.record : nil
    }
}

private final class RenewalAnswers: Sendable {
    private struct State {
        var answers: [LeaseRenewal?]
        var left: Int
        var failure: EtcdError?
    }

    private let state: Mutex<State>
    private let continuation: CheckedContinuation<Result<[LeaseRenewal], EtcdError>, Never>

    init(count: Int, continuation: CheckedContinuation<Result<[LeaseRenewal], EtcdError>, Never>) {
        state = Mutex(State(answers: Array(repeating: nil, count: count), left: count))
        self.continuation = continuation
    }

    func add(_ answer: Result<LeaseRenewal, EtcdError>, at index: Int) {
        let all = state.withLock { state -> Result<[LeaseRenewal], EtcdError>? in
            switch answer {
            case .success(let renewal): state.answers[index] = renewal
            case .failure(let error): state.failure = error
            }
            state.left -= 1
            guard state.left == 0 else { return nil }
            if let failure = state.failure { return .failure(failure) }
            return .success(state.answers.compactMap { $0 })
        }
        if let all { continuation.resume(returning: all) }
    }
}
