import Cloud
import CloudAPI
import CloudStore
import Domain
import Foundation
import GRDB
import MeterTestKit
import StoreTestKit
import Testing

/// Everything that can be wrong with the store: each is told apart, names the file, and deletes nothing.
struct CloudStoreErrorTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeCloud() async throws {
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)
        _ = try await engine.modify((0..<50).map { Sample.record("m\($0)") }, in: "home", now: Sample.now)
        try engine.close()
    }

    /// Opens it, and expects that to fail with `code`, a message with the path, and a file left as it was.
    private func expectRefused(_ code: CloudStoreError.Code, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let before = try folder.bytes(of: folder.store)
        let error = #expect(throws: CloudStoreError.self, sourceLocation: sourceLocation) {
            try folder.openCloud(options: .init(busyTimeout: .zero))
        }
        #expect(error?.code == code, "\(error?.message ?? "")", sourceLocation: sourceLocation)
        #expect(error?.message.contains(folder.cloud) == true, sourceLocation: sourceLocation)
        #expect(try folder.bytes(of: folder.store) == before, "the file was changed", sourceLocation: sourceLocation)
    }

    @Test func emptiedStore_isNoNewCloud() async throws {
        try await makeCloud()
        try folder.write([], to: folder.store)
        try expectRefused(.damaged)
    }

    /// Also without the mark that there was a store: there would be no log without one.
    @Test func emptiedStore_isNoNewCloud_whereItsLogIsLeft() async throws {
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)
        let killed = try folder.copyCloud(as: "killed")
        try engine.close()
        try folder.write([], to: killed + "/cloud.db")
        let log = try folder.bytes(of: killed + "/cloud.db-wal")

        let error = #expect(throws: CloudStoreError.self) { try folder.openCloud(killed) }

        #expect(error?.code == .damaged)
        #expect(!log.isEmpty)
        #expect(try folder.bytes(of: killed + "/cloud.db-wal") == log, "what is left of it stays")
    }

    @Test func deletedStore_isNoNewCloud_untilSomebodySaysSo() async throws {
        try await makeCloud()
        try FileManager.default.removeItem(atPath: folder.store)
        let error = #expect(throws: CloudStoreError.self) { try folder.openCloud() }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("Restore it from a backup") == true)
        try FileManager.default.removeItem(atPath: folder.store + ".made")
        try folder.openCloud().close()
    }

    @Test func firstOpeningThatWasInterrupted_goesOn() async throws {
        try FileManager.default.createDirectory(atPath: folder.cloud, withIntermediateDirectories: true)
        try folder.write([], to: folder.store)

        try await makeCloud()

        // From now on it is a cloud that would be missed.
        try folder.write([], to: folder.store)
        try expectRefused(.damaged)
    }

    @Test func newerVersion_isRefused() async throws {
        try await makeCloud()
        try folder.file.edit("INSERT INTO grdb_migrations VALUES ('999 of next year')")
        try expectRefused(.newerVersion)
    }

    @Test func otherProgramsDatabase_isRefused() throws {
        try FileManager.default.createDirectory(atPath: folder.cloud, withIntermediateDirectories: true)
        try folder.file.edit("CREATE TABLE bookmarks (url TEXT)")
        try expectRefused(.damaged)
    }

    @Test func otherFile_isRefused() throws {
        try folder.write(Array(String(repeating: "shopping list\n", count: 200).utf8), to: folder.store)
        try expectRefused(.damaged)
    }

    @Test func overwrittenHeader_isDamaged() async throws {
        try await makeCloud()
        var bytes = try folder.bytes(of: folder.store)
        for offset in 0..<100 { bytes[offset] = 0xA5 }
        try folder.write(bytes, to: folder.store)
        try expectRefused(.damaged)
    }

    @Test(arguments: ["DROP TABLE lease", "ALTER TABLE record DROP COLUMN tombstone_ms"])
    func missingTableOrColumn_isDamaged(sql: String) async throws {
        try await makeCloud()
        try folder.file.edit("DROP INDEX record_tombstone")
        try folder.file.edit(sql)
        let error = #expect(throws: CloudStoreError.self) { try folder.openCloud() }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("lacks") == true)
    }

    @Test(arguments: [
        ("UPDATE lease SET host = 'x'", "its holder cannot be read"),
        ("UPDATE lease SET session = 'x'", "its holder cannot be read"),
        ("UPDATE lease SET transport = 'x'", "its holder cannot be read"),
        ("UPDATE lease SET host = NULL", "its holder cannot be read"),
        ("UPDATE lease SET policy = 'x'", "policy \"x\""),
        ("UPDATE lease SET earlier_grants = 'x 1'", "grants of AA:BB:CC:DD:EE:FF"),
        ("UPDATE lease SET earlier_grants = '00000000-0000-4000-8000-000000000001'", "grants of AA:BB:CC:DD:EE:FF"),
        ("UPDATE lease SET earlier_grants = '00000000-0000-4000-8000-000000000001 x'", "grants of AA:BB:CC:DD:EE:FF"),
        (
            "UPDATE lease SET earlier_grants = earlier_grants || ' 00000000-0000-4000-8000-000000000001'",
            "grants of AA:BB:CC:DD:EE:FF"
        ),
        ("UPDATE zone SET identity = 'x'", "identity \"x\""),
        ("UPDATE zone SET policy = 'x'", "policy \"x\""),
        ("UPDATE credential SET kind = 'x'", "kind \"x\""),
        ("UPDATE credential SET role = 'x'", "role \"x\""),
        ("UPDATE credential SET host = 'x'", "host id \"x\""),
    ])
    func valueThatDoesNotRead_isDamage_andIsNamed(sql: String, words: String) async throws {
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)
        try await engine.add(Sample.credential("1", bound: 1))
        for host in UInt64(1)...2 { _ = try await engine.acquire(Sample.acquire(host), takesOver: true) }
        try engine.close()
        try folder.file.edit(sql)

        let error = #expect(throws: CloudStoreError.self) { try folder.openCloud() }

        #expect(error?.code == .damaged)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test func closedStore_refusesFurtherCalls() async throws {
        let engine = try folder.openCloud()
        try engine.close()
        await #expect(throws: CloudFailure.self) { try await engine.check() }
        #expect(!folder.exists(folder.store + "-wal"), "the file is whole without its log")
    }

    @Test func unreadableRecord_isDamaged_andTheOthersAreServed() async throws {
        try await makeCloud()
        try folder.file.edit("UPDATE record SET body = X'7B' WHERE name = 'm7'")

        let engine = try folder.openCloud()
        let failure = await #expect(throws: CloudFailure.self) {
            try await engine.changes(of: .deviceSettings, in: "home", after: nil, limit: 400)
        }

        #expect(failure?.code == .internalError)
        #expect(failure?.message.contains("m7") == true)
        #expect(try await engine.record(Sample.record("m8").key, in: "home") != nil)
    }

    @Test func damagedPage_isFoundByTheCheck() async throws {
        try await makeCloud()
        var bytes = try folder.bytes(of: folder.store)
        for offset in (bytes.count - 4096)..<bytes.count { bytes[offset] = 0xA5 }
        try folder.write(bytes, to: folder.store)

        let engine = try folder.openCloud()

        #expect(try await !engine.check().isEmpty)
    }

    @Test func directory_isUsedByOneAtATime() async throws {
        let engine = try folder.openCloud()

        let error = #expect(throws: CloudStoreError.self) { try folder.openCloud() }
        try engine.close()

        #expect(error?.code == .locked)
        #expect(error?.message.contains("process \(ProcessInfo.processInfo.processIdentifier)") == true)
        #expect(throws: Never.self) { try folder.openCloud() }
    }

    @Test func file_isLocked_whenAnotherProgramWritesToIt() async throws {
        try await makeCloud()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder.store, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        try expectRefused(.locked)
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    }

    /// A page that left it out would have hosts forget it.
    @Test(arguments: ["x''", "x'7B'", "x'7B7D'"])
    func recordThatCannotBeRead_isNotLeftOut(_ body: String) async throws {
        try await makeCloud()
        try folder.file.edit("UPDATE record SET body = \(body) WHERE name = '\(Sample.record("m7").key.name)'")
        let engine = try folder.openCloud()

        await #expect(throws: CloudFailure.self) {
            try await engine.changes(of: .deviceSettings, in: "home", after: nil, limit: 100)
        }
        let before = try await engine.changes(of: .deviceSettings, in: "home", after: nil, limit: 7)
        #expect(before.records.map(\.key.name) == (0..<7).map { Sample.record("m\($0)").key.name })
        try engine.close()
    }

    @Test func directory_isRefused_whereItsFolderIsNot() throws {
        let error = #expect(throws: CloudStoreError.self) { try folder.openCloud(folder.path + "/a/b") }
        #expect(error?.code == .system)
        #expect(error?.message.contains("/a/b") == true)
    }

    @Test func fullDisk_refusesWhatDoesNotFit_andKeepsWhatWasAcknowledged() async throws {
        let engine = try folder.openCloud(options: .init(pageCountMax: 60))
        _ = try await engine.createZone("home", terms: .standard)
        var acknowledged: Set<String> = []
        var failures: [CloudFailure] = []

        for page in 0..<40 {
            let batch = (0..<20).map { Sample.record("m\(page)-\($0)") }
            do {
                _ = try await engine.modify(batch, in: "home", now: Sample.now)
                acknowledged.formUnion(batch.map(\.key.name))
            } catch let failure as CloudFailure {
                failures.append(failure)
            }
        }

        #expect(!acknowledged.isEmpty)
        #expect(!failures.isEmpty)
        #expect(failures.allSatisfy { $0.code == .serviceUnavailable && $0.message.contains("full") })
        #expect(failures.allSatisfy { $0.retryAfter == .seconds(10) })
        try engine.close()
        let contents = try await CloudContents(at: folder.cloud, folder)
        #expect(Set(contents.records.map(\.key.name)) == acknowledged)
    }

    /// Many at once share a transaction; the disk is full in the middle of it.
    @Test func fullDisk_losesNothingAcknowledged_whenManyWriteAtOnce() async throws {
        let engine = try folder.openCloud(options: .init(pageCountMax: 60))
        _ = try await engine.createZone("home", terms: .standard)

        let acknowledged = await withTaskGroup(of: Set<String>.self) { group in
            for writer in 0..<16 {
                group.addTask {
                    var taken: Set<String> = []
                    for round in 0..<20 {
                        let record = Sample.record("m\(writer)-\(round)")
                        // Which of them do not fit any more is of no interest here.
                        guard (try? await engine.modify([record], in: "home", now: Sample.now)) != nil else { continue }
                        taken.insert(record.key.name)
                    }
                    return taken
                }
            }
            return await group.reduce(into: Set<String>()) { $0.formUnion($1) }
        }

        #expect(try await Set(engine.records(in: "home", type: nil).map(\.key.name)) == acknowledged)
        try engine.close()
        let contents = try await CloudContents(at: folder.cloud, folder)
        #expect(Set(contents.records.map(\.key.name)) == acknowledged)
    }

    @Test func failedWrite_takesNothingOfItsNeighbours() async throws {
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)
        try await engine.add(Sample.credential("1"))

        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    if number % 2 == 0 {
                        await #expect(throws: CloudFailure.self) { try await engine.add(Sample.credential("1")) }
                    } else {
                        await #expect(throws: Never.self) {
                            try await engine.modify([Sample.record("m\(number)")], in: "home", now: Sample.now)
                        }
                    }
                }
            }
        }

        #expect(try await engine.records(in: "home", type: nil).count == 20)
        #expect(try await engine.zone("home")?.sequence == 20)
    }
}
