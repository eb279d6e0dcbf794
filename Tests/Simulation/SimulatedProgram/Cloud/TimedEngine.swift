import Cloud
import CloudAPI
import Domain
import MeterTestKit
import SimulatedCloud

/// A real engine whose calls take their time, so that others come in between and the cloud may be killed before a call and
/// after it. What it decides is told to the judge at once.
struct TimedEngine: ForwardingEngine {
    let base: any CloudEngine
    private let life: Life

    init(_ base: any CloudEngine, in life: Life) {
        self.base = base
        self.life = life
    }

    func pass<Value: Sendable>(writes: Bool, _ call: () async throws -> Value) async throws -> Value {
        try await pass(upTo: writes ? 6000 : 800)
        let value = try await life.world.thread.foreign(call)
        if writes { try await pass(upTo: 6000) }
        return value
    }

    /// - Parameter longest: in microseconds.
    private func pass(upTo longest: Int) async throws {
        let world = life.world
        try await life.sleep(until: world.now + TrueTime(world.rng.number(below: longest)))
    }

    func decideLease<Answer: Sendable>(
        of meter: String, in zone: String, _ rule: @escaping @Sendable (LeaseSnapshot) -> LeaseDecision<Answer>
    ) async throws -> Answer {
        try await pass(writes: true) {
            let answer = try await base.decideLease(of: meter, in: zone, rule)
            let lease = try await base.standing(of: meter, in: zone)
            life.world.decided(lease.record, of: lease.meter)
            return answer
        }
    }

    func modify(
        _ records: [SyncRecord], in zone: String, now: WallTime, leaseTime: MonotonicTime
    ) async throws -> [RecordOutcome] {
        try await pass(writes: true) {
            let outcomes = try await base.modify(records, in: zone, now: now, leaseTime: leaseTime)
            for (record, outcome) in zip(records, outcomes) { life.world.merged(record, outcome) }
            return outcomes
        }
    }
}
