import Cloud
import CloudStore
import Domain
import Foundation
import MeterTestKit
import Synchronization
import Testing

/// The program is killed at any statement of any transaction: what was acknowledged before is there afterwards, and
/// what was not is there in whole or not at all.
///
/// A kill leaves the file and its log as they are at that moment, so copies of the two are what a killed program leaves.
struct InterruptedCloudTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private typealias Step = @Sendable (SQLiteCloudEngine) async throws -> Void

    /// Every kind of transaction there is.
    private static let steps: [Step] = [
        { _ = try await $0.createZone("home", terms: .standard) },
        { _ = try await $0.createZone("other", terms: .standard) },
        { try await $0.setTerms(LeaseTerms(timeToLive: .seconds(60), lockDelay: .zero, policy: .strict), of: "other") },
        { try await $0.add(Sample.credential("1")) },
        { try await $0.bind(Sample.binding(1), to: "1") },
        { try await $0.add(Sample.credential("2", bound: 2)) },
        { _ = try await $0.modify((0..<5).map { Sample.record("m\($0)") }, in: "home", now: Sample.now) },
        {
            let batch = [
                Sample.record("m1", value: 2, after: 1), Sample.tombstone("m2", after: 1), Sample.record("m9"),
            ]
            _ = try await $0.modify(batch, in: "home", now: Sample.now)
        },
        { _ = try await $0.acquire(Sample.acquire(1)) },
        { _ = try await $0.acquire(Sample.acquire(2), takesOver: true) },
        { _ = try await $0.decideLease(of: Sample.meter, in: "home") { LeaseRules.revoke($0) } },
        { try await $0.release(FencingToken(rawValue: 2), session: 2) },
        { _ = try await $0.purgeTombstones(before: Sample.now + .seconds(60)) },
        { _ = try await $0.revoke(credential: "1", at: Sample.now) },
    ]

    @Test func everyStep_isWholeOrNothing_whenKilledAtAnyStatement() async throws {
        let recorder = CopyAtEachStatement(folder)
        let engine = try folder.openCloud(options: .init(onStatement: recorder.statementBegins))
        var states = [try await CloudContents(of: engine)]
        for step in Self.steps {
            recorder.isOn.withLock { $0 = true }
            try await step(engine)
            recorder.isOn.withLock { $0 = false }
            recorder.acknowledged.withLock { $0 += 1 }
            states.append(try await CloudContents(of: engine))
        }

        let copies = try recorder.copies()
        #expect(Set(states).count == Self.steps.count + 1, "each step changes something")
        #expect(recorder.moments >= 4 * Self.steps.count, "each has a beginning, a savepoint, a statement and an end")
        for copy in copies {
            let found = try await CloudContents(at: copy.directory, folder)
            let (before, after) = (states[copy.acknowledged], states[copy.acknowledged + 1])
            #expect(found == before || found == after, "\(copy)")
        }
    }

    @Test func opening_canBeRepeated_whenKilledAtAnyStatement() async throws {
        let recorder = CopyAtEachStatement(folder)
        recorder.isOn.withLock { $0 = true }
        let engine = try folder.openCloud(options: .init(onStatement: recorder.statementBegins))
        recorder.isOn.withLock { $0 = false }
        let whole = try await CloudContents(of: engine)

        let copies = try recorder.copies()
        #expect(recorder.moments > 10)
        for copy in copies { #expect(try await CloudContents(at: copy.directory, folder) == whole, "\(copy)") }
    }

    /// Many write at once, so that they share transactions: nobody is answered before his own write is safe.
    @Test func nothingAcknowledged_isLost_whenManyShareATransaction() async throws {
        let recorder = CopyAtEachStatement(folder)
        let engine = try folder.openCloud(options: .init(onStatement: recorder.statementBegins))
        _ = try await engine.createZone("home", terms: .standard)

        recorder.isOn.withLock { $0 = true }
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<12 {
                group.addTask {
                    do {
                        _ = try await engine.modify([Sample.record("m\(writer)")], in: "home", now: Sample.now)
                        recorder.answered.withLock { _ = $0.insert("m\(writer)") }
                        _ = try await engine.acquire(Sample.acquire(UInt64(writer)), meter: "l\(writer)")
                        recorder.answered.withLock { _ = $0.insert("l\(writer)") }
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
        recorder.isOn.withLock { $0 = false }

        let copies = try recorder.copies()
        #expect(copies.contains { !$0.answered.isEmpty })
        for copy in copies {
            let found = try await CloudContents(at: copy.directory, folder)
            let names = Set(found.records.map(\.key.name) + found.leases.map(\.meter))
            #expect(names.isSuperset(of: copy.answered), "\(copy)")
        }
        let whole = try await CloudContents(of: engine)
        #expect(whole.records.count == 12)
        #expect(whole.leases.count == 12)
    }

    /// The log ends anywhere, as a kill in the middle of the commit itself leaves it.
    @Test func step_isWholeOrNothing_whenTheLogEndsAnywhere() async throws {
        let made = try folder.openCloud()
        _ = try await made.createZone("home", terms: .standard)
        _ = try await made.modify([Sample.record("m1")], in: "home", now: Sample.now)
        try made.close()
        let before = try await CloudContents(at: folder.cloud, folder)
        let engine = try folder.openCloud()
        _ = try await engine.modify((0..<20).map { Sample.record("m\($0)", after: 1) }, in: "home", now: Sample.now)
        let after = try await CloudContents(of: engine)
        let copy = try folder.copyCloud(as: "torn")
        let (main, log) = (try folder.bytes(of: copy + "/cloud.db"), try folder.bytes(of: copy + "/cloud.db-wal"))
        #expect(log.count > 4096)

        var found: Set<CloudContents> = []
        for length in Array(stride(from: 0, to: log.count, by: 1999)) + [log.count - 1, log.count] {
            try folder.write(main, to: copy + "/cloud.db")
            try folder.write(Array(log.prefix(length)), to: copy + "/cloud.db-wal")
            let contents = try await CloudContents(at: copy, folder)
            #expect(contents == before || contents == after, "log cut to \(length) of \(log.count) bytes")
            found.insert(contents)
        }
        #expect(found == [before, after])
    }
}

/// Copies a cloud before each statement runs, as if the program were killed there. What is the same as before the
/// statement that ran last is not copied again.
private final class CopyAtEachStatement: Sendable {
    struct Copy: CustomStringConvertible {
        var directory: String
        /// Steps that were acknowledged by then.
        var acknowledged: Int
        /// Names of what was acknowledged by then.
        var answered: Set<String>
        var sql: String

        var description: String { "\(directory), before \(sql)" }
    }

    private struct Made {
        var moments = 0
        var latest: Moment?
        var copies: [Result<Copy, any Error>] = []
    }

    private struct Moment: Hashable {
        var files: [Data?]
        var acknowledged: Int
        var answered: Set<String>
    }

    let isOn = Mutex(false)
    let acknowledged = Mutex(0)
    let answered = Mutex<Set<String>>([])
    private let made = Mutex(Made())
    private let folder: TemporaryFolder

    init(_ folder: TemporaryFolder) { self.folder = folder }

    @Sendable func statementBegins(_ sql: String) {
        guard isOn.withLock({ $0 }) else { return }
        let (acknowledged, answered) = (acknowledged.withLock { $0 }, answered.withLock { $0 })
        made.withLock { made in
            made.moments += 1
            let files = ["", "-wal"].map { FileManager.default.contents(atPath: folder.store + $0) }
            let moment = Moment(files: files, acknowledged: acknowledged, answered: answered)
            guard moment != made.latest else { return }
            made.latest = moment
            let name = "killed-\(made.copies.count)"
            made.copies.append(
                Result {
                    Copy(
                        directory: try folder.copyCloud(as: name), acknowledged: acknowledged, answered: answered,
                        sql: sql)
                })
        }
    }

    /// Number of statements that ran.
    var moments: Int { made.withLock { $0.moments } }

    func copies() throws -> [Copy] { try made.withLock { try $0.copies.map { try $0.get() } } }
}
