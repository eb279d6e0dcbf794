import Cloud
import CloudAPI
import CoreTestKit
import Domain
import Foundation
import GRDB
import MeterTestKit
import Testing

@testable import CloudStore

/// How commands share transactions, and what one of them leaves of itself where it fails.
struct GroupCommitTests {
    private let folder: TemporaryFolder
    private let engine: SQLiteCloudEngine

    init() throws {
        folder = try TemporaryFolder()
        engine = try folder.openCloud()
    }

    private typealias Write = @Sendable (WriteBatch) throws -> Void

    /// Makes the commands wait for one another in the queue, and then lets them go.
    ///
    /// - Returns: for each whether it was carried out.
    private func atOnce(_ commands: [(weight: Int?, body: Write)]) async -> [Bool] {
        let gate = DispatchSemaphore(value: 0)
        let first = Task.immediate { [writer = engine.writer] in try await writer.write { _ in gate.wait() } }
        let others = commands.map { weight, body in
            Task.immediate { [writer = engine.writer] in
                if let weight { try await writer.write(weight: weight, body) } else { try await writer.write(body) }
            }
        }
        gate.signal()
        _ = await first.result
        var isDone: [Bool] = []
        for other in others { isDone.append((try? await other.value) != nil) }
        return isDone
    }

    /// A queue of commands behind the gate, which is the first and of weight 1.
    struct Queue: CustomStringConvertible, Sendable {
        /// Nil for the usual weight.
        var weights: [Int?]
        var commits: UInt64

        init(_ weights: [Int?], commits: UInt64) {
            self.weights = weights
            self.commits = commits
        }

        init(count: Int, commits: UInt64) { self.init(Array(repeating: nil, count: count), commits: commits) }

        var description: String { weights.count > 9 ? "\(weights.count) commands" : "\(weights)" }
    }

    private static let queues: [Queue] = [
        Queue(count: 399, commits: 1), Queue(count: 400, commits: 2), Queue(count: 799, commits: 2),
        Queue(count: 1999, commits: 5), Queue([1998, nil], commits: 1), Queue([1999, nil], commits: 2),
        Queue([1997, nil, nil], commits: 1), Queue([1997, nil, nil, nil], commits: 2),
        Queue([5000, 5000, nil], commits: 3),
    ]

    @Test(arguments: queues)
    func transaction_isSharedByFourHundredCommands_orTwoThousandRows(queue: Queue) async {
        #expect(engine.writer.counts == (0, 0))

        let isDone = await atOnce(queue.weights.map { ($0, { _ in }) })

        #expect(isDone.allSatisfy { $0 })
        #expect(engine.writer.counts == (queue.commits, UInt64(queue.weights.count) + 1))
    }

    @Test func turn_waitsForTheWriter() async throws {
        let gate = DispatchSemaphore(value: 0)
        let end = Task.immediate { [writer = engine.writer] in
            try await writer.write { _ in
                gate.wait()
                return ContinuousClock.now
            }
        }
        let turn = Task.immediate { [engine] in
            try await engine.turn()
            return ContinuousClock.now
        }
        gate.signal()

        #expect(try await end.value <= turn.value)
        #expect(engine.writer.counts.commands == 2)
    }

    @Test func failedCommand_leavesNothingOfItself_inMemoryToo() async throws {
        _ = try await engine.createZone("home", terms: .standard)
        let stored = try #require(engine.zoneTable.find("home"))
        let key = LeaseKey(zone: stored.id, meter: Sample.meter)
        let alias = SyncRecord(
            key: RecordKey(type: .meterAlias, name: "AA:BB:CC:DD:EE:01"),
            properties: ["meter": Register(value: .string(Sample.meter), stamp: Sample.stamp())])
        let isAsBefore: Write = { batch in
            guard try batch.zone("home") == stored, try batch.lease(key) == nil,
                batch.aliases(in: stored.id) == AliasBook()
            else { throw CloudFailure(.internalError, "it sees what was undone") }
        }

        let isDone = await atOnce([
            (
                nil,
                { batch in
                    var changed = stored
                    changed.floor = 9
                    batch.setZone(changed)
                    batch.setLease(HeldLeasesTests.record(1), key)
                    _ = try batch.follow(alias, in: stored.id, at: .origin)
                    batch.afterCommit { Issue.record("it was undone") }
                    throw CloudFailure(.badRequest, "no")
                }
            ),
            (nil, isAsBefore),
        ])

        #expect(isDone == [false, true])
        #expect(engine.writer.counts.commits == 2, "one for the zone, and a shared one")
        #expect(engine.zoneTable.find("home") == stored)
        #expect(engine.leaseTable.held(in: stored.id).isEmpty)
        #expect(engine.leaseTable.aliases(in: stored.id) == AliasBook())
    }

    @Test func failedCommand_leavesToOthers_whatTheyDoAfterTheCommit() async {
        let done = AsyncStream.makeStream(of: Int.self)

        let isDone = await atOnce([
            (nil, { batch in batch.afterCommit { done.continuation.yield(1) } }),
            (
                nil,
                { batch in
                    batch.afterCommit { Issue.record("it was undone") }
                    throw CloudFailure(.badRequest, "no")
                }
            ),
            (nil, { batch in batch.afterCommit { done.continuation.yield(3) } }),
        ])

        #expect(isDone == [true, false, true])
        #expect(engine.writer.counts.commits == 1, "they shared a transaction")
        done.continuation.finish()
        var order: [Int] = []
        for await number in done.stream { order.append(number) }
        #expect(order == [1, 3])
    }

    /// As a full disk does, which takes the transaction from under its commands.
    @Test func lostTransaction_takesAllItsCommands_andNoneOfThemIsHalfThere() async throws {
        _ = try await engine.createZone("home", terms: .standard)
        _ = try await engine.acquire(Sample.acquire(1))
        let zone = try #require(engine.zoneTable.find("home")).id
        let key = LeaseKey(zone: zone, meter: Sample.meter)

        let isDone = await atOnce([
            (nil, { batch in _ = try batch.lease(key) }),
            (nil, { batch in try batch.db.execute(sql: "ROLLBACK; SELECT no_such_function()") }),
            (nil, { batch in try Meta.probe.write("half", batch.db) }),
        ])

        #expect(isDone == [false, false, true], "the last one has a transaction of its own")
        let renewals = engine.leaseTable.renew(
            [(Sample.meter, FencingToken(rawValue: 1))], session: .numbered(1), in: zone, under: .keep, at: .origin)
        #expect(renewals?.count == 1, "nothing is reserved any more")
    }

    /// Otherwise it could be renewed in memory, and given away on the disk.
    @Test func renewal_waits_whileItsLeaseIsDecided() async throws {
        _ = try await engine.createZone("home", terms: .standard)
        let token = try #require(try await engine.acquire(Sample.acquire(1)).token)
        let (gate, begun) = (DispatchSemaphore(value: 0), AsyncStream.makeStream(of: Void.self))
        let decision = Task.immediate { [engine] in
            try await engine.decideLease(of: Sample.meter, in: "home") { standing in
                begun.continuation.finish()
                gate.wait()
                return LeaseRules.release(token, session: .numbered(1), of: standing)
            }
        }
        for await _ in begun.stream {}
        let renewal = Task.immediate { [engine] in
            try await engine.renewLeases(
                [(Sample.meter, token)], session: .numbered(1), in: "home", under: .keep, at: .origin)
        }
        gate.signal()
        _ = try await decision.value

        guard case .lost(.released, _) = try await renewal.value.first else {
            Issue.record("it was renewed")
            return
        }
    }
}
