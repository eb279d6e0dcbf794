import Cloud
import CloudAPI
import CoreTestKit
import Domain
import StoreTestKit
import Testing

@testable import MeterTestKit

struct AliasWalkTests {
    @Test(arguments: UInt64(1)...8)
    func hostsAndAliases_inAnyOrder(seed: UInt64) async throws {
        let engine = try TemporaryCloudEngine()
        _ = try await engine.createZone(CloudEngineContract.zone, terms: .standard)
        var walk = AliasWalk(engine, seed: seed)
        for _ in 0..<1000 { try await walk.step() }
        // Otherwise nothing was tried.
        #expect(walk.grantCount > 10)
        #expect(walk.aliasCount > 10)
        #expect(walk.refusalCount > 0)
    }
}

/// Hosts that lease a few ids at random, while a person makes them one meter and parts them; and what must always hold.
private struct AliasWalk {
    private static let ids = (1...4).map { "AA:BB:CC:DD:EE:0\($0)" }

    private let engine: any CloudEngine
    private var rng: SeededRNG
    private let now = CloudEngineContract.start
    private var writes: Int64 = 0
    private var requests: UInt64 = 1000
    /// What the records say.
    private var said: [String: String] = [:]
    /// The greatest token that was given out under an id, or under one that it was the same meter with.
    private var greatest: [String: FencingToken] = [:]
    /// What hosts believe to hold: the id under which they asked, and the token. Some of it is long over.
    private var grants: [(host: UInt64, id: String, token: FencingToken)] = []
    private(set) var aliasCount = 0
    private(set) var refusalCount = 0
    var grantCount: Int { grants.count }

    init(_ engine: any CloudEngine, seed: UInt64) {
        self.engine = engine
        rng = SeededRNG(seed: seed)
    }

    private func meaning(_ id: String) -> String { AliasMap.flattened(said)[id] ?? id }

    private mutating func anyID() -> String { Self.ids[Int.random(in: 0..<Self.ids.count, using: &rng)] }

    mutating func step() async throws {
        switch Int.random(in: 0..<8, using: &rng) {
        case 0, 1, 2: try await acquire()
        case 3: try await renew()
        case 4, 5: try await release()
        default:
            try await alias()
            try await checkMeanings()
        }
        try await checkLeases()
    }

    private mutating func acquire() async throws {
        let (host, id) = (UInt64.random(in: 1...3, using: &rng), anyID())
        requests += 1
        let before = try await engine.standing(of: id, in: CloudEngineContract.zone)
        let takeover = Bool.random(using: &rng) ? before.record?.token : nil
        let answer = try await CloudEngineContract.decide(
            engine, CloudEngineContract.acquire(host, request: requests, takeover: takeover), meter: id, at: now)
        guard case .granted(let record) = answer else { return }
        let meter = meaning(id)
        let isNew = before.record?.token != record.token
        try ContractViolation.require(
            !isNew || record.token > greatest[meter] ?? FencingToken(rawValue: 0),
            "\(record.token) of \(id) was given out before: \(greatest)")
        for other in Self.ids where meaning(other) == meter {
            greatest[other] = max(greatest[other] ?? record.token, record.token)
        }
        grants.append((host, id, record.token))
    }

    /// Whatever a host once held, under the id that it knew.
    private mutating func renew() async throws {
        guard let grant = grants.randomElement(using: &rng) else { return }
        let holder = try await engine.lease(of: grant.id, in: CloudEngineContract.zone)
        let renewals = try await engine.renewLeases(
            [(grant.id, grant.token)], session: CloudEngineContract.acquire(grant.host).session,
            in: CloudEngineContract.zone, under: .keep, at: now)
        guard case .renewed? = renewals.first else { return }
        try ContractViolation.requireEqual(
            holder?.holder?.host, CloudEngineContract.acquire(grant.host).host, "who renewed \(grant.id)")
        try ContractViolation.requireEqual(holder?.token, grant.token, "the token of \(grant.id)")
    }

    private mutating func release() async throws {
        // Mostly one that is in force, or nobody could make two meters one.
        let some = Int.random(in: 0..<8, using: &rng) == 0 ? grants[...] : grants.suffix(4)
        guard let grant = some.randomElement(using: &rng) else { return }
        let before = try await engine.lease(of: grant.id, in: CloudEngineContract.zone)
        let change = try await CloudEngineContract.release(engine, grant.token, session: grant.host, meter: grant.id)
        guard case .changed = change else { return }
        try ContractViolation.requireEqual(
            before?.holder?.host, CloudEngineContract.acquire(grant.host).host, "who released \(grant.id)")
    }

    private mutating func alias() async throws {
        let (id, meter) = (anyID(), anyID())
        let target = Bool.random(using: &rng) || id == meter ? nil : meter
        let before = Dictionary(uniqueKeysWithValues: Self.ids.map { ($0, meaning($0)) })
        let held = Set(try await engine.heldLeases(in: CloudEngineContract.zone).map(\.meter))
        writes += 1
        let value: SettingValue = target.map { .string($0) } ?? .null
        let record = SyncRecord(
            key: RecordKey(type: .meterAlias, name: id),
            properties: ["meter": Register(value: value, stamp: CloudEngineContract.stamp(writes))])
        let fate = try await engine.modify(
            [record], in: CloudEngineContract.zone, now: CloudEngineContract.now, leaseTime: now
        ).first?.fate
        var after = said
        after[id] = target
        let meanings = AliasMap.flattened(after)
        let moved = Self.ids.filter { before[$0] != meanings[$0] ?? $0 }
        let left = Set(moved.compactMap { before[$0] })
        let isRefused = if case .leaseHeld = fate { true } else { false }
        try ContractViolation.requireEqual(
            isRefused, !left.isDisjoint(with: held), "\(id) as \(target ?? "itself") with \(held)")
        guard !isRefused else {
            refusalCount += 1
            return
        }
        aliasCount += target == nil ? 0 : 1
        said = after
        let touched = left.union(moved).union(moved.map { meaning($0) })
        let floor = touched.compactMap { greatest[$0] }.max()
        for other in Self.ids where touched.contains(other) || touched.contains(meaning(other)) {
            greatest[other] = [greatest[other], floor].compactMap { $0 }.max()
        }
    }

    /// Each meter is leased under the one id that all its ids mean.
    private func checkLeases() async throws {
        for (meter, record) in try await engine.heldLeases(in: CloudEngineContract.zone) {
            try ContractViolation.requireEqual(meaning(meter), meter, "the id that \(record.token) is leased under")
        }
    }

    private func checkMeanings() async throws {
        for id in Self.ids {
            try ContractViolation.requireEqual(
                await engine.standing(of: id, in: CloudEngineContract.zone).meter, meaning(id), "the meter of \(id)")
        }
    }
}
