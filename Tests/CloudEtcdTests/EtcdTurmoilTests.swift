import Cloud
import CloudAPI
import CoreTestKit
import Domain
import MeterTestKit
import Synchronization
import Testing

@testable import CloudEtcd

/// Members die and are held in turn, while two copies work.
@Suite(.enabled(if: EtcdServer.program != nil, "\(etcdIsMissing)"), .timeLimit(.minutes(20)))
struct EtcdTurmoilTests {
    private let zone = "home"
    private let now = WallTime(millisecondsSince1970: 1_795_000_000_000)

    /// What was acknowledged.
    private final class Book: Sendable {
        struct Page {
            var records: [String] = []
            var tokens: [FencingToken] = []
            /// A lease that nobody else wants, and what became of it.
            var renewals = 0
            var lost: [String] = []
            var failures = 0
        }

        private let page = Mutex(Page())
        private let (steps, stepper) = AsyncStream.makeStream(of: Void.self)

        var content: Page { page.withLock { $0 } }

        func write(_ change: (inout Page) -> Void) {
            page.withLock { change(&$0) }
            stepper.yield()
        }

        /// Returns once so much more was written.
        func progress(_ count: Int) async {
            var left = count
            for await _ in steps {
                left -= 1
                if left == 0 { return }
            }
        }
    }

    @Test func nothingAcknowledgedIsLost_andNoTokenIsUsedTwice() async throws {
        let server = try EtcdServer(members: 3)
        try server.start()
        var settings = server.settings
        settings.answerTimeout = .seconds(1)
        let copies = [try await EtcdCloudEngine.open(settings), try await EtcdCloudEngine.open(settings)]
        _ = try await copies[0].createZone(zone, terms: .standard)
        let own = try #require(try await acquire(copies[0], "own", by: 99))
        let book = Book()

        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, copy) in copies.enumerated() {
                group.addTask { await writeRecords(through: copy, as: number, to: book) }
                for host in 0..<3 {
                    group.addTask { await takeOver(through: copy, by: UInt64(10 * number + host + 1), to: book) }
                }
                group.addTask { await renew(own, through: copy, to: book) }
            }
            for round in 0..<6 {
                await book.progress(60)
                let member = round % 3
                if round % 2 == 0 { server.kill(member) } else { server.pause(member) }
                await book.progress(60)
                if round % 2 == 0 { try server.start(member) } else { server.goOn(member) }
            }
            group.cancelAll()
        }

        let page = book.content
        let there = Set(try await copies[0].records(in: zone, type: nil).map(\.key.name))
        #expect(page.records.allSatisfy(there.contains), "of \(page.records.count)")
        #expect(Set(page.tokens).count == page.tokens.count, "of \(page.tokens.count)")
        #expect(page.lost.isEmpty, "\(page.lost) of \(page.renewals) renewals")
        for kind in [page.records.count, page.tokens.count, page.renewals] { #expect(kind > 20, "\(page)") }
        for copy in copies {
            let feed = try await readAll(copy)
            #expect(Set(feed) == there)
            #expect(feed.count == there.count)
            await copy.close()
        }
    }

    private func readAll(_ copy: EtcdCloudEngine) async throws -> [String] {
        var names: [String] = []
        var token: ChangeToken?
        while true {
            let page = try await copy.changes(of: .deviceSettings, in: zone, after: token, limit: 50)
            names += page.records.map(\.key.name)
            token = page.token
            if !page.moreComing { return names }
        }
    }

    private func writeRecords(through copy: EtcdCloudEngine, as writer: Int, to book: Book) async {
        var round: UInt64 = 0
        while !Task.isCancelled {
            round += 1
            let stamp = Stamp(milliseconds: UInt64(now.millisecondsSince1970), counter: 0, host: .numbered(1))
            let batch = ["w\(writer)-\(round)", "v\(writer)-\(round)"].map {
                SyncRecord(
                    key: RecordKey(type: .deviceSettings, name: $0),
                    properties: ["a": Register(value: .int(1), stamp: stamp)])
            }
            do {
                _ = try await copy.modify(batch, in: zone, now: now)
                book.write { $0.records += batch.map(\.key.name) }
            } catch {
                book.write { $0.failures += 1 }
            }
        }
    }

    private func takeOver(through copy: EtcdCloudEngine, by host: UInt64, to book: Book) async {
        while !Task.isCancelled {
            do {
                guard let token = try await acquire(copy, "shared", by: host) else { continue }
                book.write { $0.tokens.append(token) }
            } catch {
                book.write { $0.failures += 1 }
            }
        }
    }

    /// As a person who insists; each time another request.
    private func acquire(_ copy: EtcdCloudEngine, _ meter: String, by host: UInt64) async throws -> FencingToken? {
        var rng = SystemRandomNumberGenerator()
        let request = LeaseAcquire(
            requestID: RequestID(using: &rng), host: .numbered(host), hostName: "host \(host)",
            // Of one session it would be given the token that it has.
            session: meter == "own" ? .numbered(host) : SessionID(using: &rng), previousSession: nil,
            timeToLive: .seconds(120), transport: .ble, policy: .keep)
        let answer = try await copy.decideLease(of: meter, in: zone) {
            var request = request
            request.takeover = $0.record?.token
            return LeaseRules.acquire(
                request, of: $0, in: LeaseCircumstances(now: .origin, wallNow: now, terms: .standard))
        }
        if case .granted(let record) = answer { return record.token }
        return nil
    }

    private func renew(_ token: FencingToken, through copy: EtcdCloudEngine, to book: Book) async {
        while !Task.isCancelled {
            do {
                let renewals = try await copy.renewLeases(
                    [("own", token)], session: .numbered(99), in: zone, under: .keep, at: .origin)
                guard case .lost(let loss, _)? = renewals.first else {
                    book.write { $0.renewals += 1 }
                    continue
                }
                book.write { $0.lost.append(loss.rawValue) }
            } catch {
                book.write { $0.failures += 1 }
            }
        }
    }
}
