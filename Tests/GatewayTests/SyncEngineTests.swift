import Domain
import Gateway
import Logging
import MeterStore
import MeterTestKit
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SyncEngineTests {
    private let bench = SyncBench()

    // MARK: Runs

    @Test func firstRun_readsAndTellsEverything() async throws {
        bench.cloud.put((0..<1200).map { .setting($0) }, by: .second)
        try await bench.store.write(5000)

        let result = try await bench.running(bench.engine()) { try await $0.next() }

        #expect(result.end == .complete)
        #expect(result.counts[.recording]?.fetched == 1200)
        #expect(result.total.pushed == 1)
        #expect(try await bench.store.records == bench.cloud.records)
        #expect(try await bench.store.records.count == 1201)
        #expect(bench.store.offsets == [.zero])
        #expect(bench.store.cleanUps == 1)
        #expect(bench.loop.pendingTimers == 0)
        #expect(bench.cloud.openStreams == 0)
    }

    @Test func remoteChange_isReadWithoutAsking_andHandedOn() async throws {
        let changed = Mutex<[RecordKey]>([])
        let engine = bench.engine(changed: { merge in changed.withLock { $0 += merge.changed } })

        try await bench.running(engine) { results in
            _ = try await results.next()
            bench.cloud.put([.setting(7)], by: .second)
            let second = try await results.next()
            #expect(second.trigger == .remoteChange)
        }

        #expect(changed.withLock { $0 } == [SyncRecord.setting(7).key])
        #expect(try await bench.store.records == bench.cloud.records)
    }

    /// Its changes wait, and everything else goes its way.
    @Test func hostThatMayOnlyLook_readsOn_keepsItsChanges_andTellsThemWithAnotherToken() async throws {
        let own = RecordKey(type: .host, name: bench.host.description)
        bench.cloud.setRole(.readOnly, of: bench.host)
        for number in 0..<500 { try await bench.store.write(number) }
        let name = SettingChange(key: own, property: "name", value: .string("page"))
        _ = try await bench.store.settings.write(
            [name], at: HostMoment(wall: bench.loop.wallNow, sinceBoot: bench.loop.now))

        let engine = bench.engine()
        try await bench.running(engine) { results in
            let first = try await results.next()
            #expect(first.end == .complete)
            #expect(first.total.pushed == 1 && first.total.parked == 0)
            bench.cloud.put([.setting(1000)], by: .second)
            #expect(try await results.next().counts[.recording]?.fetched == 1)
            try await bench.store.write(7, 2)
            engine.trigger(.localChange)
            let third = try await results.next()
            #expect(third.end == .complete && third.total.pushed == 0)
            let report = await engine.report().status
            #expect(report.role == .readOnly && report.queue.pending == 500 && report.queue.parked == 0)
            #expect(report.failures == 0 && report.halt == nil && report.lastSyncError == nil)
        }
        #expect(bench.cloud.calls.count { $0 == .modify } == 1)
        #expect(Set(bench.cloud.records.keys) == [own, SyncRecord.setting(1000).key])

        bench.cloud.setRole(.full, of: bench.host)
        let result = try await bench.running(bench.engine()) { try await $0.next() }

        #expect(result.end == .complete && result.total.pushed == 500)
        #expect(try await bench.store.records == bench.cloud.records)
    }

    @Test func ownChange_isNotReadAgain() async throws {
        let engine = bench.engine()
        try await bench.running(engine) { results in
            _ = try await results.next()
            try await bench.store.write(1)
            let pages = bench.cloud.calls.count { $0 == .changes }
            engine.trigger(.localChange)
            #expect(try await results.next().trigger == .localChange)
            // Anything that the event for its own change caused would come before this.
            #expect(await engine.synchronise()?.end == .complete)
            #expect(bench.cloud.calls.count { $0 == .changes } == pages + RecordType.known.count)
        }
    }

    @Test func twoHosts_meetInTheCloud() async throws {
        let other = SyncBench(host: .second, loop: bench.loop, cloud: bench.cloud)
        let (first, second) = (bench.engine(), other.engine())
        try await bench.running(first) { mine in
            _ = try await mine.next()
            try await other.running(second) { theirs in
                _ = try await theirs.next()
                try await bench.store.write(1, 10)
                first.trigger(.localChange)
                while try await other.store.records.isEmpty { _ = try await theirs.next() }
                try await other.store.write(1, 20)
                second.trigger(.localChange)
                while try await bench.store.records != other.store.records { _ = try await mine.next() }
            }
        }

        #expect(try await bench.store.records.values.first?.properties["v"]?.value == .int(20))
    }

    @Test func triggersDuringARun_causeOneMore() async throws {
        let engine = bench.engine()
        let isFirst = Mutex(true)
        bench.cloud.onCall { call in
            guard call == .changes,
                isFirst.withLock({ first in
                    defer { first = false }; return first
                })
            else { return }
            for _ in 0..<10 { engine.trigger(.asked) }
        }

        try await bench.running(engine) { results in
            _ = try await results.next()
            _ = try await results.next()
            let report = await engine.report()
            #expect(report.status.mode == .idle)
            #expect(report.status.counters.runs == 2)
        }
    }

    /// A zone that is gone is made anew under the identity that its hosts know it by: the latest of several, and none
    /// that only stands in for one.
    @Test(
        arguments: [
            ([], nil), ([("zone home", "home", 9000)], nil), ([("5ab", "lab", 9000)], nil),
            ([("1ab", "home", 1000), ("2ab", "home", 2000), ("3ab", "home", 500), ("5ab", "lab", 9000)], "2ab"),
        ] as [([(id: String, name: String, time: UInt64)], String?)])
    func zoneThatIsGone_isMadeAsItWasKnown(
        _ visits: [(id: String, name: String, time: UInt64)], _ identity: String?
    ) async throws {
        for visit in visits {
            let zone = SyncZone(id: visit.id, name: visit.name, epoch: "e0", serverTime: visit.time)
            try await bench.store.adopt(zone, .another(bringsAll: false))
        }
        bench.cloud.fail(.account, with: SyncFailure(.zoneNotFound, "gone"))

        let result = try await bench.running(bench.engine()) { try await $0.next() }

        #expect(result.end == .complete)
        #expect(bench.cloud.askedIdentities == [identity])
    }

    @Test func personWhoWaits_hearsOfTheRunsEnd() async throws {
        let engine = bench.engine()
        try await bench.running(engine) { results in
            _ = try await results.next()
            bench.cloud.fail(.changes, with: SyncFailure(.serviceUnavailable, "tired"))
            let failed = await engine.synchronise()
            #expect(failed?.end == .failed(SyncFailure(.serviceUnavailable, "tired")))
            let complete = await engine.synchronise()
            #expect(complete?.end == .complete)
        }
        #expect(await engine.synchronise() == nil, "nobody is there any more")
    }

    // MARK: Failures

    @Test func failuresBeforeTheRestart_count_untilARunSucceeds() async throws {
        for _ in 0..<4 {
            try await bench.store.runEnded(
                isComplete: false, at: WallTime(millisecondsSince1970: 1_795_000_000_000), serverTime: nil)
        }
        bench.cloud.fail(.account, with: SyncFailure(.serviceUnavailable, "tired"))
        let engine = bench.engine()
        #expect(await engine.report().status.failures == 4)
        try await bench.running(engine) { results in
            _ = try await results.next()
            // The store gets the result beside the run.
            try await eventually("the failure is stored") { await engine.report().status.failures == 5 }
            _ = await engine.synchronise()
            #expect(await engine.report().status.failures == 0)
        }
    }

    @Test func rateLimit_isWaitedFor() async throws {
        bench.cloud.fail(.changes, with: SyncFailure(.rateLimited, "slowly", retryAfter: .seconds(40)))
        let engine = bench.engine()
        try await bench.running(engine) { results in
            let failed = try await results.next()
            #expect(failed.end == .failed(SyncFailure(.rateLimited, "slowly", retryAfter: .seconds(40))))
            let report = await engine.report()
            #expect(report.status.mode == .waiting)
            #expect(report.status.nextRetry == .origin + .seconds(40))
            try await bench.passUntilResult(engine, &results)
            #expect(bench.loop.now >= .origin + .seconds(40))
        }
    }

    @Test func weekendOffline_endsWithEverythingThere() async throws {
        bench.cloud.put([.setting(1)], by: .second)
        bench.cloud.setReachable(false)
        bench.network.set(isSatisfied: false)
        let engine = bench.engine()
        try await bench.running(engine) { results in
            _ = try await results.next()
            while bench.loop.now < .origin + .seconds(60 * 3600) {
                let result = try await bench.passUntilResult(engine, &results)
                #expect(result.end != .complete)
            }
            try await bench.store.write(2)
            bench.cloud.setReachable(true)
            bench.network.set(isSatisfied: true)
            var last = try await bench.passUntilResult(engine, &results)
            while last.end != .complete { last = try await bench.passUntilResult(engine, &results) }
        }

        #expect(try await bench.store.records == bench.cloud.records)
        #expect(try await bench.store.records.count == 2)
        #expect(bench.log.entries(saying: "sync run failed").count { $0.level == .warning } == 1, "said once")
    }

    @Test func networkThatIsBack_endsTheWait() async throws {
        bench.cloud.setReachable(false)
        let engine = bench.engine()
        try await bench.running(engine) { results in
            for _ in 0..<12 { _ = try await bench.passUntilResult(engine, &results) }
            bench.cloud.setReachable(true)
            try await bench.setNetwork(isSatisfied: false, seenBy: engine)
            let before = bench.loop.now
            try await bench.setNetwork(isSatisfied: true, seenBy: engine)
            var last = try await bench.passUntilResult(engine, &results)
            while last.end != .complete { last = try await bench.passUntilResult(engine, &results) }
            #expect(bench.loop.now - before <= .seconds(5))
        }
    }

    @Test func haltedSession_waitsForASignal() async throws {
        bench.cloud.fail(.account, with: SyncFailure(.notAuthenticated, "the token was revoked"))
        let engine = bench.engine()
        try await bench.running(engine) { results in
            let halted = try await results.next()
            guard case .halted(let halt) = halted.end else {
                Issue.record("\(halted)")
                return
            }
            #expect(halt.failure.message == "the token was revoked")
            #expect(await engine.report().status.mode == .halted)
            engine.resume()
            let resumed = try await results.next()
            #expect(resumed.end == .complete)
            #expect(resumed.trigger == .resumed)
        }
        #expect(bench.log.entries(saying: "sync halted").count == 1)
    }

    @Test func batchTooLarge_arrivesInPieces_andTheRefusedRecordIsParked() async throws {
        for number in 0..<100 { try await bench.store.write(number) }
        bench.cloud.limitBatches(to: 10)
        bench.cloud.refuse(SyncRecord.setting(42).key, with: SyncFailure(.badRequest, "no such setting"))

        let result = try await bench.running(bench.engine()) { try await $0.next() }

        #expect(result.end == .complete)
        #expect(bench.cloud.records.count == 99)
        #expect(try await bench.store.settings.progress().parked == 1)
        #expect(result.total.pushed == 99)
        #expect(result.total.parked == 1)
        #expect(bench.log.entries(saying: "records quarantined: not synced with the cloud").count == 1)
    }

    @Test func failingStore_isTriedAgain() async throws {
        bench.store.fail(with: StoreError(.diskFull, "no space is left"))
        let engine = bench.engine()
        try await bench.running(engine) { results in
            let failed = try await results.next()
            #expect(failed.end == .failed(SyncFailure(.other, "the local store failed: no space is left")))
            let next = try await bench.passUntilResult(engine, &results)
            #expect(next.end == .complete)
        }
    }

    // MARK: The stream

    @Test func streamEvents_areHandedOn_inOrder() async throws {
        let (heard, report) = AsyncStream.makeStream(of: CloudEvent.self)
        let engine = bench.engine(heard: { report.yield($0) })
        try await bench.running(engine) { results in
            _ = try await results.next()
            let offer = CloudEvent.offer(meter: .um, reserved: .seconds(10))
            bench.cloud.announce(offer)
            bench.cloud.announce(.ping(serverTime: 1))
            var iterator = heard.makeAsyncIterator()
            #expect(await iterator.next() == .opened)
            #expect(await iterator.next() == offer)
            #expect(await iterator.next() == .ping(serverTime: 1))
        }
    }

    /// A cloud that is shut down ends it in good order.
    @Test(arguments: [false, true])
    func brokenStream_isOpenedAgain_andWhatWasMissedIsRead(endsInOrder: Bool) async throws {
        let engine = bench.engine()
        try await bench.running(engine) { results in
            _ = try await results.next()
            if endsInOrder { bench.cloud.endStreams() } else { bench.cloud.breakStreams() }
            // At once, and not by its silence.
            try await eventually("the stream is to be opened again") {
                if case .waiting = await engine.report().status.stream { true } else { false }
            }
            bench.cloud.put([.setting(3)], by: .second)
            let result = try await bench.passUntilResult(engine, &results)
            #expect(result.trigger == .streamOpened)
        }
        #expect(try await bench.store.records == bench.cloud.records)
    }

    // MARK: Stopping

    @Test func stop_givesUpAnExchangeThatHangs() async throws {
        let hanging = hangInChanges()
        let engine = bench.engine()
        async let running: Void = engine.run()
        for await _ in hanging { break }
        await engine.stop(within: .seconds(3))
        try await onlyTheStopIsAwaited()
        for limit in [3, 1] {
            await engine.stop(within: .seconds(limit))
            #expect(bench.loop.pendingTimers == 1, "asked again, it stops no other way")
        }
        bench.loop.advance(by: .seconds(3))
        await running
        await engine.stop()

        #expect(bench.loop.pendingTimers == 0)
        #expect(await engine.report().status.lastResult?.wasCancelled == true)
        #expect(await engine.report().status.lastSyncError == nil)
    }

    /// Five seconds where nobody says how long.
    @Test func stop_leavesAnExchangeItsTime() async throws {
        let hanging = hangInChanges()
        let engine = bench.engine()
        async let running: Void = engine.run()
        for await _ in hanging { break }
        await engine.stop()
        try await onlyTheStopIsAwaited()

        bench.loop.advance(by: .milliseconds(4999))
        #expect(bench.loop.pendingTimers == 1)
        bench.loop.advance(by: .milliseconds(1))
        #expect(bench.loop.pendingTimers == 0)

        bench.loop.advance(by: .seconds(60))
        await running
    }

    /// Half a write would be worse than a late end: only what is asked of the cloud is given up.
    @Test func stop_waitsForTheStore_howeverLongItTakes() async throws {
        let (hanging, hangs) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let wasGivenUp = Mutex(false)
        bench.store.onCall {
            hangs.yield()
            for await _ in gate { break }
            if Task.isCancelled { wasGivenUp.withLock { $0 = true } }
        }
        let engine = bench.engine()
        let events = engine.events.subscribe()
        async let running: Void = engine.run()
        for await _ in hanging { break }
        await engine.stop(within: .seconds(3))
        try await onlyTheStopIsAwaited()
        bench.loop.advance(by: .seconds(3))
        // What is heard after the end of its time.
        engine.cancel()
        for await event in events where event.value.text == SyncInput.cancelRequested.description { break }
        open.finish()
        await running

        #expect(!wasGivenUp.withLock { $0 })
    }

    /// From now on a look at the changes hangs until it is cancelled.
    ///
    /// - Returns: says when one does.
    private func hangInChanges() -> AsyncStream<Void> {
        let (hanging, hangs) = AsyncStream.makeStream(of: Void.self)
        bench.cloud.onCall { call in
            guard call == .changes else { return }
            hangs.yield()
            for await _ in AsyncStream<Never>.makeStream().stream {}
        }
        return hanging
    }

    /// Returns once the session has let go of its stream, whose timer goes with it.
    private func onlyTheStopIsAwaited() async throws {
        try await eventually("no timer but the stop's is set") { bench.loop.pendingTimers == 1 }
    }

    @Test func events_areNumbered_andCanBeRead() async throws {
        let engine = bench.engine()
        let events = engine.events.subscribe()
        try await bench.running(engine) { _ = try await $0.next() }

        var lines: [String] = []
        for await item in events { lines.append("\(item.value.number) \(item.value.text)") }
        #expect(lines.first == "1 started")
        #expect(lines.contains { $0.hasSuffix("account checked: zone home, store e1") })
        #expect(lines.enumerated().allSatisfy { $1.hasPrefix("\($0 + 1) ") })
    }
}
