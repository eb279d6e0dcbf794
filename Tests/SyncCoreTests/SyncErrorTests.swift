import CoreTestKit
import Domain
import Testing

/// The table in Docs/Sync.md#errors.
struct SyncErrorTests {
    private var bench = SessionBench()

    @Test func endlessWordsOfACloud_keepTheirBeginningAndTheirEnd() {
        let message = SyncFailure(.other, "a\(String(repeating: "é", count: 50_000))b").message
        #expect((message.utf8.count <= 2000, message.first, message.last) == (true, "a", "b"))
    }

    // MARK: Halts

    @Test(arguments: [SyncFailure.Kind.notAuthenticated, .permissionDenied, .wrongCertificate])
    mutating func nonRecoverable_haltsWithAdvice_andResumesOnASignal(kind: SyncFailure.Kind) throws {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.fail(kind)
        let halt = try #require(bench.status.halt)
        #expect((halt.advice.isEmpty, bench.results.map(\.end)) == (false, [.halted(halt)]))
        #expect((bench.machine.nextWake, bench.streamsClosed) == (nil, 1))
        bench.send(.triggered(.localChange))
        bench.send(.triggered(.networkGained))
        bench.advance(by: .seconds(100_000))
        #expect(bench.operation == nil)

        bench.send(.resumed)
        #expect(bench.operation == .checkAccount)
        bench.settleDown()
        bench.send(.streamOpened)
        bench.settleDown()
        #expect((bench.results.last?.end, bench.results.last?.trigger) == (.complete, .resumed))
    }

    @Test mutating func personWhoAsks_endsAHalt() {
        bench.begin()
        bench.fail(.notAuthenticated)
        bench.send(.triggered(.asked))
        #expect(bench.operation == .checkAccount)
    }

    @Test mutating func tokenOfAnotherZone_halts() {
        bench.send(.started)
        bench.answer(.accountChecked(.home(zone: "lab"), .exact(at: bench.now)))
        #expect(bench.status.mode == .halted)
        #expect(bench.status.halt?.failure.message == "this host's token is for zone lab, and it joined home")
    }

    @Test mutating func streamThatIsRefused_halts_whenNothingIsUnderWay() {
        bench.beginAndRest()
        bench.send(.streamBroke(SyncFailure(.notAuthenticated, "revoked")))
        #expect(bench.status.mode == .halted)
    }

    @Test mutating func streamThatIsRefused_leavesTheRunItsOperation() {
        bench.begin()
        bench.send(.streamBroke(SyncFailure(.notAuthenticated, "revoked")))
        #expect(bench.status.mode == .modify)
        bench.fail(.notAuthenticated)
        #expect(bench.status.mode == .halted)
    }

    // MARK: Zone

    @Test mutating func missingZone_isMade_andTheWorkGoesOn() {
        bench.send(.started)
        bench.fail(.zoneNotFound)
        #expect(bench.operation == .createZone("home"))
        bench.answer(.zoneCreated)
        #expect(bench.operation == .checkAccount)
        bench.answer(.accountChecked(.home(), .exact(at: bench.now)))
        bench.send(.streamOpened)
        bench.settleDown()

        #expect(bench.results.map(\.end) == [.complete])
    }

    @Test mutating func zoneThatStaysMissing_isMadeThreeTimesARun_thenWaitedFor() {
        bench.send(.started)
        for _ in 1...3 {
            bench.fail(.zoneNotFound)
            bench.answer(.zoneCreated)
        }
        bench.fail(.zoneNotFound)

        #expect((bench.operation, bench.status.mode) == (nil, .waiting))
        #expect(bench.status.lastSyncError?.kind == .zoneNotFound)
        #expect(bench.status.nextRetry == .origin + .milliseconds(500))
    }

    // MARK: Tokens and stores

    @Test mutating func tokenBelowTheFloor_readsTheTypeAnew() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.fail(.changeTokenExpired(epoch: "e1"))
        #expect(bench.operation == .beginRefetch(.host))
        bench.answer(.refetchBegun)
        #expect((bench.operation, bench.status.queue.refetching) == (.fetch(.host, since: nil, limit: 400), [.host]))
        bench.answer(.pageFetched(.page(.host)))
        bench.answer(.applied(MergeOutcome()))

        #expect(bench.status.queue.refetching.isEmpty)
        bench.settleDown()
        #expect(bench.results.map(\.end) == [.complete])
    }

    @Test mutating func tokenThatExpiresForEver_endsTheRun() {
        bench.begin()
        bench.answer(.batchRead(nil))
        for turn in 1...3 {
            bench.fail(.changeTokenExpired(epoch: "e1"))
            bench.answer(.refetchBegun)
            bench.answer(.pageFetched(.page(.host, token: "t\(turn)", moreComing: true)))
            bench.answer(.applied(MergeOutcome()))
        }
        bench.fail(.changeTokenExpired(epoch: "e1"))

        #expect(bench.status.mode == .waiting)
    }

    @Test mutating func expiryWithoutAToken_isAContradiction_andWaits() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.fail(.changeTokenExpired(epoch: "e1"))
        bench.answer(.refetchBegun)
        bench.fail(.changeTokenExpired(epoch: "e1"))
        #expect(bench.status.mode == .waiting)
    }

    @Test mutating func restoredStore_isAdopted_thenEverythingIsToldAndReadAnew() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.answer(.pageFetched(.page(.host)))
        bench.answer(.applied(MergeOutcome()))
        bench.fail(.changeTokenExpired(epoch: "e2"))
        #expect(bench.operation == .adopt(.home(epoch: "e2"), .everything))
        bench.answer(.adopted)
        #expect(bench.operation == .readProgress)
        bench.answer(.progressRead(SyncProgress(epoch: "e2", zone: "zone home", zoneName: "home", pending: 9)))
        #expect(bench.operation?.mode == .modify)
        bench.answer(.batchRead(nil))

        #expect(bench.operation == .fetch(.host, since: nil, limit: 400))
    }

    @Test mutating func firstContact_adoptsTheStore() {
        bench.send(.started)
        bench.answer(.accountChecked(.home(), .exact(at: bench.now)))
        bench.send(.streamOpened)
        bench.answer(.progressRead(SyncProgress()))
        #expect(bench.operation == .adopt(.home(epoch: "e1"), .everything))
    }

    @Test mutating func pageOfAnotherStore_isNotStored() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.answer(.pageFetched(.page(.host, count: 5, epoch: "e2")))
        #expect(bench.operation == .adopt(.home(epoch: "e2"), .everything))
    }

    @Test mutating func storeThatDoesNotTakeTheEpoch_endsTheRun() {
        bench.send(.started)
        bench.answer(.accountChecked(.home(epoch: "e2"), .exact(at: bench.now)))
        bench.send(.streamOpened)
        bench.settleDown()
        #expect(bench.status.mode == .waiting)
        #expect(bench.history.count { if case .adopt = $0 { true } else { false } } == 3)
    }

    @Test mutating func pageThatDoesNotMoveOn_endsTheRun() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.answer(.pageFetched(.page(.host, token: "t0", moreComing: true)))
        #expect(bench.status.mode == .waiting)
    }

    // MARK: Splitting

    @Test mutating func batchTooLarge_isSplitInHalf_inOrder() {
        bench.begin()
        bench.answer(.batchRead(.records(1...5)))
        bench.fail(.limitExceeded)
        #expect(bench.operation == .push(.records(1...2)))
        bench.fail(.limitExceeded)
        #expect((bench.operation, bench.status.queue.parts) == (.push(.records(1...1)), 3))
    }

    @Test(arguments: [SyncFailure.Kind.limitExceeded, .badRequest])
    mutating func oneRecordToBlame_isFoundAndParked_theOthersAreTold(kind: SyncFailure.Kind) {
        for culprit in 1...9 {
            var bench = SessionBench()
            bench.begin()
            bench.answer(.batchRead(.records(1...9)))
            var told: [String] = []
            var parked: [String] = []
            while let operation = bench.operation {
                switch operation {
                case .push(let batch) where batch.records.contains { $0.key.name == "r\(culprit)" }: bench.fail(kind)
                case .push(let batch):
                    told += batch.records.map(\.key.name)
                    bench.answer(operation.emptyAnswer(at: bench.now))
                case .settle(_, let outcome):
                    parked += outcome.results.filter { $0.failure?.kind == kind }.map(\.key.name)
                    bench.answer(operation.emptyAnswer(at: bench.now))
                default: bench.answer(operation.emptyAnswer(at: bench.now))
                }
            }

            #expect(told == (1...9).filter { $0 != culprit }.map { "r\($0)" })
            #expect((parked, bench.results.map(\.end)) == (["r\(culprit)"], [.complete]))
        }
    }

    @Test mutating func partsOfABatch_goOnWhereTheyWere_afterAFailure() {
        bench.begin()
        bench.answer(.batchRead(.records(1...4)))
        bench.fail(.limitExceeded)
        #expect(bench.operation == .push(.records(1...2)))
        bench.fail(.rateLimited, retryAfter: .seconds(10))
        bench.advance(by: .seconds(10))
        var pushed: [OutboxBatch] = []
        while let operation = bench.operation {
            if case .push(let batch) = operation { pushed.append(batch) }
            bench.answer(operation.emptyAnswer(at: bench.now))
        }

        #expect(pushed == [.records(1...2), .records(3...4)])
    }

    @Test mutating func pageTooLarge_isAskedForInHalf() {
        bench.begin()
        bench.answer(.batchRead(nil))
        bench.fail(.limitExceeded)
        #expect(bench.operation == .fetch(.host, since: "t0", limit: 200))
    }

    // MARK: Waiting

    @Test mutating func rateLimit_waitsAsLongAsItSays_whateverAsksMeanwhile() {
        bench.begin()
        bench.fail(.rateLimited, retryAfter: .seconds(77))
        #expect(bench.machine.nextWake == .origin + .seconds(45), "the stream's silence")
        bench.send(.triggered(.localChange))
        bench.send(.triggered(.networkGained))
        bench.send(.remoteChanged(types: [.host], host: .other))
        bench.pass(.seconds(76))
        #expect((bench.operation, bench.status.nextRetry) == (nil, .origin + .seconds(77)))
        bench.pass(.seconds(1))

        #expect(bench.operation == .checkAccount)
    }

    @Test mutating func rateLimit_doesNotBindAPerson() {
        bench.begin()
        bench.fail(.rateLimited, retryAfter: .seconds(77))
        bench.send(.triggered(.asked))
        #expect(bench.operation == .checkAccount)
    }

    @Test mutating func absurdRateLimit_isNoHalt() {
        bench.begin()
        bench.fail(.rateLimited, retryAfter: .seconds(1_000_000_000))
        #expect(bench.status.nextRetry == .origin + .seconds(3600))
    }

    @Test(arguments: [SyncFailure.Kind.serviceUnavailable, .network, .other])
    mutating func failure_isTriedAgainForEver_withWaitsThatDoubleToFiveMinutes(kind: SyncFailure.Kind) throws {
        bench.random = 1000
        bench.begin()
        var waits: [Duration] = []
        for _ in 0..<12 {
            bench.fail(kind)
            let retry = try #require(bench.status.nextRetry)
            waits.append(retry - bench.now)
            bench.advance(by: retry - bench.now)
            #expect(bench.operation == .checkAccount)
        }

        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300].map { .seconds($0) })
        bench.send(.triggered(.networkGained))
        bench.fail(kind)
        #expect(bench.status.failures == 1, "a network that is back begins anew")
    }

    /// From Friday evening to Monday morning, and then at once.
    @Test mutating func weekendOffline_isNormal() {
        bench.begin()
        var attempts = 0
        var rng = SeededRNG(seed: 500)
        while bench.now < .origin + .seconds(60 * 3600) {
            bench.random = rng.next()
            if bench.operation != nil {
                bench.fail(.network)
                attempts += 1
            }
            if case .opening = bench.status.stream { bench.send(.streamBroke(SyncFailure(.network, "no route"))) }
            guard let wake = bench.machine.nextWake else {
                Issue.record("nothing would ever wake it")
                return
            }
            bench.advance(by: wake - bench.now)
        }
        #expect((700...4000).contains(attempts), "\(attempts) attempts")
        bench.settleDown()
        bench.send(.triggered(.networkGained))
        if case .opening = bench.status.stream { bench.send(.streamOpened) }
        bench.settleDown()

        #expect((bench.results.last?.end, bench.status.lastSyncError, bench.status.failures) == (.complete, nil, 0))
    }

    @Test mutating func progress_makesTheNextFailureTheFirst() {
        bench.begin()
        bench.fail(.network)
        bench.advance(by: .seconds(1))
        bench.answer(.accountChecked(.home(), .exact(at: bench.now)))
        bench.answer(.progressRead(SyncProgress(epoch: "e1", zone: "zone home", zoneName: "home", tokens: .all("t0"))))
        bench.answer(.pageFetched(.page(.host)))
        bench.answer(.applied(MergeOutcome()))
        bench.fail(.network)

        #expect(bench.status.failures == 1)
    }

    /// If the cloud accepts no batch, changes are still read, a page in each run.
    @Test mutating func batchThatAlwaysFails_doesNotKeepPagesFromBeingRead() {
        bench.begin()
        var pages = 0
        for _ in 0..<200 where pages < 4 {
            switch bench.operation {
            case .readBatch: bench.answer(.batchRead(.records(1...1)))
            case .push: bench.fail(.serviceUnavailable)
            case let operation?:
                if case .apply = operation { pages += 1 }
                bench.answer(operation.emptyAnswer(at: bench.now))
            case nil: bench.pass(.seconds(1))
            }
        }
        #expect(pages == 4)
    }

    @Test mutating func failingStore_isTriedAgain() {
        bench.begin()
        bench.answer(.storeFailed("disk full"))
        #expect(bench.status.lastSyncError?.message == "the local store failed: disk full")
        #expect(bench.status.mode == .waiting)
        bench.advance(by: .seconds(1))
        #expect(bench.operation == .checkAccount)
    }
}
