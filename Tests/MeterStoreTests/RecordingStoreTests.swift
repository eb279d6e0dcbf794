import Domain
import Gateway
import MeterStore
import MeterTestKit
import Synchronization
import Testing

/// Recordings in progress, over restarts.
struct RecordingStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: RecordingRepositoryContract.clauses)
    func store_keepsTheRecordingContract(_ clause: RecordingRepositoryContract.Clause) async throws {
        try await clause.check(try MeterStore.open(path: folder.store))
    }

    @Test(arguments: MarkRepositoryContract.clauses)
    func store_keepsTheMarkContract(_ clause: MarkRepositoryContract.Clause) async throws {
        try await clause.check(try MeterStore.open(path: folder.store))
    }

    private func recording(_ number: Int64, readings: Int) -> Recording {
        let start = WallTime(millisecondsSince1970: 1_795_000_000_000 + number)
        var recording = Recording(
            id: RecordingID(host: HostID(high: 1, low: 2), meter: .one, token: 0, started: start), trigger: .hand)
        for number in 0..<readings {
            var reading = Reading()
            reading[.current] = Double(number)
            recording.totals.add(reading, step: number == 0 ? nil : .seconds(1), rules: RecordingRules())
        }
        return recording
    }

    @Test func recordings_areThere_whenOpenedAgain() async throws {
        let first = try MeterStore.open(path: folder.store)
        try await first.keep([recording(1, readings: 5), recording(2, readings: 0)])
        try first.close()

        let second = try MeterStore.open(path: folder.store)

        #expect(
            try await second.runningRecordings().map(\.properties)
                == [recording(1, readings: 5).properties, recording(2, readings: 0).properties])
    }

    /// All of them as they were, or all of them as they are now.
    @Test func keep_isWholeOrNothing_whenKilledAtAnyStatement() async throws {
        let (before, after) = ((1...2).map { recording($0, readings: 3) }, (1...2).map { recording($0, readings: 9) })
        let made = try MeterStore.open(path: folder.store)
        try await made.keep(before)
        try made.close()
        let recorder = CopyAtEachStatement(folder)
        let store = try MeterStore.open(path: folder.store, options: .init(onStatement: recorder.statementBegins))

        recorder.isOn.withLock { $0 = true }
        try await store.keep(after)
        recorder.isOn.withLock { $0 = false }

        let copies = try recorder.copies()
        #expect(recorder.moments > 20)
        for copy in copies {
            let again = try MeterStore.open(path: copy)
            let found = try await again.runningRecordings().map(\.properties)
            #expect(found == before.map(\.properties) || found == after.map(\.properties), "\(copy)")
            #expect(try await again.quickCheck() == [])
            try again.close()
        }
        #expect(try await store.runningRecordings().map(\.properties) == after.map(\.properties))
    }
}
