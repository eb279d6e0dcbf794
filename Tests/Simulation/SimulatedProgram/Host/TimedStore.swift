import Domain
import Gateway
import MeterStore
import SimulatedCloud

/// A host's real store, whose calls take their time, so that others come in between and the host may be killed before a
/// call and after it.
struct TimedStore: Sendable {
    let base: MeterStore
    let life: Life
    let host: Int
    let bug: ProgramBug?

    func write<Value: Sendable>(_ name: String, _ body: () async throws -> Value) async throws -> Value {
        try await pass(upTo: 15_000)
        let value = try await life.world.thread.foreign(body)
        life.world.note("host\(host): store: \(name)")
        try await pass(upTo: 15_000)
        return value
    }

    func read<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await pass(upTo: 3000)
        return try await life.world.thread.foreign(body)
    }

    /// - Parameter longest: in microseconds.
    private func pass(upTo longest: Int) async throws {
        let world = life.world
        try await life.sleep(until: world.now + TrueTime(world.rng.number(below: longest)))
    }
}

// MARK: - What runs hand on about leases

extension TimedStore {
    func leaseSession() async throws -> SessionID? { try await read { try await base.leaseSession() } }

    func leaseTokens(in zone: String) async throws -> [MeterID: FencingToken] {
        try await read { try await base.leaseTokens(in: zone) }
    }

    func keepLeaseSession(_ session: SessionID) async throws {
        try await write("keeps the session") { try await base.keepLeaseSession(session) }
    }

    func keepLeaseToken(_ token: FencingToken, of meter: MeterID, in zone: String) async throws {
        try await write("keeps token \(token.rawValue)") {
            try await base.keepLeaseToken(token, of: meter, in: zone)
        }
    }

    func save(_ meter: KnownMeter) async throws { try await write("saves \(meter.id)") { try await base.save(meter) } }
}

extension TimedStore: RetentionRepository {
    func believed() async throws -> BelievedDate? { try await read { try await base.believed() } }
    func save(_ believed: BelievedDate) async throws {
        try await write("saves the date") { try await base.save(believed) }
    }
    func newestStored() async throws -> WallTime? { try await read { try await base.newestStored() } }
    func firstStored(after time: WallTime) async throws -> WallTime? {
        try await read { try await base.firstStored(after: time) }
    }
}
