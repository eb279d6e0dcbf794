import Domain
import Gateway
import GatewayAPI
import MeterStore
import SimulatedCloud

/// Sync. Where stamps move, the judge is told from which to which.
extension TimedStore: SyncRepository {
    func progress() async throws -> SyncProgress { try await read { try await base.progress() } }

    func nextBatch(recordsMax: Int, bytesMax: Int, of only: RecordKey?) async throws -> OutboxBatch? {
        try await write("reads a batch") {
            try await base.nextBatch(recordsMax: recordsMax, bytesMax: bytesMax, of: only)
        }
    }

    func settle(_ batch: OutboxBatch, _ outcome: PushOutcome) async throws -> MergeOutcome {
        try await write("settles \(batch.records.count)") {
            life.world.judge.accepted(batch, outcome, in: 0)
            return try await base.settle(batch, outcome)
        }
    }

    func apply(_ page: ChangesPage) async throws -> MergeOutcome {
        try await write("applies \(page.records.count) of \(page.type.rawValue)") {
            var page = page
            if bug == .losesLastOfPage { page.records = page.records.dropLast() }
            return try await base.apply(page)
        }
    }

    func restamp(from physical: UInt64) async throws {
        try await write("stamps anew") { try await moving { try await base.restamp(from: physical) } }
    }

    func correct(clockOffset: Duration, at moment: HostMoment) async throws {
        try await write("corrects its clock") {
            try await moving { try await base.correct(clockOffset: clockOffset, at: moment) }
        }
    }

    /// Runs what may give new stamps to what stands here.
    private func moving(_ body: () async throws -> Void) async throws {
        let before = try await stamps()
        try await body()
        let after = try await stamps()
        let pairs = before.compactMap { place, old in after[place].map { (old: old, new: $0) } }
            .filter { $0.old != $0.new }.sorted { $0.old < $1.old }
        if !pairs.isEmpty { life.world.coverage.note(.restamped) }
        life.world.judge.restamps(pairs, by: host, isCertain: true)
    }

    private struct Place: Hashable {
        var key: RecordKey
        /// nil means the deletion.
        var property: String?
    }

    private func stamps() async throws -> [Place: Stamp] {
        var stamps: [Place: Stamp] = [:]
        for type in RecordType.known {
            for record in try await base.records(of: type) {
                stamps[Place(key: record.key)] = record.deletion?.stamp
                for (property, register) in record.properties {
                    stamps[Place(key: record.key, property: property)] = register.stamp
                }
            }
        }
        return stamps
    }

    func retryHeldBack(recordsMax: Int) async throws -> Int {
        try await write("tries again") { try await base.retryHeldBack(recordsMax: recordsMax) }
    }
    func beginRefetch(of type: RecordType) async throws {
        try await write("begins \(type.rawValue) anew") { try await base.beginRefetch(of: type) }
    }
    func adopt(_ zone: SyncZone, _ entry: ZoneEntry) async throws {
        try await write("adopts \(entry)") { try await base.adopt(zone, entry) }
    }
    func cleanUp(now: WallTime) async throws { try await write("cleans up") { try await base.cleanUp(now: now) } }
    func runEnded(isComplete: Bool, at wall: WallTime, serverTime: UInt64?) async throws {
        try await write("run ended, \(isComplete)") {
            try await base.runEnded(isComplete: isComplete, at: wall, serverTime: serverTime)
        }
    }
    func parked(limit: Int) async throws -> [ParkedEntry] { try await read { try await base.parked(limit: limit) } }
    func restoreParked(_ id: String) async throws -> ParkedRestore {
        try await write("restores \(id)") { try await base.restoreParked(id) }
    }
    func dropParked(_ id: String) async throws -> Bool {
        try await write("drops \(id)") { try await base.dropParked(id) }
    }
    func ageParked(to confirmed: WallTime) async throws -> Int {
        try await write("ages what is parked") { try await base.ageParked(to: confirmed) }
    }
}
