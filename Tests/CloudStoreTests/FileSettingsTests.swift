import Cloud
import Domain
import Foundation
import GRDB
import MeterTestKit
import Synchronization
import Testing

@testable import CloudStore

/// How the file is set up, and what is never written to it.
struct FileSettingsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func file_waitsForTheDisk_givesRoomBack_andIsKnownAsOurs() async throws {
        let engine = try folder.openCloud(options: .init(pageCountMax: 5000))
        let settings: [(name: String, value: Int)] = [
            ("application_id", 0x4D47_4331), ("auto_vacuum", 2), ("synchronous", 2), ("journal_size_limit", 1 << 24),
            ("max_page_count", 5000), ("cache_size", -2048), ("secure_delete", 0), ("busy_timeout", 2000),
        ]
        for (name, value) in settings {
            let found = try await engine.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA \(name)") }
            #expect(found == value, "\(name)")
        }
        let readers = try await engine.pool.read { try Int.fetchOne($0, sql: "PRAGMA cache_size") }
        #expect(readers == -2048)
        #expect(engine.pool.configuration.maximumReaderCount == 4)
    }

    /// What is in it is secret enough: the tokens' digests.
    @Test func directory_isItsOwnersAlone() throws {
        try folder.openCloud().close()
        let files = FileManager.default
        let modes = try [folder.cloud, folder.cloud + "/cloud.lock"].map {
            try files.attributesOfItem(atPath: $0)[.posixPermissions] as? Int
        }
        #expect(modes == [0o700, 0o600])
    }

    /// Both come with each connection of a host: neither is worth waiting for the disk.
    @Test func renewalInADecision_andTheSameBindingAgain_writeNothing() async throws {
        let written = Mutex<[String]>([])
        let engine = try folder.openCloud(
            options: .init(onStatement: { sql in
                if sql.contains("INSERT") || sql.contains("UPDATE") { written.withLock { $0.append(sql) } }
            }))
        _ = try await engine.createZone("home", terms: .standard)
        try await engine.add(Sample.credential("1"))
        try await engine.bind(Sample.binding(1), to: "1")
        _ = try await engine.acquire(Sample.acquire(1))
        written.withLock { $0 = [] }

        try await engine.bind(Sample.binding(1), to: "1")
        try await engine.decideLease(of: Sample.meter, in: "home") { standing in
            var record = standing.record
            record?.renewedAt = .origin + .seconds(7)
            return LeaseDecision(record: record, answer: ())
        }

        #expect(written.withLock { $0 } == [])
        #expect(try await engine.lease(of: Sample.meter, in: "home")?.renewedAt == .origin + .seconds(7))
    }

    @Test func terms_areKept_overAStart() async throws {
        let engine = try folder.openCloud()
        _ = try await engine.createZone("home", terms: .standard)
        let strict = LeaseTerms(timeToLive: .seconds(61), lockDelay: .seconds(21), policy: .strict)
        try await engine.setTerms(strict, of: "home")
        _ = try await engine.setBelievedDate(Sample.now, replacing: nil)
        try engine.close()

        let again = try folder.openCloud()

        #expect(try await again.zone("home")?.terms == strict)
        #expect(try await again.believedDate == Sample.now)
        try again.close()
    }
}
