import Gateway
import GatewayAPI
import MeterModel
import MeterTestKit
import SettingsCore
import SyncCore
import Testing

/// Contracts that a broken store fulfils would be worthless.
struct SettingsContractSabotageTests {
    @Test(arguments: SabotagedSettings.Fault.allCases)
    func contract_isBroken_byAFaultyStore(_ fault: SabotagedSettings.Fault) async throws {
        var broken: [String] = []
        for clause in SettingsRepositoryContract.clauses + SyncRepositoryContract.clauses {
            do {
                try await clause.check(SabotagedSettings(fault))
            } catch {
                broken.append(clause.name)
            }
        }
        #expect(!broken.isEmpty, "nobody noticed a store that \(fault)")
    }
}

struct SabotagedSettings: SettingsRepository, SyncRepository {
    enum Fault: String, CaseIterable {
        case forgetsWhatWasWritten, ignoresCancellation, storesTheTokenWithoutThePage, storesThePageWithoutTheToken
        case settlesWhatWasWrittenMeanwhile, settlesNothing, neverParks, keepsWhatIsGone, replacesTheTokenFirst
        case adoptsWithoutTelling, neverRestamps, neverCorrects, neverCleansUp, lendsHalfABatch, losesHistory,
            neverTriesAgain, lendsMoreThanAskedFor
    }

    private let base = InMemorySettings()
    private let fault: Fault

    init(_ fault: Fault) { self.fault = fault }

    func hostIdentity() async throws -> HostID { await base.hostIdentity() }
    func record(_ key: RecordKey) async throws -> SyncRecord? { await base.record(key) }
    func records(of type: RecordType) async throws -> [SyncRecord] { await base.records(of: type) }

    func write(_ changes: [SettingChange], at moment: HostMoment) async throws -> MergeOutcome {
        if fault == .forgetsWhatWasWritten { return MergeOutcome(changed: changes.map(\.key)) }
        if fault == .ignoresCancellation { try Task.checkCancellation() }
        return try await base.write(changes, at: moment)
    }

    func delete(_ key: RecordKey, at moment: HostMoment) async throws -> MergeOutcome {
        try await base.delete(key, at: moment)
    }

    func history(of key: RecordKey, property: String?, limit: Int) async throws -> [HistoryEntry] {
        fault == .losesHistory ? [] : await base.history(of: key, property: property, limit: limit)
    }

    func rebuildProgress() async throws -> RebuildProgress { await base.rebuildProgress() }

    func rebuildStep(
        recordsMax: Int, at now: WallTime
    ) async throws -> (progress: RebuildProgress, changed: [RecordKey]) {
        try await base.rebuildStep(recordsMax: recordsMax, at: now)
    }

    func rebuildReport() async throws -> RebuildReportBody { await base.rebuildReport() }

    func progress() async throws -> SyncProgress {
        var progress = await base.progress()
        if fault == .storesThePageWithoutTheToken { progress.tokens = [:] }
        if fault == .replacesTheTokenFirst { progress.refetching = [] }
        if fault == .neverParks { progress.parked = 0 }
        return progress
    }

    func nextBatch(recordsMax: Int, bytesMax: Int, of only: RecordKey?) async throws -> OutboxBatch? {
        try await base.nextBatch(
            recordsMax: fault == .lendsHalfABatch ? 1 : recordsMax, bytesMax: bytesMax,
            of: fault == .lendsMoreThanAskedFor ? nil : only)
    }

    func settle(_ batch: OutboxBatch, _ outcome: PushOutcome) async throws -> MergeOutcome {
        switch fault {
        case .settlesNothing: return MergeOutcome()
        case .settlesWhatWasWrittenMeanwhile:
            guard let latest = try await base.nextBatch(recordsMax: .max, bytesMax: .max) else { break }
            let told = Set(batch.records.map(\.key))
            let results = latest.records.filter { told.contains($0.key) }.map { PushResult(key: $0.key) }
            _ = try await base.settle(latest, PushOutcome(results: results, serverTime: 0))
        default: break
        }
        return try await base.settle(batch, outcome)
    }

    func apply(_ page: ChangesPage) async throws -> MergeOutcome {
        if fault == .ignoresCancellation { try Task.checkCancellation() }
        var page = page
        if fault == .storesTheTokenWithoutThePage { page.records = Array(page.records.dropLast()) }
        if fault == .keepsWhatIsGone { page.records += await base.records(of: page.type) }
        return try await base.apply(page)
    }

    func retryHeldBack(recordsMax: Int) async throws -> Int {
        fault == .neverTriesAgain ? 0 : try await base.retryHeldBack(recordsMax: recordsMax)
    }

    func beginRefetch(of type: RecordType) async throws { try await base.beginRefetch(of: type) }

    func runEnded(isComplete: Bool, at wall: WallTime, serverTime: UInt64?) async throws {
        try await base.runEnded(isComplete: isComplete, at: wall, serverTime: serverTime)
    }

    func parked(limit: Int) async throws -> [ParkedEntry] { await base.parked(limit: limit) }
    func restoreParked(_ id: String) async throws -> ParkedRestore { try await base.restoreParked(id) }
    func dropParked(_ id: String) async throws -> Bool { try await base.dropParked(id) }
    func ageParked(to confirmed: WallTime) async throws -> Int { try await base.ageParked(to: confirmed) }

    func adopt(_ zone: SyncZone, _ entry: ZoneEntry) async throws {
        try await base.adopt(zone, entry)
        guard fault == .adoptsWithoutTelling, let batch = try await base.nextBatch(recordsMax: .max, bytesMax: .max)
        else { return }
        let results = batch.records.map { PushResult(key: $0.key) }
        _ = try await base.settle(batch, PushOutcome(results: results, serverTime: 0))
    }

    func restamp(from physical: UInt64) async throws {
        if fault != .neverRestamps { try await base.restamp(from: physical) }
    }

    func correct(clockOffset: Duration, at moment: HostMoment) async throws {
        if fault != .neverCorrects { try await base.correct(clockOffset: clockOffset, at: moment) }
    }

    func cleanUp(now: WallTime) async throws {
        if fault != .neverCleansUp { try await base.cleanUp(now: now) }
    }
}
