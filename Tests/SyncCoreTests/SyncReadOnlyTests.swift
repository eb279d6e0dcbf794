import Domain
import Testing

/// The session of a host that may only look (Docs/Relay.md#hosts-that-may-only-look).
struct SyncReadOnlyTests {
    private static let own = RecordKey(type: .host, name: HostID.ours.description)
    private static let all = SyncOperation.readBatch(recordsMax: 400, bytesMax: 1 << 20)
    private static let ownAlone = SyncOperation.readBatch(recordsMax: 400, bytesMax: 1 << 20, of: own)

    private func account(_ role: HostRole) -> CloudAccount {
        var account = CloudAccount.home()
        account.role = role
        return account
    }

    /// Runs until nothing is under way, and returns what was done.
    private func settle(_ bench: inout SessionBench, as role: HostRole) -> [SyncOperation] {
        var done: [SyncOperation] = []
        while let operation = bench.operation, done.count < 100 {
            done.append(operation)
            bench.answer(
                operation == .checkAccount
                    ? .accountChecked(account(role), .exact(at: bench.now)) : operation.emptyAnswer(at: bench.now))
        }
        return done
    }

    @Test func outbox_isReadForTheHostsOwnRecordAlone_andEverythingIsFetched() {
        var bench = SessionBench()
        bench.send(.started)
        bench.answer(.accountChecked(account(.readOnly), .exact(at: bench.now)))
        bench.send(.streamOpened)

        let done = settle(&bench, as: .readOnly)

        #expect(done.contains(Self.ownAlone) && !done.contains(Self.all))
        #expect(done.count { if case .fetch = $0 { true } else { false } } >= RecordType.known.count)
        #expect((bench.machine.status.lastResult?.end, bench.machine.status.role) == (.complete, .readOnly))
        #expect(bench.machine.status.mode == .idle)
    }

    @Test func changesMadeHere_areRepeatedNowhere() {
        var bench = SessionBench()
        bench.send(.started)
        bench.answer(.accountChecked(account(.readOnly), .exact(at: bench.now)))
        bench.send(.streamOpened)
        _ = settle(&bench, as: .readOnly)

        bench.send(.triggered(.localChange))
        let done = settle(&bench, as: .readOnly)

        #expect(done.contains(Self.ownAlone))
        #expect(!done.contains { if case .push = $0 { true } else { false } })
        #expect((bench.machine.status.lastResult?.end, bench.machine.status.nextRetry) == (.complete, nil))
    }

    @Test func everythingIsPushed_onceTheAccountSaysSo() {
        var bench = SessionBench()
        bench.send(.started)
        bench.answer(.accountChecked(account(.full), .exact(at: bench.now)))
        bench.send(.streamOpened)

        let done = settle(&bench, as: .full)

        #expect(done.contains(Self.all) && !done.contains(Self.ownAlone))
        #expect(bench.machine.status.role == .full)
    }

    /// A cloud whose account does not say it: nothing is parked, and nothing is pushed again at once.
    @Test func recordRefusedAsReadOnly_waits_andTheOthersAreTaken() {
        var bench = SessionBench()
        bench.begin(pending: 2)
        let batch = OutboxBatch.records(1...2)
        bench.answer(.batchRead(batch))

        bench.answer(.pushed(.taking(batch, refusing: ["r1": .readOnly]), .exact(at: bench.now)))

        guard case .settle(_, let outcome) = bench.operation else {
            Issue.record("\(String(describing: bench.operation))")
            return
        }
        #expect(outcome.results.map(\.key.name) == ["r2"])
        bench.settleDown()
        #expect(bench.machine.status.lastResult?.end == .complete)
        #expect(bench.machine.status.queue.putOff.keys.map(\.name) == ["r1"])
        #expect(bench.machine.status.counters.parked == 0)
    }

    @Test func callRefusedAsReadOnly_haltsNothing() {
        var bench = SessionBench()
        bench.begin(pending: 1)
        bench.answer(.batchRead(.records(1...1)))

        bench.answer(.cloudFailed(SyncFailure(.readOnly, "only looking")))

        #expect(bench.machine.status.halt == nil)
        #expect(bench.machine.status.nextRetry != nil)
    }
}
