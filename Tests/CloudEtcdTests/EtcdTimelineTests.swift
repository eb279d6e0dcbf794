import Cloud
import CloudAPI
import CoreTestKit
import Domain
import Foundation
import MeterTestKit
import Synchronization
import Testing

@testable import CloudEtcd

/// An etcd that went back without anybody saying so to the cloud, and copies of the cloud that come and go.
@Suite(.enabled(if: EtcdServer.program != nil, "\(etcdIsMissing)"), .timeLimit(.minutes(10)))
struct EtcdTimelineTests {
    private let zone = "home"
    private let now = WallTime(millisecondsSince1970: 1_795_000_000_000)

    private func record(_ name: String) -> SyncRecord {
        let stamp = Stamp(milliseconds: UInt64(now.millisecondsSince1970), counter: 0, host: .numbered(1))
        return SyncRecord(
            key: RecordKey(type: .deviceSettings, name: name),
            properties: ["a": Register(value: .int(1), stamp: stamp)])
    }

    private func write(_ name: String, to engine: EtcdCloudEngine) async throws {
        _ = try await engine.modify([record(name)], in: zone, now: now)
    }

    private func page(
        of engine: EtcdCloudEngine, after token: ChangeToken? = nil, limit: Int = 100
    ) async throws -> ChangeList {
        try await engine.changes(of: .deviceSettings, in: zone, after: token, limit: limit)
    }

    private func expectLost(_ tokens: [ChangeToken], by engine: EtcdCloudEngine) async throws {
        for token in tokens {
            let failure = await #expect(throws: CloudFailure.self, "\(token)") {
                try await page(of: engine, after: token)
            }
            #expect(failure?.code == .timelineLost)
        }
    }

    private func future(of engine: EtcdCloudEngine) async throws -> [ChangeToken] {
        var tokens: [ChangeToken] = []
        for number in 0..<3 {
            try await write("lost \(number)", to: engine)
            tokens.append(try await page(of: engine).token)
            tokens.append(try await page(of: engine, limit: 1).token)
        }
        return tokens
    }

    @Test func tokensOfTheLostFuture_areLost_alsoAfterOthersWrotePastThem() async throws {
        let server = try EtcdServer.started()
        let first = try await EtcdCloudEngine.open(server.settings)
        _ = try await first.createZone(zone, terms: .standard)
        try await write("m1", to: first)
        try await write("m2", to: first)
        let good = try await page(of: first, limit: 1).token
        try server.keepCopy()
        let lost = try await future(of: first)
        await first.close()
        try server.putCopyBack()

        let back = try await EtcdCloudEngine.open(server.settings)

        try await expectLost(lost, by: back)
        for number in 0..<6 {
            try await write("new \(number)", to: back)
            try await expectLost(lost, by: back)
        }
        let rest = try await page(of: back, after: good).records.map(\.key.name)
        #expect(rest == ["m2"] + (0..<6).map { "new \($0)" })
        await back.close()
    }

    /// One that runs on over it does not notice by the revision, which others have brought further already.
    @Test func copyThatRunsOn_writesAnotherMark_onceItsConnectionBroke() async throws {
        let server = try EtcdServer.started()
        // Long enough for a member to start, short enough to wait for one that does not.
        var patient = server.settings
        (patient.answerTimeout, patient.patience) = (.seconds(60), .seconds(5))
        // The first start of etcd may take longer than that, beside all other tests.
        await (try await EtcdCloudEngine.open(server.settings)).close()
        let stays = try await EtcdCloudEngine.open(patient)
        _ = try await stays.createZone(zone, terms: .standard)
        try await write("m1", to: stays)
        try server.keepCopy()
        let lost = try await future(of: stays)
        server.kill()
        // What notices it in a program is the watch, which is always open.
        await #expect(throws: CloudFailure.self) { _ = try await stays.zones() }
        try server.putCopyBack()
        let other = try await EtcdCloudEngine.open(server.settings)
        for number in 0..<20 { try await write("other \(number)", to: other) }
        let mark = try #require(try await page(of: other).token.origin)

        try await write("own", to: stays)

        let token = try await page(of: stays).token
        #expect(token.origin?.mark == mark.mark + 1)
        #expect(token.origin?.markID != mark.markID)
        try await expectLost(lost, by: stays)
        await stays.close()
        await other.close()
    }

    /// What the readers and writers of a test share.
    private final class Book: Sendable {
        private let tokens = Mutex<[ChangeToken]>([])

        var all: [ChangeToken] { tokens.withLock { $0 } }
        func note(_ token: ChangeToken) { tokens.withLock { $0.append(token) } }
    }

    private func work(through engine: EtcdCloudEngine, as name: String, _ book: Book) async throws {
        for number in 0..<6 {
            try await write("\(name) \(number)", to: engine)
            for limit in [2, 100] { book.note(try await page(of: engine, limit: limit).token) }
            for token in book.all.suffix(8) {
                book.note(try await page(of: engine, after: token, limit: 3).token)
            }
        }
    }

    @Test func copiesThatAreRestartedInTurn_underLoad_loseNoToken() async throws {
        let server = try EtcdServer.started()
        var copies: [EtcdCloudEngine] = []
        for _ in 0..<3 { copies.append(try await EtcdCloudEngine.open(server.settings)) }
        _ = try await copies[0].createZone(zone, terms: .standard)
        let book = Book()

        for round in 0..<6 {
            let restarted = round % 3
            let busy = copies.enumerated().filter { $0.offset != restarted }
            let fresh = try await withThrowingTaskGroup(of: EtcdCloudEngine?.self) { group in
                for (number, copy) in busy {
                    group.addTask {
                        try await work(through: copy, as: "\(round) \(number)", book)
                        return nil
                    }
                }
                group.addTask { [old = copies[restarted]] in
                    await old.close()
                    let fresh = try await EtcdCloudEngine.open(server.settings)
                    try await work(through: fresh, as: "\(round) fresh", book)
                    return fresh
                }
                return try await group.reduce(nil) { $0 ?? $1 }
            }
            copies[restarted] = try #require(fresh)
        }

        // Many read to the same place. Whether a token is good does not hang on how much is read after it.
        let tokens = Set(book.all)
        for token in tokens { _ = try await page(of: copies[0], after: token, limit: 1) }
        #expect(book.all.count > 1000)
        #expect(tokens.count > 200)
        let marks = try #require(try await page(of: copies[0]).token.origin?.mark)
        #expect(marks >= 8, "one mark for each run that wrote")
        for copy in copies { await copy.close() }
    }

    @Test func zoneOfAnEarlierVersion_getsOneIdentity_fromAllCopies() async throws {
        let server = try EtcdServer.started()
        let first = try await EtcdCloudEngine.open(server.settings)
        _ = try await first.createZone(zone, terms: .standard)
        try await write("m1", to: first)
        let keys = first.keys
        let isNew = try await page(of: first).token.origin?.mark
        _ = try await first.client.commit(
            EtcdTransaction(success: [
                .delete(key: keys.identity(of: zone)), .delete(key: keys.newestMark(of: zone)),
                .delete(key: keys.mark(1, of: zone)),
            ]))
        await first.close()
        let copies = [
            try await EtcdCloudEngine.open(server.settings), try await EtcdCloudEngine.open(server.settings),
        ]

        async let one = copies[0].zone(zone)
        async let two = copies[1].zone(zone)

        let ids = [try await one?.id, try await two?.id]
        #expect(ids[0] != nil)
        #expect(ids[0] == ids[1])
        #expect(isNew == 1)
        let token = try await page(of: copies[0], after: ChangeToken(epoch: first.epoch, sequence: 0)).token
        #expect(token.origin?.mark == 0)
        try await write("m2", to: copies[1])
        #expect(try await page(of: copies[0], after: token).records == [record("m2")])
        for copy in copies { await copy.close() }
    }

    @Test func marks_goWithThePurge() async throws {
        let server = try EtcdServer.started()
        for run in 0..<4 {
            let engine = try await EtcdCloudEngine.open(server.settings)
            _ = try await engine.createZone(zone, terms: .standard)
            let stamp = Stamp(milliseconds: UInt64(now.millisecondsSince1970), counter: 0, host: .numbered(1))
            let key = RecordKey(type: .deviceSettings, name: "m\(run)")
            let tombstone = SyncRecord(key: key, deletion: Deletion(stamp: stamp))
            _ = try await engine.modify([run < 3 ? tombstone : record("m")], in: zone, now: now)
            await engine.close()
        }
        let engine = try await EtcdCloudEngine.open(server.settings)

        _ = try await engine.purgeTombstones(before: now + .seconds(1))

        let left = try await engine.client.read([EtcdRange(prefix: engine.keys.marks(of: zone))]).ranges[0].entries
        #expect(try left.map { try TimelineMark($0).number } == [3, 4])
        await engine.close()
    }

    @Test func answersHeader_tellsWhichMembersAndWhichTerm() throws {
        let text = #"""
            {"header":{"cluster_id":"17841639068965178418","member_id":"10276657743932975437","revision":"5","raft_term":"2"}}
            """#
        let answer = try EtcdTransactionAnswer.read(text.utf8)

        #expect(answer.reign == EtcdTerm(cluster: "17841639068965178418", term: 2))
        #expect(answer.storeRevision == 5)
    }
}

extension EtcdServer {
    /// Copies what the only member has on the disk, as a snapshot of its machine would. It is started anew.
    fileprivate func keepCopy() throws {
        kill()
        try FileManager.default.copyItem(atPath: "\(folder.path)/m0", toPath: "\(folder.path)/copy")
        try start()
    }

    /// Puts it back, and starts it.
    fileprivate func putCopyBack() throws {
        kill()
        try forgetEverything()
        try FileManager.default.copyItem(atPath: "\(folder.path)/copy", toPath: "\(folder.path)/m0")
        try start()
    }
}
