import Cloud
import CloudAPI
import CloudStore
import CoreTestKit
import Domain
import Foundation
import GRDB
import MeterTestKit
import StoreTestKit
import Testing

/// Backup and restore (Docs/Leases.md#rule-5).
struct RestoreTests {
    private let folder: TemporaryFolder
    private let backup: String

    init() throws {
        folder = try TemporaryFolder()
        backup = folder.path + "/backup.db"
    }

    /// 600 s and the lock-delay that belongs to it.
    private let wait = Duration.seconds(675)

    /// A token of hosts that may only look.
    private static let looker = Credential(
        id: "2", hash: [2, 2], zone: "home", kind: .enrolment, role: .readOnly, label: "page",
        createdAt: Sample.now + .seconds(1))

    private func restore(
        into directory: String? = nil, at now: WallTime = Sample.now + .seconds(10)
    ) throws(CloudStoreError) -> CloudRestore {
        var rng = CountingRNG(last: 100)
        return try CloudRestore.run(from: backup, into: directory ?? folder.cloud, at: now, rng: &rng)
    }

    /// A cloud with a record and a lease, of which there is a backup, and which went on after it.
    private func makeCloud() async throws -> SQLiteCloudEngine {
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)
        try await engine.add(Sample.credential("1", bound: 1))
        try await engine.add(Self.looker)
        _ = try await engine.modify([Sample.record("m1")], in: "home", now: Sample.now)
        _ = try await engine.acquire(Sample.acquire(1))
        try await engine.backup(to: backup, at: Sample.now + .seconds(1))
        _ = try await engine.modify([Sample.record("m2")], in: "home", now: Sample.now)
        _ = try await engine.acquire(Sample.acquire(2), takesOver: true)
        return engine
    }

    /// It has the digests of tokens, whatever the umask. Damaged, it is found out.
    @Test func backup_isThisUsersAlone_andChecked() async throws {
        let engine = try await makeCloud()
        try engine.close()
        let mode = try FileManager.default.attributesOfItem(atPath: backup)[.posixPermissions]
        #expect((mode as? Int) == 0o600)
        try SQLiteCloudEngine.checkBackup(at: backup)
        var bytes = try folder.bytes(of: backup)
        for place in stride(from: 8192, to: bytes.count, by: 512) { bytes[place] ^= 0xFF }
        try folder.write(bytes, to: backup)
        #expect(throws: CloudStoreError.self) { try SQLiteCloudEngine.checkBackup(at: backup) }
    }

    @Test func restoredCloud_hasWhatTheBackupHad_andANewEpoch() async throws {
        let engine = try await makeCloud()
        let epoch = engine.epoch
        let token = try await engine.changes(of: .deviceSettings, in: "home", after: nil, limit: 9).token
        try engine.close()

        let report = try restore()

        let restored = try folder.openCloud()
        #expect(restored.epoch == report.epoch)
        #expect(restored.epoch != epoch)
        #expect((report.zones, report.records, report.leases) == (1, 1, 1))
        #expect(try await restored.records(in: "home", type: nil) == [Sample.record("m1")])
        #expect(try await restored.credentials(in: nil) == [Sample.credential("1", bound: 1), Self.looker])
        let failure = await #expect(throws: CloudFailure.self) {
            try await restored.changes(of: .deviceSettings, in: "home", after: token, limit: 9)
        }
        #expect(failure?.code == .changeTokenExpired)
        #expect(failure?.epoch == restored.epoch)
    }

    @Test func replacedStore_isKept() async throws {
        let engine = try await makeCloud()
        let whole = try await CloudContents(of: engine)
        try engine.close()

        let replaced = try #require(try restore().replaced)

        try folder.write(try folder.bytes(of: replaced), to: folder.path + "/old/cloud.db")
        #expect(try await CloudContents(at: folder.path + "/old", folder) == whole)
    }

    /// A cloud that was killed left part of it in the log.
    @Test func replacedStore_isWholeInOneFile_alsoAfterAKill() async throws {
        let engine = try await makeCloud()
        let whole = try await CloudContents(of: engine)
        let killed = try folder.copyCloud(as: "killed")
        try engine.close()
        #expect(folder.exists(killed + "/cloud.db-wal"))

        let replaced = try #require(try restore(into: killed).replaced)

        try folder.write(try folder.bytes(of: replaced), to: folder.path + "/old/cloud.db")
        #expect(try await CloudContents(at: folder.path + "/old", folder) == whole)
        #expect(try await CloudContents(at: killed, folder).records == [Sample.record("m1")])
    }

    @Test func restoresInOneSecond_keepEachReplacedStore() async throws {
        try await makeCloud().close()
        let names = try (0..<3).map { _ in try restore().replaced }
        #expect(names == (0..<3).map { "\(folder.store).replaced-\(1_795_000_010 + $0)" })
    }

    @Test func backup_isOneFileWithoutALog_andIsOnlyRead() async throws {
        try await makeCloud().close()
        let bytes = try folder.bytes(of: backup)
        // The read and write versions of the file format: 1 without a log beside it (https://www.sqlite.org/fileformat2.html).
        #expect(Array(bytes[18...19]) == [1, 1])
        _ = try restore()
        #expect(try folder.bytes(of: backup) == bytes)
        for suffix in ["-wal", "-shm", "-journal", ".unfinished"] { #expect(!folder.exists(backup + suffix)) }
    }

    /// Identities of that version's zones come from the epoch that it had, so that all copies agree.
    @Test func backupOfAnEarlierVersion_isRestored_withTheIdentitiesThatAnOpenedCopyHas() async throws {
        let dump = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Fixtures/metercloud-b2dd1a7.sql")
        try StoreFile(backup).create(from: dump)
        try folder.write(try folder.bytes(of: backup), to: folder.store)
        let opened = try folder.openCloud()
        let (zones, epoch) = (try await opened.zones(), opened.epoch)
        try opened.close()

        _ = try restore(into: folder.path + "/new")

        let restored = try folder.openCloud(folder.path + "/new")
        #expect(try await restored.zones().map(\.id) == zones.map(\.id))
        #expect(restored.epoch != epoch)
        #expect(try await restored.contents().isRestoring)
        try restored.close()
    }

    @Test func backupOfTheYear1970_hasTheFirstTokenThereIs() async throws {
        let engine = try folder.openCloud()
        try await engine.backup(to: backup, at: WallTime(millisecondsSince1970: 0))
        try engine.close()
        #expect(try restore(at: WallTime(millisecondsSince1970: 0)).tokenFloor == 1)
    }

    @Test func damageOfAnyPage_isFound_beforeAnythingIsReplaced() async throws {
        try await makeCloud().close()
        let good = try folder.bytes(of: backup)
        for page in 0..<good.count / 4096 {
            var bytes = good
            bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Array(repeating: 0xA5, count: 4096))
            try folder.write(bytes, to: backup)
            let error = #expect(throws: CloudStoreError.self, "page \(page)") { try restore() }
            #expect(error?.code == .damaged, "\(page): \(error?.message ?? "")")
            // A page of the schema, as the first is, keeps SQLite from looking at the others.
            let isNamed = ["is damaged (", "is malformed"].contains { error?.message.contains($0) ?? false }
            #expect(page == 0 || isNamed, "\(page): \(error?.message ?? "")")
        }
        #expect(try await CloudContents(at: folder.cloud, folder).records.count == 2, "nothing was replaced")
    }

    @Test func restore_worksIntoANewDirectory() async throws {
        let engine = try await makeCloud()
        try engine.close()

        let report = try restore(into: folder.path + "/new")

        #expect(report.replaced == nil)
        let contents = try await CloudContents(at: folder.path + "/new", folder)
        #expect(contents.records == [Sample.record("m1")])
    }

    @Test func tokens_beginAboveAnyThatWasGivenOut() async throws {
        let engine = try await makeCloud()
        try engine.close()
        _ = try restore()

        let restored = try folder.openCloud()
        let limits = try await restored.leaseLimits(at: .origin)
        let later = MonotonicTime.origin + wait
        let token = try await restored.acquire(Sample.acquire(3), meter: "other", at: later).token

        #expect(limits.tokenFloor.rawValue == 1_795_000_010 << 20)
        #expect(limits.tokenFloor < .max)
        #expect(token == limits.tokenFloor)
    }

    @Test func tokens_riseWithEachRestore_evenInOneSecond() async throws {
        let engine = try await makeCloud()
        try engine.close()
        let first = try restore()
        let once = try folder.openCloud()
        let token = try await once.acquire(Sample.acquire(3), meter: "other", at: .origin + wait).token
        try await once.backup(to: backup + "2", at: Sample.now + .seconds(10))
        try once.close()

        var rng = CountingRNG(last: 500)
        let second = try CloudRestore.run(
            from: backup + "2", into: folder.cloud, at: Sample.now + .seconds(10), rng: &rng)

        #expect(second.tokenFloor > first.tokenFloor)
        #expect(FencingToken(rawValue: second.tokenFloor) > token ?? .max)
    }

    @Test func nothingGoesToAnybodyNew_untilOldHoldersHaveSurelyStopped() async throws {
        let engine = try await makeCloud()
        try engine.close()
        _ = try restore()
        let start = MonotonicTime.origin + .seconds(70)

        let restored = try folder.openCloud(now: start)
        let early = try await restored.acquire(Sample.acquire(3), meter: "other", at: start + wait - .milliseconds(1))
        let renewal = try await restored.renewLeases(
            [(Sample.meter, FencingToken(rawValue: 1))], session: .numbered(1), in: "home", under: .keep, at: start)
        let late = try await restored.acquire(Sample.acquire(3), meter: "other", at: start + wait)

        #expect(early.reason == .restoring)
        #expect(late.token != nil)
        guard case .renewed = renewal.first else {
            Issue.record("who holds a lease in the backup may renew it: \(renewal)")
            return
        }
    }

    @Test func wait_beginsAnew_withAStartDuringIt_andIsOverForGood_afterIt() async throws {
        let engine = try await makeCloud()
        try engine.close()
        _ = try restore()

        let first = try folder.openCloud()
        _ = try await first.leaseLimits(at: .origin + .seconds(600))
        try first.close()
        let second = try folder.openCloud(now: .origin + .seconds(600))
        let waiting = try await second.leaseLimits(at: .origin + .seconds(700))
        let done = try await second.leaseLimits(at: .origin + .seconds(600) + wait)
        try second.close()
        let third = try folder.openCloud()

        #expect(waiting.grantsNothingNewBefore == .origin + .seconds(600) + wait)
        #expect(done.grantsNothingNewBefore == nil)
        #expect(try await third.leaseLimits(at: .origin).grantsNothingNewBefore == nil)
        #expect(try await third.leaseLimits(at: .origin).tokenFloor == done.tokenFloor)
    }

    @Test func restore_isRefused_whenTheClockIsOlderThanTheBackup() async throws {
        let engine = try await makeCloud()
        try engine.close()

        let error = #expect(throws: CloudStoreError.self) { try restore(at: Sample.now) }

        #expect(error?.code == .clockBehind)
        #expect(try await CloudContents(at: folder.cloud, folder).records.count == 2, "nothing was replaced")
        #expect(throws: Never.self) { try restore(at: Sample.now + .seconds(1)) }
    }

    @Test func restore_doesNotCareForDatesInsideTheBackup() async throws {
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)
        var credential = Sample.credential("1")
        credential.createdAt = Sample.now + .seconds(73 * 365 * 86_400)
        credential.revokedAt = credential.createdAt
        try await engine.add(credential)
        try await engine.backup(to: backup, at: Sample.now)
        try engine.close()

        #expect(throws: Never.self) { try restore(at: Sample.now) }

        #expect(try await CloudContents(at: folder.cloud, folder).credentials == [credential])
    }

    @Test func clockThatIsBehind_canBeIgnored_andTokensBeginAtTheBackupsDate() async throws {
        let engine = try await makeCloud()
        try engine.close()
        var rng = CountingRNG(last: 100)

        let report = try CloudRestore.run(
            from: backup, into: folder.cloud, at: WallTime(millisecondsSince1970: 0), ignoresClock: true, rng: &rng)

        #expect(report.tokenFloor == UInt64(Sample.now.millisecondsSince1970 / 1000 + 1) << 20)
    }

    @Test func restoredZone_keepsItsIdentityAndMarks() async throws {
        let engine = try await makeCloud()
        let before = try await engine.contents().zones
        try engine.close()
        _ = try restore()

        let restored = try folder.openCloud()

        let after = try await restored.contents().zones
        #expect(after.map(\.zone.id) == before.map(\.zone.id))
        #expect(after.map(\.marks) == before.map(\.marks))
        #expect(after.first?.marks.count == 1)
        try restored.close()
    }

    @Test func restore_isRefused_whileACloudRuns() async throws {
        let engine = try await makeCloud()

        let error = #expect(throws: CloudStoreError.self) { try restore() }

        #expect(error?.code == .locked)
        #expect(try await engine.zones().count == 1)
    }

    @Test func backup_isRefused_whereSomethingIs() async throws {
        let engine = try await makeCloud()

        let error = await #expect(throws: CloudStoreError.self) {
            try await engine.backup(to: backup, at: Sample.now)
        }

        #expect(error?.message.contains(backup) == true)
    }

    /// Writers go on meanwhile: the backup is one moment of theirs.
    @Test func backup_isOneMoment_whileWritersRun() async throws {
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for round in 0..<40 {
                        let batch = ["a", "b"].map { Sample.record("\(writer)-\(round)-\($0)") }
                        _ = try await engine.modify(batch, in: "home", now: Sample.now)
                    }
                }
            }
            for number in 0..<5 {
                group.addTask { try await engine.backup(to: "\(backup)-\(number)", at: Sample.now) }
            }
            try await group.waitForAll()
        }

        for number in 0..<5 {
            var rng = CountingRNG()
            let directory = "\(folder.path)/restored-\(number)"
            _ = try CloudRestore.run(from: "\(backup)-\(number)", into: directory, at: Sample.now, rng: &rng)
            let contents = try await CloudContents(at: directory, folder)
            let pairs = Dictionary(grouping: contents.records) { $0.key.name.dropLast(2) }
            #expect(pairs.values.allSatisfy { $0.count == 2 }, "a request is in it in whole or not at all")
            #expect(contents.zones.first?.sequence == UInt64(contents.records.count))
        }
    }

    @Test func restore_canBeRepeated_whenItWasInterrupted() async throws {
        let engine = try await makeCloud()
        try engine.close()
        _ = try restore(into: folder.path + "/new")
        // As between moving the old store away and giving the new one its name, with the old log still there.
        try folder.write(try folder.bytes(of: folder.path + "/new/cloud.db"), to: folder.store + ".restoring")
        try folder.write(try folder.bytes(of: folder.store), to: folder.store + "-wal")
        try folder.remove(folder.store)

        let error = #expect(throws: CloudStoreError.self) { try folder.openCloud() }
        #expect(error?.message.contains("restore") == true)
        _ = try restore()

        #expect(try await CloudContents(at: folder.cloud, folder).records == [Sample.record("m1")])
    }

    @Test func restore_isRefused_whenTheBackupIsNone() async throws {
        let engine = try await makeCloud()
        let whole = try await CloudContents(of: engine)
        try engine.close()
        let good = try folder.bytes(of: backup)

        var damaged = good
        for offset in stride(from: 4096, to: damaged.count, by: 7) { damaged[offset] = 0xA5 }
        for bytes in [damaged, Array(good.prefix(5000)), Array("shopping list".utf8), []] {
            try folder.write(bytes, to: backup)
            let error = #expect(throws: CloudStoreError.self) { try restore() }
            #expect(error?.code == .damaged, "\(error?.message ?? "")")
        }
        try folder.remove(backup)
        let error = #expect(throws: CloudStoreError.self) { try restore() }
        #expect(error?.message == "there is no backup \(backup)")

        #expect(try await CloudContents(at: folder.cloud, folder) == whole, "nothing was replaced")
    }
}
