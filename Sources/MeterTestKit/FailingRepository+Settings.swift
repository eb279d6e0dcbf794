package import Domain
package import Gateway
package import GatewayAPI

extension FailingRepository: SettingsRepository {
    package func hostIdentity() throws -> HostID { throw error }
    package func record(_ key: RecordKey) throws -> SyncRecord? { throw error }
    package func records(of type: RecordType) throws -> [SyncRecord] { throw error }
    package func write(_ changes: [SettingChange], at moment: HostMoment) throws -> MergeOutcome { throw error }
    package func delete(_ key: RecordKey, at moment: HostMoment) throws -> MergeOutcome { throw error }
    package func history(of key: RecordKey, property: String?, limit: Int) throws -> [HistoryEntry] { throw error }
    package func rebuildProgress() throws -> RebuildProgress { throw error }
    package func rebuildStep(
        recordsMax: Int, at now: WallTime
    ) throws -> (progress: RebuildProgress, merge: MergeOutcome) { throw error }
    package func rebuildReport() throws -> RebuildReportBody { throw error }
}
