import Domain
import Gateway
import GatewayAPI
import MeterStore
import SimulatedCloud

/// Settings. What is acknowledged to a user is told to the judge.
extension TimedStore: SettingsRepository {
    func write(_ changes: [SettingChange], at moment: HostMoment) async throws -> MergeOutcome {
        try await write("writes \(changes.map { "\($0.property)=\($0.value)" })") {
            for change in changes { life.world.judge.overwrites(change.key, change.property, by: host) }
            let outcome = try await base.write(changes, at: moment)
            for change in changes {
                let register = try await base.record(change.key)?.properties[change.property]
                guard let register, register.value == change.value else { continue }
                life.world.judge.acknowledges(
                    change.value, of: change.key, change.property, stamp: register.stamp, by: host, in: 0)
            }
            return outcome
        }
    }

    func delete(_ key: RecordKey, at moment: HostMoment) async throws -> MergeOutcome {
        try await write("deletes \(key.name)") {
            life.world.judge.overwrites(key, nil, by: host)
            let outcome = try await base.delete(key, at: moment)
            if let stamp = try await base.record(key)?.deletion?.stamp, !outcome.changed.isEmpty {
                life.world.judge.acknowledges(nil, of: key, nil, stamp: stamp, by: host, in: 0)
            }
            return outcome
        }
    }

    func hostIdentity() async throws -> HostID { try await read { try await base.hostIdentity() } }
    func record(_ key: RecordKey) async throws -> SyncRecord? { try await read { try await base.record(key) } }
    func records(of type: RecordType) async throws -> [SyncRecord] {
        try await read { try await base.records(of: type) }
    }
    func history(of key: RecordKey, property: String?, limit: Int) async throws -> [HistoryEntry] {
        try await read { try await base.history(of: key, property: property, limit: limit) }
    }
    func rebuildProgress() async throws -> RebuildProgress { try await read { try await base.rebuildProgress() } }
    func rebuildStep(
        recordsMax: Int, at now: WallTime
    ) async throws -> (progress: RebuildProgress, merge: MergeOutcome) {
        try await write("rebuilds") { try await base.rebuildStep(recordsMax: recordsMax, at: now) }
    }
    func rebuildReport() async throws -> RebuildReportBody { try await read { try await base.rebuildReport() } }
}
