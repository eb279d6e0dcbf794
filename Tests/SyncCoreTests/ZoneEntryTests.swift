import Domain
import Testing

/// How a host begins with a zone.
struct ZoneEntryTests {
    private func entry(
        _ zone: SyncZone, after progress: SyncProgress, bringsAll: Bool = false, wentBack: Bool = false,
        ownDays: UInt64? = nil
    ) -> ZoneEntry? {
        ZoneEntry.needed(
            for: zone, after: progress, at: ownDays.map { WallTime(millisecondsSince1970: Int64($0) * 86_400_000) },
            bringsAll: bringsAll, wentBack: wentBack)
    }

    private func progress(
        _ zone: String?, name: String? = "home", epoch: String? = "e1", lastThere: UInt64? = nil
    ) -> SyncProgress {
        var progress = SyncProgress(epoch: epoch, zone: zone, zoneName: name)
        if let lastThere {
            progress.visits["1"] = SyncVisit(identity: "1", name: "home", serverTime: lastThere)
            progress.record = RunHistory(lastSuccess: WallTime(millisecondsSince1970: 0))
        }
        return progress
    }

    /// A cloud that says no more which zone this is does not make it another one, nor does one that begins to say so.
    @Test func identity_stays_whileTheNameDoes() {
        #expect(SyncZone.home().identity(after: "1", name: "home") == "1")
        #expect(SyncZone.home().identity(after: "1", name: "lab") == "zone home")
        #expect(SyncZone.home().identity(after: nil, name: "home") == "zone home")
        #expect(SyncZone.home(id: "2").identity(after: "1", name: "home") == "2")
    }

    @Test func sameZone_goesOn() { #expect(entry(.home(id: "1"), after: progress("1")) == nil) }

    @Test func firstZone_isToldEverything() {
        #expect(entry(.home(id: "1"), after: SyncProgress()) == .everything)
    }

    @Test func newEpoch_isToldEverything() {
        #expect(entry(.home(epoch: "e2", id: "1"), after: progress("1")) == .everything)
    }

    @Test func storeThatWentBack_isToldEverything() {
        #expect(entry(.home(id: "1"), after: progress("1"), wentBack: true) == .everything)
    }

    @Test func anotherZoneOfTheSameStore_isAnother() {
        #expect(entry(.home(id: "2"), after: progress("1", name: "lab")) == .another(bringsAll: false))
        #expect(entry(.home(id: "2"), after: progress("1"), bringsAll: true) == .another(bringsAll: true))
    }

    @Test func progressFromBeforeIdentities_isOfNoKnownZone() {
        #expect(entry(.home(id: "1"), after: progress(nil, name: nil)) == .own)
        #expect(entry(.home(), after: progress(nil, name: nil)) == .own)
    }

    @Test func cloudWithoutIdentities_isKnownByItsNames() {
        #expect(entry(.home(), after: progress("zone home")) == nil)
        #expect(entry(.home(), after: progress("zone lab", name: "lab")) == .another(bringsAll: false))
        #expect(entry(.home(epoch: "e2"), after: progress("zone home")) == .everything)
    }

    @Test func cloudThatGotIdentities_isReadAnew() {
        #expect(entry(.home(id: "1"), after: progress("zone home")) == .own)
    }

    @Test func cloudThatLostItsIdentities_goesOn() { #expect(entry(.home(), after: progress("1")) == nil) }

    @Test(arguments: [(180, false), (181, true)])
    func absenceOfHalfAYear_tellsOnlyWhatWaits(days: UInt64, isLong: Bool) {
        var zone = SyncZone.home(id: "1")
        zone.serverTime = 5000 + days * 86_400_000
        #expect(entry(zone, after: progress("1", lastThere: 5000), ownDays: days) == (isLong ? .afterLong : nil))
        zone.epoch = "e2"
        #expect(
            entry(zone, after: progress("1", lastThere: 5000), ownDays: days) == (isLong ? .afterLong : .everything))
        #expect(
            entry(zone, after: progress("2", name: "lab", lastThere: 5000))
                == (isLong ? .afterLong : .another(bringsAll: false)))
    }

    /// A cloud, or one copy of it, whose calendar was that far behind or is ahead now; or a host with such a calendar.
    @Test func absenceByOneCalendarAlone_isNone() {
        var zone = SyncZone.home(epoch: "e2", id: "1")
        zone.serverTime = 5000 + 400 * 86_400_000
        #expect(entry(zone, after: progress("1", lastThere: 5000), ownDays: 1) == .everything)
        #expect(entry(zone, after: progress("1", lastThere: 5000)) == .everything)
        zone.serverTime = 5000 + 86_400_000
        #expect(entry(zone, after: progress("1", lastThere: 5000), ownDays: 400) == .everything)
    }

    // MARK: In the session

    private func session(_ kind: SyncFailure.Kind) -> SessionBench {
        var bench = SessionBench()
        bench.send(.started)
        bench.answer(.accountChecked(.home(id: "1"), .exact(at: bench.now)))
        bench.send(.streamOpened)
        bench.answer(
            .progressRead(SyncProgress(epoch: "e1", zone: "1", zoneName: "home", tokens: .all("t0"), pending: 0)))
        bench.answer(.corrected)
        bench.answer(.batchRead(nil))
        bench.fail(kind)
        return bench
    }

    @Test func lostTimeline_readsAndTellsEverything() {
        let bench = session(.timelineLost(epoch: "e1", zoneID: "1"))
        #expect(bench.operation == .adopt(.home(id: "1"), .everything))
    }

    @Test func expiryBelowTheFloor_readsAnew_andTellsOnlyWhatWaits() {
        #expect(session(.changeTokenExpired(epoch: "e1", zoneID: "1")).operation == .beginRefetch(.host))
    }

    @Test(arguments: [
        SyncFailure.Kind.anotherZone(epoch: "e1", zoneID: "2"), .timelineLost(epoch: "e1", zoneID: "2"),
        .changeTokenExpired(epoch: "e1", zoneID: "2"),
    ])
    func answerOfAnotherZone_asksWhichItIs(kind: SyncFailure.Kind) {
        var bench = session(kind)
        #expect(bench.operation == .checkAccount)
        bench.answer(.accountChecked(.home(id: "2"), .exact(at: bench.now)))
        #expect(bench.operation == .adopt(.home(id: "2"), .another(bringsAll: false)))
    }

    @Test func pageOfAnotherZone_isNotStored() {
        var bench = session(.limitExceeded)
        var page = ChangesPage.page(.host)
        page.zoneID = "2"
        bench.answer(.pageFetched(page))
        #expect(bench.operation == .checkAccount)
    }

    @Test func cloudThatContradictsItself_isAskedThreeTimesARun() {
        var bench = session(.timelineLost(epoch: "e1", zoneID: "1"))
        for _ in 0..<20 {
            guard let operation = bench.operation else { break }
            if case .fetch(_, .some, _) = operation {
                bench.fail(.timelineLost(epoch: "e1", zoneID: "1"))
            } else if case .readProgress = operation {
                bench.answer(
                    .progressRead(SyncProgress(epoch: "e1", zone: "1", zoneName: "home", tokens: .all("t0"))))
            } else {
                bench.answer(operation.emptyAnswer(at: bench.now))
            }
        }
        #expect(bench.status.mode == .waiting)
        #expect(bench.history.count { if case .adopt = $0 { true } else { false } } == 3)
    }
}
